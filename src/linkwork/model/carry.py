"""A model grown from another, and a state carried over: names are identities.

Coordinates of a joint say where its two bodies are relative to each other. So a joint that is in both models
keeps its position and velocity, whether or not the spanning tree is cut elsewhere now, and every body stays
where it is and moves as it did. What is new is found from the bodies it connects:

* bodies that no joint connects to ground any more get a Free joint, at the pose and velocity that they had:
  momenta are kept;
* new bodies are where they are drawn, relative to what they hang on, and at rest relative to it;
* a new joint between bodies that were there takes the position nearest to theirs, and its impulse changes
  the velocities of all: to the nearest, in the sense of kinetic energy, that it allows (`impulse`);
* what closes loops and is new, or is open now, is closed in the same sense: `assemble`, `closed_velocity`.

Contacts of bodies that stay are remembered: `carried_contacts`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from linkwork.dynamics import impulse, velocities
from linkwork.dynamics.inertia_check import NOT_TINY
from linkwork.errors import AssemblyError, NumericalError
from linkwork.lazy import kept
from linkwork.lazy_mapping import Later
from linkwork.mechanism.load_view import BodySide
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.carried_contacts import carried_contacts
from linkwork.model.compile import compile_now
from linkwork.model.following import following
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.model.trees import with_forces
from linkwork.spelling import checked_keywords, require
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.joint_kinematics import JointKinematics
from linkwork.tree.topology import TreeBody

Array = np.ndarray

_OPEN = 1e-9  # of loops, in radians and in units of the mechanism's size: more is to be closed


@checked_keywords
def carry(
    model: Model, state: State, mechanism: Mechanism, *, cut: Iterable[str] = ()
) -> tuple[Model, State]:
    """Return the model of a mechanism that was edited, and the state that goes on from one of the old model.

    The model is that of `mechanism.compile(floating=True)`, bit for bit, but only what has changed is made.
    Joints and bodies are identified by their names: they keep positions and velocities. Bodies that no joint
    connects to ground any more float on, new ones are as drawn and at rest relative to what they hang on, and
    new joints close with the impulse it takes; AssemblyError if they cannot. Steps with contact go on with
    what contacts of bodies that stay remember.

    >>> import linkwork as lw
    >>> m = lw.examples.cart_pole()
    >>> model = m.compile()
    >>> m["pole"].inertia = m["pole"].inertia + m["pole"].inertia
    >>> model, state = lw.carry(model, model.state(pin=0.1), m)
    >>> state.q.round(3)
    array([0. , 0.1])
    """
    require("carry: model", model, Model, "a Model")
    require("carry: state", state, State, "a State of it, as model.state(...) or run.final")
    require("carry: mechanism", mechanism, Mechanism, "the edited Mechanism")
    cut = [cut] if isinstance(cut, str) or np.ndim(cut) == 0 else list(cut)  # type: ignore[arg-type]
    for name in cut:
        require("carry: cut", name, str, "the names of joints that are to close loops")
    if mechanism.space != model.space:
        raise ValueError(
            f"carry: {model.name!r} is of space={model.space!r}, and {mechanism.name!r} of "
            f"space={mechanism.space!r}; edit a copy of the mechanism of the model"
        )
    if (len(state.q), len(state.v)) != (model.nq, model.nv):
        raise ValueError(
            f"carry: the state has {len(state.q)} positions and {len(state.v)} velocities, "
            f"{model.name!r} has {model.nq} and {model.nv}; give a state of this model"
        )
    model = model.current
    new = compile_now(mechanism, model.form, cut, floating=True, like=model)
    if "loaded_tree" in vars(model):
        vars(new)["loaded_tree"] = with_forces(new, new.link_tree, model.loaded_tree)
    return following(new, compile_now), _carried(model, new, state)


def _carried(old: Model, new: Model, state: State) -> State:
    q, v = new.q_drawn.copy(), np.zeros(new.nv)
    missing = _by_name(old, new, state, q, v)
    before = _Before(old, new, state)
    met = False
    for k in missing:
        branch, (at_q, at_v) = new.graph.branches[k], _slices(new, k)
        if branch.name in old.loop_slices:
            q[at_q], v[at_v] = before.loop_joint(branch.name)
        else:
            q[at_q], v[at_v] = before.joint(branch)
            met = met or before.met(branch)
    if new.link_tree.unknowns:
        _take_unknowns(old, new, state, q)
    if met:
        v = _with_impulse(new, before, q, v)
    inputs = {name: value for name, value in state.inputs.items() if name in new.inputs}
    if new.loop_names and _opened(old, new, state, q, inputs):
        q = new.assemble(q, t=state.t, inputs=inputs)
        v = new.closed_velocity(q, v, t=state.t, inputs=inputs)
    same = old.mechanism.elements == new.mechanism.elements and np.array_equal(old.gravity, new.gravity)
    memory = state.memory if same else carried_contacts(old, new, state.memory)
    return State(q, v, state.t, memory, inputs, Later(lambda: new.slices), state.controllers)


def _by_name(old: Model, new: Model, state: State, q: Array, v: Array) -> list[int]:
    """Take positions and velocities of joints that are in both trees; return the numbers of all others."""
    ours, theirs = new.joint_starts, old.joint_starts

    def take(begin: int, end: int, first: int) -> None:
        for side, source, target in ((0, state.q, q), (1, state.v, v)):
            begins, ends, start = int(ours[begin, side]), int(ours[end, side]), int(theirs[first, side])
            target[begins:ends] = source[start : start + ends - begins]

    fresh: list[int] = []
    for begin, end, first in new.graph.pieces:
        if first >= 0:
            take(begin, end, first)
        else:
            fresh.extend(range(begin, end))
    known = dict(zip(old.joint_names, range(len(old.joint_names)), strict=True)) if fresh else {}
    missing = []
    for k in fresh:
        branch, row = new.graph.branches[k], known.get(new.joint_names[k], -1)
        if row >= 0 and _alike(old.graph.branches[row], branch):
            take(k, k + 1, row)
        else:
            missing.append(k)
    return missing


def _take_unknowns(old: Model, new: Model, state: State, q: Array) -> None:
    """Take the own unknowns of constraints that are in both models."""
    known = {loop.name: loop for loop in old.link_tree.loops if loop.drawn}
    for loop in new.link_tree.loops:
        was = known.get(loop.name)
        if was is not None and len(was.drawn) == len(loop.drawn):
            q[loop.u : loop.u + len(loop.drawn)] = state.q[was.u : was.u + len(was.drawn)]


def _alike(one: TreeBody, other: TreeBody) -> bool:
    """Whether coordinates of a joint mean the same: those of one kind between the same bodies."""
    if one is other or one.joint is other.joint:
        return True
    same_ends = one.joint.ends == other.joint.ends
    return same_ends and type(one.joint) is type(other.joint) and one.joint.nq == other.joint.nq


def _slices(model: Model, joint: int) -> tuple[slice, slice]:
    (q, v), (q_end, v_end) = model.joint_starts[joint : joint + 2].tolist()
    return slice(q, q_end), slice(v, v_end)


class _Before:
    """Where bodies were and how they moved before the edit; new ones as they hang on others."""

    def __init__(self, old: Model, new: Model, state: State):
        self.old, self.new, self.state = old, new, state
        self._sides: dict[str, BodySide] = {}
        self._branches: dict[str, TreeBody] = {}

    def loop_joint(self, name: str) -> tuple[Array, Array]:
        """Return position and velocity of a joint that closed a loop."""
        at_q, at_v = self.old.loop_slices[name]
        positions, rates = self.old.loop_motion(self.state.q, self.state.v)
        return positions[at_q], rates[at_v]

    def met(self, branch: TreeBody) -> bool:
        """Whether a new joint takes freedoms from a body that was there before."""
        return self.was(branch.body.name) and branch.joint.nv < branch.joint.algebra.freedoms

    def was(self, body: str) -> bool:
        return body in self.old.mechanism.bodies

    def rows(self) -> Array:
        """Return where each body of the new model was in the old one, -1 if it is new."""
        found = np.full(len(self.new.body_names), -1)
        for begin, end, first in self.new.graph.pieces:
            if first >= 0:
                found[begin:end] = np.arange(first, first + end - begin)
            else:
                names = self.new.body_names[begin:end]
                found[begin:end] = [self.old.body_rows.get(name, -1) for name in names]
        return found

    def joint(self, branch: TreeBody) -> tuple[Array, Array]:
        """Return position and velocity of a new joint: the nearest it allows; on a new body, as drawn."""
        joint = branch.joint
        if not self.was(branch.body.name):
            return branch.drawn, np.zeros(joint.nv)
        if not joint.can_locate:
            raise AssemblyError(
                f"joint {joint.name!r} is new between bodies that are somewhere else now, and "
                f"{type(joint).__name__} does not say at which coordinates; define locate(self, X)"
            )
        sides = (self.side(body.name) for body in joint.bodies)
        a, b = (
            BodySide(joint.algebra, side.frame @ frame, frame.local(side.motion))
            for side, frame in zip(sides, branch.frames, strict=True)
        )
        X = a.frame.local(b.frame)
        kind, numbers = JointFormulas().of(joint, False) if branch.reverse else branch.formula
        seen = JointKinematics.of(joint, kind, numbers, X, b.motion - X.local(a.motion))
        S = np.array([s.scalars() for s in seen.S], float).reshape(joint.nv, joint.algebra.freedoms)
        v = np.linalg.lstsq(S.T, np.array(seen.v_rel.scalars(), float), rcond=None)[0]
        return np.array(seen.q, float), v

    def side(self, body: str) -> BodySide:
        """Return pose and motion of a body: as it was, or at rest on what it hangs on."""
        if body not in self._sides:
            self._sides[body] = self._seen(body)
        return self._sides[body]

    def _seen(self, body: str) -> BodySide:
        algebra = self.new.link_tree.algebra
        if body == self.new.mechanism.ground.name:
            return BodySide(algebra, algebra.Frame(), algebra.Motion.zero())
        if self.was(body):
            row = self.old.body_rows[body]
            pose, velocity = (array[row].ravel().tolist() for array in self.arrays)
            pose, velocity = algebra.Frame.from_scalars(pose), algebra.Motion.from_scalars(velocity)
            return BodySide(algebra, pose, pose.axes.local(velocity))
        branch = self.new.graph.branches[self.new.body_rows[body]]
        parent = self.side(branch.parent.name)
        moved = branch.joint.motion(branch.drawn.tolist())
        X = branch.inner @ (moved.inverse if branch.reverse else moved) @ branch.outer.inverse
        return BodySide(algebra, parent.frame @ X, X.local(parent.motion))

    @kept
    def arrays(self) -> tuple[Array, ...]:
        """Poses, the rows of [R | p], and velocities of all bodies of the old model."""
        return self.old.kernel_of(velocities.PLACED, form="rolled")(self.state.q, self.state.v)


def _with_impulse(new: Model, before: _Before, q: Array, v: Array) -> Array:
    """Return the velocities after the impulses of new joints, from those that all bodies had before."""
    rows = before.rows()
    was = rows >= 0
    moved = np.zeros((len(rows), new.link_tree.algebra.freedoms))
    moved[was] = before.arrays[1][rows[was]]
    for k in np.flatnonzero(~was):
        side = before.side(new.body_names[k])
        moved[k] = (side.frame.axes @ side.motion).scalars()
    kernel, placed = (
        new.kernel_of(algorithm, form="rolled") for algorithm in (impulse.ALGORITHM, velocities.PLACED)
    )
    try:
        rates, shares = kernel(q, new.armature * v, moved)
    except NumericalError:
        if new.inertia_fault:
            return v
        raise
    if (shares > NOT_TINY).all():
        vars(new)["inertia_fault"] = ""  # it need not be looked for
    if new.inertia_fault:
        return v
    # What is left of the momenta is given once more: where light bodies carry heavy ones far away, the first
    # answer is known to fewer digits than momenta are.
    left = moved - placed(q, rates)[1]
    return rates + kernel(q, new.armature * (v - rates), left)[0]


def _opened(old: Model, new: Model, state: State, q: Array, inputs: Mapping[str, Any]) -> bool:
    """Whether loops are to be closed: some are new, or are open as they were not before."""
    were = {*old.loop_names, *old.joint_names}
    if any(name not in were for name in new.loop_names):
        return True
    gaps = [
        np.abs(model.constraint_residual(where, state.t, inputs=u) * model.row_weights).max(initial=0.0)
        for model, where, u in ((old, state.q, state.inputs), (new, q, inputs))
        if model.loop_names
    ]
    return bool(gaps[-1] > max(_OPEN, 2.0 * gaps[0] if len(gaps) > 1 else 0.0))
