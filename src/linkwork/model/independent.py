"""Closed mechanisms in independent coordinates, and the forces of a chosen set of drives.

With N the free motions (J N = 0) and E the velocities of the chosen joints, y = E v,

    v = B y,  B = N (E N)^-1,     a = B dy/dt + c,  J c = right, E c + dE/dt v = 0
    B^T tau = (B^T M B) dy/dt + B^T (M c + h)

and drives f of joints E give the acceleration a, whatever the loops bear, if  N^T E^T f = N^T (M a + h).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwork.dynamics import loop_closure
from linkwork.dynamics.null_space import RANK, pivots
from linkwork.errors import AssemblyError, LinkworkError
from linkwork.model.arrays import Array, delivered, together
from linkwork.model.freedoms import Freedoms

_OPEN = 1e-6  # of what is given, beside what it is made of: more is no rounding
_NEGLIGIBLE = 1e-9  # of the largest: what drives can do to a motion they do not move


class IndependentCoordinates(Freedoms):
    """A model that can be seen from a few of its joints."""

    # choosing

    def independent_joints(self, q: Array | None = None) -> tuple[str, ...]:
        """Return joints whose velocities tell all others, as many as there are freedoms at q (as drawn).

        Chosen so that all others follow from them as gently as possible; of positions (N, nq), in the worst
        of them. Joints on ground, and those with motors, are preferred to others up to twice as good. Of a
        joint with several freedoms there may be a part: "ball[2]" is its third velocity.
        """
        where = self.assemble() if q is None else self._position("independent_joints", q)
        motions = self._motions_at(where)
        return tuple(self.coordinate_names[k] for k in sorted(pivots(motions, self._preference)))

    def velocity_map(
        self, q: Array, independent: Iterable[str] | None = None, *, out: Array | None = None
    ) -> Array:
        """Return B (nv, freedoms): all velocities v = B y keep the loops closed and give `independent` y.

        Joints are named as in `independent_joints`, which chooses them unless they are given; they may be
        such that close loops. The order of y is that of the names.
        """
        where = self._position("velocity_map", q)
        names = self.independent_joints(where) if independent is None else independent
        return delivered("velocity_map", self._map(where, names)[0], out)

    def velocity_map_rate(
        self, q: Array, v: Array, independent: Iterable[str] | None = None, *, out: Array | None = None
    ) -> Array:
        """Return c (nv,) = dB/dt y: how all joints accelerate while the velocities y of some are constant.

        The loops stay closed under a = B dy/dt + c; v is that of the whole mechanism, v = B y.
        """
        (where, speed), _ = together(("q", q, (self.nq,)), ("v", v, (self.nv,)))
        where = self._position("velocity_map_rate", where)
        names = self.independent_joints(where) if independent is None else independent
        return delivered("velocity_map_rate", self._map_and_rate(where, speed, names)[1], out)

    def _position(self, what: str, q: Any) -> Array:
        self.constraint_residual(q)  # checks q, and names the joint that is not finite
        array = np.asarray(q, float)
        if array.ndim > 2:
            raise ValueError(f"{what}: q has shape {array.shape}; give ({self.nq},) or (N, {self.nq})")
        return array

    def _motions_at(self, q: Array) -> Array:
        """Return the free motions without units, (..., nv, freedoms); of many positions they are as many."""
        parts = self._split(q)
        ranks = np.unique(parts.rank)
        if len(ranks) > 1:
            few, many = self.nv - int(ranks[-1]), self.nv - int(ranks[0])
            k = int(np.argmin(parts.rank))
            raise LinkworkError(
                f"mechanism {self.name!r} has {few} freedoms in some of these positions and {many} in others "
                f"(number {k}, for one); leave out the singular ones: model.diagnose(q) tells"
            )
        return parts.motions(int(ranks[0]) if len(ranks) else 0)

    def _map(self, q: Array, names: Iterable[str]) -> tuple[Array, Array, list[int]]:
        """Return B, the free motions without units, and the numbers of the independent coordinates."""
        names = [names] if isinstance(names, str) else list(names)
        chosen = self._chosen("independent", names)
        N = self._motions_at(q)
        said = ", ".join(map(repr, names)) or "no joint"
        if len(chosen) != N.shape[-1]:
            raise LinkworkError(
                f"independent: {said}: {_count(len(chosen), 'velocity', 'velocities')}, and mechanism "
                f"{self.name!r} has {_count(N.shape[-1], 'freedom', 'freedoms')} at q; {self._suggestion(N)}"
            )
        E = self._every_velocity(q)[..., chosen, :] * self._coordinate_scale
        own = self._every_scale[chosen]
        EN = E @ N / own[:, None]
        sizes = np.linalg.svd(EN, compute_uv=False)
        if (sizes < RANK).any():
            raise LinkworkError(
                f"independent: {said}: at a dead point{_where(sizes.min(axis=-1) < RANK)}, others can move "
                f"while they stand still; {self._suggestion(N)}"
            )
        B = self._coordinate_scale[:, None] * (N @ np.linalg.inv(EN)) / own
        return B, N, chosen

    def _map_and_rate(self, q: Array, v: Array, names: Iterable[str]) -> tuple[Array, Array]:
        B, N, chosen = self._map(q, names)
        if not self._links.loops:
            return B, np.zeros(v.shape)
        parts = self._split(q)
        right = self._kernel(loop_closure.BIAS)(q, v)[0] * self._equation_weights
        c = self._coordinate_scale * parts.least(self.nv - N.shape[-1], right)
        still = np.zeros(v.shape)
        drift = np.concatenate([still, self.loop_accelerations(q, v, still)], axis=-1)
        gained = self._every_velocity(q)[..., chosen, :] @ c[..., None] + drift[..., chosen, None]
        return B, c - (B @ gained)[..., 0]

    def _suggestion(self, N: Array) -> str:
        chosen = ", ".join(repr(self.coordinate_names[k]) for k in sorted(pivots(N, self._preference)))
        return f"choose {chosen}" if chosen else "nothing can move"

    # equations of motion in independent coordinates

    def _independent_mass_matrix(self, q: Array, independent: Iterable[str], out: Array | None) -> Array:
        B = self.velocity_map(q, independent)
        M = np.swapaxes(B, -1, -2) @ self.mass_matrix(q) @ B
        return delivered("mass_matrix", 0.5 * (M + np.swapaxes(M, -1, -2)), out)

    def bias_forces(
        self, q: Array, v: Array, *, independent: Iterable[str] | None = None, out: Array | None = None
    ) -> Array:
        """Return the joint forces (nv,) at zero acceleration: gravity, Coriolis and centrifugal terms.

        With `independent` joints, those in these alone that keep their velocities constant; v is always that
        of the whole mechanism, see `velocity_map`.
        """
        if independent is None:
            return super().bias_forces(q, v, out=out)
        (where, speed), _ = together(("q", q, (self.nq,)), ("v", v, (self.nv,)))
        B, c = self._map_and_rate(self._position("bias_forces", where), speed, independent)
        tau = self.inverse_dynamics(where, speed, c)
        return delivered("bias_forces", (np.swapaxes(B, -1, -2) @ tau[..., None])[..., 0], out)

    def gravity_forces(
        self, q: Array, *, independent: Iterable[str] | None = None, out: Array | None = None
    ) -> Array:
        """Return the joint forces (nv,) that hold the mechanism at rest; or those in `independent` joints."""
        if independent is None:
            return super().gravity_forces(q, out=out)
        B = self.velocity_map(q, independent)
        tau = super().gravity_forces(q)
        return delivered("gravity_forces", (np.swapaxes(B, -1, -2) @ tau[..., None])[..., 0], out)

    # drives

    def _drive_forces(
        self, q: Array, v: Array, a: Array, driven: Iterable[str], forces: Any, out: Array | None
    ) -> Array:
        arguments = ("q", q, (self.nq,)), ("v", v, (self.nv,)), ("a", a, (self.nv,))
        (where, speed, gain), _ = together(*arguments)
        needed = self.inverse_dynamics(where, speed, gain, forces=forces)
        found = self._drives(where, speed, gain, needed, driven)
        return delivered("inverse_dynamics", found, out)

    def generalized_forces(
        self, q: Array, drives: Array, driven: Iterable[str], *, out: Array | None = None
    ) -> Array:
        """Return the joint forces (nv,) that do the work of drives in these joints, for `forward_dynamics`.

        The joints may be such that close loops. It takes what `inverse_dynamics` with `driven` gives.
        """
        chosen = self._chosen("driven", driven)
        (where, f), _ = together(("q", q, (self.nq,)), ("drives", drives, (len(chosen),)))
        if f.shape[-1:] != (len(chosen),):
            raise ValueError(f"drives has shape {f.shape}; give {len(chosen)} numbers")
        E = self._every_velocity(self._position("generalized_forces", where))[..., chosen, :]
        tau = (np.swapaxes(E, -1, -2) @ f[..., None])[..., 0]
        return delivered("generalized_forces", tau, out)

    def _drives(self, q: Array, v: Array, a: Array, needed: Array, driven: Iterable[str]) -> Array:
        names = [driven] if isinstance(driven, str) else list(driven)
        chosen = self._chosen("driven", names)
        self._check_closed(q, v, a)
        N = self._motions_at(q) * self._coordinate_scale[:, None]
        NT = np.swapaxes(N, -1, -2)
        A = NT @ np.swapaxes(self._every_velocity(q)[..., chosen, :], -1, -2)
        work = NT @ needed[..., None]
        f = (
            np.linalg.pinv(A, rcond=_NEGLIGIBLE) @ work
            if A.size
            else np.zeros((*A.shape[:-2], len(chosen), 1))
        )
        lacking = (work - A @ f)[..., 0]
        beside = np.abs(needed * self._coordinate_scale).max(axis=-1, initial=0.0)
        bad = np.abs(lacking).max(axis=-1, initial=0.0) > _OPEN * beside
        if bad.any():
            k = int(np.argmax(bad)) if bad.ndim else None
            way, short = (N, lacking) if k is None else (N[k], lacking[k])
            motion = self._told((way @ short) / np.linalg.norm(short))
            said = ", ".join(map(repr, names)) or "no joint"
            raise LinkworkError(
                f"drives of {said} cannot produce this acceleration{_where(bad)}: they do not move {motion}; "
                "drive more joints, or others (at a dead point a joint drives nothing)"
            )
        return f[..., 0]

    def _check_closed(self, q: Array, v: Array, a: Array) -> None:
        """Refuse velocities and accelerations that open the loops."""
        if not self._links.loops:
            return
        J, weights, scale = self.constraint_jacobian(q), self._equation_weights, self._coordinate_scale
        bound = np.abs(J * scale) * weights[:, None]
        right = self._kernel(loop_closure.BIAS)(q, v)[0]
        gaps = self.constraint_residual(q)
        for what, unit, opening, size, remedy in (
            ("position", "", gaps, np.ones(gaps.shape), "close it by model.assemble(q)"),
            (
                "velocity",
                "/s",
                (J @ v[..., None])[..., 0],
                (bound @ np.abs(v / scale)[..., None])[..., 0],
                "take model.closed_velocity(q, v)",
            ),
            (
                "acceleration",
                "/s^2",
                (J @ a[..., None])[..., 0] - right,
                (bound @ np.abs(a / scale)[..., None])[..., 0] + np.abs(right * weights),
                "take model.velocity_map(q) @ dy + model.velocity_map_rate(q, v)",
            ),
        ):
            bad = np.abs(opening * weights) > _OPEN * size + 1e-12
            if bad.any():
                row = int(np.argmax(bad.reshape(-1, bad.shape[-1]).any(axis=0)))
                name = next(name for name, part in self.row_slices.items() if part.start <= row < part.stop)
                worst = float(np.abs(opening[..., self.row_slices[name]]).max())
                raise AssemblyError(
                    f"the {what} given opens joint {name!r}{_where(bad.any(axis=-1))} by {worst:.3g} "
                    f"(m or rad){unit}; {remedy}"
                )

    def _told(self, motion: Array) -> str:
        """Say a motion by its largest velocities."""
        scaled = np.abs(motion / self._coordinate_scale)
        order = [int(k) for k in np.argsort(-np.round(scaled, 9), kind="stable")[:4] if scaled[k] > RANK]
        return ", ".join(f"{self.coordinate_names[k]!r} ({motion[k]:.3g})" for k in order)


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _where(bad: Any) -> str:
    """Say which state of a batch is meant."""
    return f" (state {int(np.argmax(bad))})" if np.ndim(bad) else ""
