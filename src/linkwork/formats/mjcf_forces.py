"""What acts between the bodies of a model of MuJoCo: equalities, tendons, actuators, a medium.

An actuator's force is gain u + b0 + b1 length + b2 velocity, with what it is transmitted by: a joint or a
fixed tendon times its gear (MuJoCo, Computation, Actuation model). Control and force stay in their ranges.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.algebra.number import max as maximum
from linkwork.algebra.number import min as minimum
from linkwork.algebra.spatial import Frame
from linkwork.formats.mjcf_bodies import Bodies, MjcfNames, rotation
from linkwork.formats.mjcf_drag import Drag
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Fixed, Spherical
from linkwork.mechanism.loads import Feedback, Motor, Wrench
from linkwork.mechanism.springs import Spring

_MOVES = 1e-15  # kg: what weighs less does not, for MuJoCo (mjMINVAL)

Number = Any


class Forces:
    """Equalities, tendons and actuators as they become elements of a mechanism."""

    def __init__(self, parts: Bodies, names: MjcfNames, left_out: list[str]) -> None:
        self.parts, self.names, self.left_out = parts, names, left_out
        self.model, self.mechanism = parts.model, parts.mechanism
        for e in range(self.model.neq):
            self._equality(e)
        for t in range(self.model.ntendon):
            self._tendon(t)
        for a in range(self.model.nu):
            self._actuator(a)
        if self.model.density > 0.0 or self.model.viscosity > 0.0:
            self._medium()

    # equalities

    def _equality(self, e: int) -> None:
        model, kind = self.model, self.model.eq_type[e]
        name = self.names.take("eq", e, f"equality{e}")
        data, one, other = model.eq_data[e], int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
        if not model.eq_active0[e]:
            self.left_out.append(f"equality {name!r}, which is not active")
        elif kind == "mjEQ_JOINT" and other >= 0 and not data[2:5].any():
            y0, x0 = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (one, other))
            follower, leader = self.parts.joints[one].name, self.parts.joints[other].name
            offset = y0 + float(data[0]) - float(data[1]) * x0
            self.mechanism.add(Coupling(name, follower, leader, float(data[1]), offset))
        elif kind in ("mjEQ_CONNECT", "mjEQ_WELD"):
            self._closure(name, kind, data, one, other, model.eq_objtype[e])
        else:
            word = kind.removeprefix("mjEQ_").lower()
            self.left_out.append(f"equality {name!r} of {word}")

    def _closure(self, name: str, kind: str, data: Any, one: int, other: int, objects: str) -> None:
        model, bodies = self.model, self.parts.bodies
        if objects == "mjOBJ_SITE":
            frames = [
                Frame(model.site_pos[s].tolist(), rotation(model.site_quat[s]).tolist()) for s in (one, other)
            ]
            ends = [bodies[model.site_bodyid[s]] for s in (one, other)]
        else:
            ends = [bodies[one], bodies[max(other, 0)]]
            if kind == "mjEQ_CONNECT":
                frames = [Frame(data[:3].tolist()), Frame(data[3:6].tolist())]
            else:  # the anchor is on the second body; the pose is that of the second in the first
                pose = Frame(data[3:6].tolist(), rotation(data[6:10]).tolist())
                frames = [pose @ Frame(data[:3].tolist()), Frame(data[:3].tolist())]
        joint = Spherical if kind == "mjEQ_CONNECT" else Fixed
        self.mechanism.add(joint(name, *ends, on_parent=frames[0], on_child=frames[1]))

    # tendons

    def _wraps(self, t: int) -> list[tuple[str, int, float]]:
        model, first = self.model, int(self.model.tendon_adr[t])
        return [
            (model.wrap_type[k], int(model.wrap_objid[k]), float(model.wrap_prm[k]))
            for k in range(first, first + int(model.tendon_num[t]))
        ]

    def levers(self, t: int) -> list[tuple[Joint, float]] | None:
        """Return the joints of a fixed tendon, and how its length grows with each; None: it is spatial."""
        wraps = self._wraps(t)
        if any(kind != "mjWRAP_JOINT" for kind, _, _ in wraps):
            return None
        return [(self.parts.joints[joint], lever) for _, joint, lever in wraps]

    def _tendon(self, t: int) -> None:
        model = self.model
        name = self.names.take("tendon", t, f"tendon{t}")
        stiffness, damping = float(model.tendon_stiffness[t]), float(model.tendon_damping[t])
        low, high = model.tendon_lengthspring[t].tolist()
        for word, there in (
            ("range", bool(model.tendon_limited[t])),
            ("frictionloss", float(model.tendon_frictionloss[t]) > 0.0),
            ("armature", float(model.tendon_armature[t]) > 0.0),
            ("higher terms", bool(model.tendon_stiffnesspoly[t].any() or model.tendon_dampingpoly[t].any())),
        ):
            if there:
                self.left_out.append(f"{word} of tendon {name!r}")
        if not stiffness and not damping:
            return

        def tension(length: Number, rate: Number) -> Number:
            return stiffness * (length - minimum(maximum(length, low), high)) + damping * rate

        levers = self.levers(t)
        if levers is not None:
            words = [(joint.name, lever) for joint, lever in levers]

            def law(t: Number, q: Any, v: Any) -> list[Number]:
                length = sum(lever * q[joint] for joint, lever in words)
                rate = sum(lever * v[joint] for joint, lever in words)
                return [-lever * tension(length, rate) for _, lever in words]

            self.mechanism.add(Feedback(name, [joint for joint, _ in levers], law))
            return
        wraps = self._wraps(t)
        if len(wraps) != 2 or any(kind != "mjWRAP_SITE" for kind, _, _ in wraps):
            self.left_out.append(f"tendon {name!r} over more than two sites")
            return
        sites = [site for _, site, _ in wraps]
        ends = [self.parts.bodies[model.site_bodyid[s]] for s in sites]
        places = {word: model.site_pos[s].tolist() for word, s in zip(("on_parent", "on_child"), sites)}
        law_of: Any = stiffness
        if low != high:  # slack between the two
            law_of = lambda extension: stiffness * (extension - minimum(maximum(extension, 0.0), high - low))  # noqa: E731
        self.mechanism.add(Spring(name, *ends, stiffness=law_of, damping=damping, rest=low, **places))

    # actuators

    def _actuator(self, a: int) -> None:
        model = self.model
        name = self.names.take("actuator", a, f"actuator{a}")
        plain = (
            model.actuator_dyntype[a] == "mjDYN_NONE"
            and model.actuator_gaintype[a] == "mjGAIN_FIXED"
            and model.actuator_biastype[a] in ("mjBIAS_NONE", "mjBIAS_AFFINE")
        )
        if model.actuator_armature[a] or model.actuator_damping[a]:
            self.left_out.append(f"armature or damping of actuator {name!r}")
        levers = self._transmission(a)
        if not plain or levers is None:
            self.left_out.append(f"actuator {name!r} (dynamics or transmission)")
            return
        control = Input(self.names.own("actuator", a, name))  # inputs and elements may have the same names
        law = self._force(a, control)
        if len(levers) == 1:
            ((joint, lever),) = levers
            push: Callable[..., Number] = lambda t, q, v: lever * law(lever * q, lever * v)  # noqa: E731
            if lever == 1.0 and self._is_pure(a):
                self.mechanism.add(Motor(name, joint, control))
            else:
                self.mechanism.add(Motor(name, joint, push))
            return
        words = [(joint.name, lever) for joint, lever in levers]

        def together(t: Number, q: Any, v: Any) -> list[Number]:
            length = sum(lever * q[joint] for joint, lever in words)
            rate = sum(lever * v[joint] for joint, lever in words)
            force = law(length, rate)
            return [lever * force for _, lever in words]

        self.mechanism.add(Feedback(name, [joint for joint, _ in levers], together))

    def _is_pure(self, a: int) -> bool:
        model = self.model
        limited = model.actuator_ctrllimited[a] or model.actuator_forcelimited[a]
        affine = model.actuator_biastype[a] == "mjBIAS_AFFINE"
        return not limited and not affine and float(model.actuator_gainprm[a, 0]) == 1.0

    def _transmission(self, a: int) -> list[tuple[Joint, float]] | None:
        model, kind = self.model, self.model.actuator_trntype[a]
        gear, thing = model.actuator_gear[a], int(model.actuator_trnid[a, 0])
        if kind in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT"):
            joint = self.parts.joints[thing]
            return [(joint, float(gear[0]))] if joint.nv == 1 else None
        if kind == "mjTRN_TENDON" and (levers := self.levers(thing)) is not None:
            return [(joint, float(gear[0]) * lever) for joint, lever in levers]
        return None

    def _force(self, a: int, control: Input) -> Callable[[Number, Number], Number]:
        """Return the force of an actuator as a function of its length and velocity."""
        model = self.model
        gain, bias = float(model.actuator_gainprm[a, 0]), [0.0, 0.0, 0.0]
        if model.actuator_biastype[a] == "mjBIAS_AFFINE":
            bias = model.actuator_biasprm[a, :3].tolist()
        u_range = model.actuator_ctrlrange[a].tolist() if model.actuator_ctrllimited[a] else None
        f_range = model.actuator_forcerange[a].tolist() if model.actuator_forcelimited[a] else None

        def force(length: Number, rate: Number) -> Number:
            u = (
                minimum(maximum(control.as_number(), u_range[0]), u_range[1])
                if u_range
                else control.as_number()
            )
            f = gain * u + bias[0] + bias[1] * length + bias[2] * rate
            return minimum(maximum(f, f_range[0]), f_range[1]) if f_range else f

        return force

    # a medium

    def _medium(self) -> None:
        """Let bodies be slowed down as boxes of the same inertia (MuJoCo, Computation, Passive forces)."""
        model, wind = self.model, self.model.wind.tolist()
        density, viscosity = float(model.density), float(model.viscosity)
        if model.geom_fluid.any() or any(wind):
            self.left_out.append("wind, and fluidshape of geoms")
        for b in range(1, model.nbody):
            mass, moments = float(model.body_mass[b]), model.body_inertia[b]
            if mass < _MOVES:
                continue
            squares = (moments.sum() - 2.0 * moments) * 6.0 / mass
            box = np.sqrt(np.maximum(squares, _MOVES)).tolist()
            axes, centre = rotation(model.body_iquat[b]).tolist(), model.body_ipos[b].tolist()
            law = Drag(box, density, viscosity, axes, centre)
            body = self.parts.bodies[b]
            name = self.names.free(f"{body.name}_medium")
            self.mechanism.add(Wrench(name, body, law, at=model.body_ipos[b].tolist(), frame="body"))
