"""The user's class, and how one is made of a mechanism."""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.dynamics.kernel import real_array
from linkwork.dynamics.native_program import Form
from linkwork.errors import unknown
from linkwork.mechanism.check import check
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.names import kind_name
from linkwork.mechanism.notebook import page, table
from linkwork.model.arrays import Array
from linkwork.model.diagnosis import Diagnosed
from linkwork.model.state import State
from linkwork.tree.loops import check_loops, close
from linkwork.tree.topology import topology
from linkwork.tree.tree import grow
from linkwork.viewable import Viewable


class Model(Viewable, Diagnosed):
    """What the machine needs of a mechanism: immutable, shared freely between threads.

    Arrays of one state have shape (nq,) or (nv,); with a leading axis of N they are batches, computed in SIMD
    lanes. The methods that return arrays take `out=`; none writes its inputs; a wrong shape or a NaN raises
    ValueError naming the argument and the joint. Forces on bodies are given by `forces=`: a mapping from body
    names to Force, or to arrays of the same numbers (torque first), in the body's frame, about its origin.
    """

    def __repr__(self) -> str:
        form = "" if self._form == "rolled" else ", specialized"
        count = len(self.loop_names)
        form = (f", {count} loop{'s' if count > 1 else ''}" if count else "") + form
        return f"Model({self.name!r}, {len(self.body_names)} bodies, nq={self.nq}, nv={self.nv}{form})"

    def _repr_html_(self) -> str:
        """Show the model in a notebook: its numbers, and its joints in the order of the coordinates."""
        loops = (
            f"{len(self.loop_names)}, closed by {', '.join(self.loop_names)}" if self.loop_names else "none"
        )
        numbers = [
            ("space", self.space),
            ("bodies", str(len(self.body_names))),
            ("positions nq", str(self.nq)),
            ("velocities nv", str(self.nv)),
            ("loops", loops),
            ("loads", ", ".join(self.load_names) or "none"),
        ]
        rows = [
            (name, kind_name(self.joints[name]), body, _range(q), _range(v))
            for (name, (q, v)), body in zip(self.slices.items(), self.body_names, strict=True)
        ]
        tables = [table((), numbers), table(("joint", "", "carries", "in q", "in v"), rows)]
        return page(f"Model {self.name}", tables)

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return compile_mechanism, (self._mechanism, self._form, self.loop_names)

    def specialize(self) -> "Model":
        """Return the same model with code for this mechanism alone: slower to compile, faster in batches."""
        return replace(self, _form="specialized")

    def state(
        self,
        positions: Mapping[str, Any] | None = None,
        /,
        *,
        velocities: Mapping[str, Any] | None = None,
        t: float = 0.0,
        **named: Any,
    ) -> State:
        """Return a state by joint names: positions, and velocities in a mapping; the rest as drawn, still.

        Positions are given by keyword, or, for joints whose names are no Python words, in a mapping. With
        closed loops what is named is kept, and all else follows from it.
        """
        q, v = self.q_drawn.copy(), np.zeros(self.nv)
        for array, side, values in ((q, 0, {**(positions or {}), **named}), (v, 1, dict(velocities or {}))):
            for name, value in values.items():
                if name in self.row_slices:
                    raise ValueError(
                        f"state: joint {name!r} closes a loop, and follows from the others; give those, and "
                        "let model.assemble(q) close the loops"
                    )
                if name not in self.slices:
                    raise ValueError(f"state: {unknown('joint', name, self.slices)}")
                part = array[self.slices[name][side]]
                given = real_array(f"state: joint {name!r}", value)
                if given.size != part.size or given.ndim > 1 or not np.isfinite(given).all():
                    raise ValueError(f"state: joint {name!r} is {value!r}; give {part.size} finite numbers")
                part[:] = given
        if positions or named or velocities:
            q = self.assemble(q, hold={**(positions or {}), **named}, t=t)
            v = self.closed_velocity(q, v, hold=velocities or (), t=t)
        return State(q, v, float(t))


def compile_mechanism(mechanism: Mechanism, form: Form = "rolled", cut: Iterable[str] = ()) -> "Model":
    """Check a mechanism and turn a copy of it into a Model: later changes are not seen."""
    check(mechanism)
    mechanism = copy.deepcopy(mechanism)
    graph = topology(mechanism, cut)
    check_loops(graph.loops)
    links = grow(mechanism, graph.branches, weld=True)
    joints = [branch.joint for branch in graph.branches]
    links = close(links, graph.loops, [float(x) for joint in joints for x in joint.drawn()])
    numbers = {branch.body.name: number for number, branch in enumerate(graph.branches)} | {"ground": -1}

    def each(values: Callable[[Joint], Any]) -> Array:
        return _frozen([x for joint in joints for x in values(joint)])

    return Model(
        name=mechanism.name,
        space=mechanism.space,
        gravity=_frozen(mechanism.gravity),
        nq=links.nq,
        nv=links.nv,
        body_names=tuple(branch.body.name for branch in graph.branches),
        joint_names=tuple(joint.name for joint in joints),
        parents=_frozen([numbers[branch.parent.name] for branch in graph.branches], int),
        masses=_frozen([branch.body.inertia.mass for branch in graph.branches]),
        centers=_frozen([branch.body.inertia.com for branch in graph.branches]),
        inertias=_frozen([branch.body.inertia.tensor for branch in graph.branches]),
        slices=MappingProxyType(_slices(joints)),
        q_drawn=each(lambda joint: joint.drawn()),
        limits=each(lambda joint: joint.limit_pairs()).reshape(-1, 2),
        damping=each(lambda joint: joint.per_coordinate("damping")),
        friction=each(lambda joint: joint.per_coordinate("friction")),
        stiffness=each(lambda joint: joint.per_coordinate("stiffness")),
        rest=each(lambda joint: joint.per_coordinate("rest")),
        armature=each(lambda joint: joint.per_coordinate("armature")),
        quaternions=_frozen(_quaternions(joints), int),
        couplings=MappingProxyType(dict(mechanism.couplings)),
        _mechanism=mechanism,
        _graph=graph,
        _links=links,
        _form=form,
    )


def _range(part: slice) -> str:
    if part.stop - part.start <= 1:
        return str(part.start) if part.stop > part.start else "-"
    return f"{part.start} to {part.stop - 1}"


def _slices(joints: Sequence[Joint]) -> dict[str, tuple[slice, slice]]:
    """Return where the coordinates of each joint are, in the order of the joints."""
    q = list(accumulate((joint.nq for joint in joints), initial=0))
    v = list(accumulate((joint.nv for joint in joints), initial=0))
    return {joint.name: (slice(*q[k : k + 2]), slice(*v[k : k + 2])) for k, joint in enumerate(joints)}


def _quaternions(joints: Sequence[Joint]) -> list[int]:
    starts = _slices(joints)
    return [starts[j.name][0].start + j.quaternion for j in joints if j.quaternion is not None]


def _frozen(values: Any, kind: type = float) -> Array:
    array = np.array(values, kind)
    array.setflags(write=False)
    return array
