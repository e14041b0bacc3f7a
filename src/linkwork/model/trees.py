"""The trees of links that the algorithms of a model run on, each grown when it is first needed.

`link_tree` makes one link of bodies welded together, `body_tree` has one link per body; `undriven_tree` is
the former without drivers and couplings. `loaded_tree` and `loaded_body_tree` have the joints' own forces in
their kinds, and the loads; `touching_tree` and `touching_body_tree` also have the compliant contacts.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics.as_drawn import as_drawn
from linkwork.mechanism.input import DefaultInputs
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joint_inputs import joint_inputs
from linkwork.mechanism.load import Load
from linkwork.mechanism.stop import RigidStop
from linkwork.tree.growth import grow
from linkwork.tree.joint_forces import Rows, acts, has_limits, stops_are_rows
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.load_action import Cut, Side
from linkwork.tree.load_formula import PlacedLoad, source_of
from linkwork.tree.load_formula import place as placed_load
from linkwork.tree.loops import Loop, close_driven, inputs_of, without
from linkwork.tree.tree import Tree, with_own_forces
from linkwork.varied import of_variants

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_reads_inputs = attrgetter("reads_inputs")


def body_tree(model: "Model") -> Tree:
    """The tree with one link per body, for poses and reactions."""
    if not model.link_tree.welded:
        return model.link_tree.having(loops=())
    same = model.link_tree, [(0, len(model.graph.branches), 0)]
    grown = grow(model.mechanism, model.graph, weld=False, grown=same)
    return grown.having(unknowns=model.link_tree.unknowns)


def undriven_tree(model: "Model") -> Tree:
    """The tree that joint forces move: without drivers and couplings."""
    return without(model.link_tree, {*model.mechanism.drivers, *model.couplings})


def undriven_rows(model: "Model") -> Array:
    """The equations of loops that are not of drivers or couplings, in the order of `undriven_tree`."""
    parts = [np.arange(*model.row_slices[loop.name].indices(10**9)) for loop in model.undriven_tree.loops]
    return np.concatenate([np.empty(0, int), *parts])


def loaded_tree(model: "Model") -> Tree:
    """The tree with the forces of its joints, and loads."""
    return with_forces(model, model.link_tree)


def loaded_body_tree(model: "Model") -> Tree:
    """The tree with the forces of its joints, and loads, one link per body."""
    return with_forces(model, model.body_tree)


def smooth_tree(model: "Model") -> Tree:
    """The loaded tree without friction of joints that sticks in runs with rigid contact."""
    return (
        with_forces(model, model.link_tree, rows=Rows.FRICTION)
        if _friction_sticks(model)
        else model.loaded_tree
    )


def stepped_tree(model: "Model") -> Tree:
    """The same without springs at limits, which are rows in steps with contact."""
    if any(map(stops_are_rows, model.joints.values())):
        return with_forces(model, model.link_tree, rows=Rows.STOPS)
    return model.smooth_tree


def smooth_touching_tree(model: "Model") -> Tree:
    """The same with compliant contacts."""
    return _touching(model, model.smooth_tree)


def smooth_body_tree(model: "Model") -> Tree:
    """The loaded tree without friction of joints that sticks, one link per body."""
    return (
        with_forces(model, model.body_tree, rows=Rows.FRICTION)
        if _friction_sticks(model)
        else model.loaded_body_tree
    )


def _friction_sticks(model: "Model") -> bool:
    """Whether some joint has friction that sticks in rigid runs only."""
    return any(acts(j, "friction") and j.friction_sticks(rigid=True) for j in model.joints.values())


def touching_tree(model: "Model") -> Tree:
    """The loaded tree with compliant contacts."""
    return _touching(model, model.loaded_tree)


def touching_body_tree(model: "Model") -> Tree:
    """The loaded tree with compliant contacts, one link per body."""
    return _touching(model, model.loaded_body_tree)


def _touching(model: "Model", tree: Tree) -> Tree:
    return tree if model.compliant_contacts is None else tree.having(contacts=model.compliant_contacts)


def compliant_contacts(model: "Model") -> Any:
    """The compliant contacts of its bodies; None if there are none."""
    if not model.mechanism.contacts:
        return None
    from linkwork.contact_dynamics.compliant.compliant_contacts import compliant_contacts  # if there are any

    return compliant_contacts(model.mechanism)


def is_compliant(model: "Model") -> bool:
    """Whether all bodies that may meet do so by compliant contacts."""
    return model.compliant_contacts is not None and not model.compliant_contacts.rigid


def is_rigid(model: "Model") -> bool:
    """Whether something in its motion is rigid: contacts, stops of joints, their friction that sticks."""
    touches = bool(model.contact_names) and not model.is_compliant
    return touches or any(map(is_rigid_joint, model.joints.values()))


def is_rigid_joint(joint: Joint) -> bool:
    """Whether a joint has rigid stops, or friction that sticks in all runs."""
    stops = isinstance(joint.stop, RigidStop) and has_limits(joint)
    return stops or (joint.friction_sticks(rigid=False) and bool(joint.per_coordinate("friction").any()))


def with_forces(model: "Model", tree: Tree, like: Tree | None = None, rows: Rows = Rows.NONE) -> Tree:
    """Return a tree of a model with the forces of its joints, without what is `rows`, and loads.

    Formulas of loops and loads that are the same are taken over from a tree `like` this one.
    """

    def moved() -> Mapping[str, Sequence[float]]:
        return model.moved_inertia

    links = with_own_forces(tree, moved, (like, model.graph.pieces) if like else None, rows)
    if model.graph.loops:
        links = close_driven(links, model.link_tree, model.graph.loops, moved, like, min(rows, Rows.FRICTION))
    cut = [joint for joint in model.graph.loops if isinstance(joint, Joint)]
    reading = [branch.joint for branch in filter(_reads_inputs, model.graph.branches)]
    own = joint_inputs([*reading, *cut]) if reading or cut else []
    loads = place(model, [*model.mechanism.loads.values(), *own], links, like)
    return links.having(loads=loads, inputs=tuple(inputs_of((*links.loops, *loads))))


def inputs(model: "Model") -> Mapping[str, float]:
    """The inputs that laws read, by name, with their default values."""
    return DefaultInputs(inputs_of((*model.loaded_tree.loops, *model.loaded_tree.loads)))


def moved_inertia(model: "Model") -> Mapping[str, Sequence[float]]:
    """The inertia that each coordinate of a joint moves as drawn, by joint."""
    tree = model.link_tree
    found = as_drawn(tree, model.q_drawn.tolist()).inertias
    by_joint = {block.name: inertia for block, inertia in zip(tree.blocks, found, strict=True)}
    by_loop = {loop.name: _inertia_beyond(loop, tree) for loop in tree.loops}
    return {name: by_joint.get(name, []) for name in model.joint_names} | by_loop


def _inertia_beyond(loop: Loop, tree: Tree) -> list[float]:
    """Return the inertia that each coordinate of a loop joint moves: that of its child, or of its parent."""
    joint = loop.joint
    side = 1 if tree.body_links[joint.child.name] else 0
    body, frame = (joint.parent, joint.child)[side], joint.frames()[side]
    inertia = frame.inverse @ body.inertia.rigid
    units = joint.algebra.units()
    return [of_variants(np.max, [unit.dot(inertia @ unit) for unit in units])] * joint.nv


def place(
    model: "Model", loads: Iterable[Load], tree: Tree, like: Tree | None = None
) -> tuple[PlacedLoad, ...]:
    """Place loads (or quantities that are observed like loads) on a tree of a model."""
    loads = list(loads)
    if not loads:
        return ()
    sides = _Sides(model, tree)
    drawn = model.poses(model.q_drawn)
    before = {placed.name: placed for placed in like.loads} if like else {}
    where = model.slices, model.q_drawn[: model.joint_starts[-1, 0]].tolist(), drawn
    return tuple(
        placed_load(load, model.mechanism, tree.algebra, sides, *where, before.get(load.name))
        for load in loads
    )


class _Sides:
    """Where loads act on a tree: what `placed_load` asks for."""

    def __init__(self, model: "Model", tree: Tree):
        self._model, self._tree = model, tree
        self._links = {block.name: number for number, block in enumerate(tree.blocks, 1)}
        self._loops = {joint.name: joint for joint in model.graph.loops if isinstance(joint, Joint)}

    def body(self, name: str) -> Side:
        return self._end(name, self._tree.algebra.Frame(), None)

    def joint(self, name: str) -> tuple[Side, ...]:
        """One side, or two if the joint is cut."""
        if name in self._links:
            return (Side(self._links[name], None, *self._model.slices[name]),)
        joint = self._loops[name]
        cut = Cut(joint, *JointFormulas().of(joint, False))
        ends = zip((joint.parent, joint.child), joint.frames(), strict=True)
        return tuple(self._end(body.name, frame, cut) for body, frame in ends)

    @property
    def cut(self) -> Iterable[str]:
        """The joints that are cut."""
        return self._loops

    def _end(self, body: str, on_body: Any, cut: Cut | None) -> Side:
        base, none = self._tree.body_frames[body], slice(0, 0)
        return Side(self._tree.body_links[body], base @ on_body, none, none, body, on_body, cut, base)


def digest(model: "Model") -> str:
    """A digest of all that shapes the motion: equal for equal mechanisms, in any process."""
    tree = model.loaded_tree
    parts: list[Any] = [model.space, model.joint_names, model.body_names, tree.data.tobytes()]
    parts += [(link.kind.signature, link.parent, link.q, link.v) for link in tree.links]
    for loop in tree.loops:
        parts += [loop.name, loop.ends, loop.formula.signature, loop.data]
        parts += [(given.name, given.value) for given in loop.inputs]
    for placed in tree.loads:
        law = placed.formula
        parts += [placed.name, *(side.link for side in placed.sides)]
        parts += [law.signature, law.parameters] if law else [source_of(placed.load)]
        parts += [(given.name, given.value) for given in placed.inputs]
    if model.compliant_contacts is not None:
        parts += model.compliant_contacts.signature
    if rigid := [joint for joint in model.joints.values() if is_rigid_joint(joint)]:
        parts += [(j.name, j.stop, j.limit_pairs().tolist(), j.friction, j.friction_speed) for j in rigid]
    return hashlib.sha256(repr(parts).encode()).hexdigest()
