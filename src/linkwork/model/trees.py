"""The trees of links that the algorithms of a model run on, each grown when it is first needed.

`link_tree` makes one link of bodies welded together, `body_tree` has one link per body; `undriven_tree` is
the former without drivers and couplings. `loaded_tree` and `loaded_body_tree` have the joints' own forces in
their kinds, and the loads.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.mechanism.load import Load
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.load_formula import Cut, PlacedLoad, Side, source_of
from linkwork.tree.load_formula import place as placed_load
from linkwork.tree.loop_constraint import LoopConstraint
from linkwork.tree.loops import Loop, close, without
from linkwork.tree.tree import Tree, grow, moved_inertias, with_own_forces

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray


def body_tree(model: "Model") -> Tree:
    """The tree with one link per body, for poses and reactions."""
    return grow(model.mechanism, model.graph.branches, weld=False, like=model.link_tree)


def undriven_tree(model: "Model") -> Tree:
    """The tree that joint forces move: without drivers and couplings."""
    return without(model.link_tree, {*model.mechanism.drivers, *model.couplings})


def undriven_rows(model: "Model") -> Array:
    """The equations of loops that are not of drivers or couplings, in the order of `undriven_tree`."""
    parts = [np.arange(*model.row_slices[loop.name].indices(10**9)) for loop in model.undriven_tree.loops]
    return np.concatenate([np.empty(0, int), *parts])


def loaded_tree(model: "Model") -> Tree:
    """The tree with the forces of its joints, and loads."""
    return _with_forces(model, model.link_tree)


def loaded_body_tree(model: "Model") -> Tree:
    """The tree with the forces of its joints, and loads, one link per body."""
    return _with_forces(model, model.body_tree)


def _with_forces(model: "Model", tree: Tree) -> Tree:
    def moved() -> dict[str, list[float]]:
        return model.moved_inertia

    links = with_own_forces(tree, moved)
    links = close(replace(links, loops=()), model.graph.loops, model.q_drawn.tolist(), moved)
    return replace(links, loads=place(model, model.mechanism.loads.values(), links))


def moved_inertia(model: "Model") -> dict[str, list[float]]:
    """The inertia that each coordinate of a joint moves as drawn, by joint."""
    tree = model.link_tree
    found = moved_inertias(tree, model.q_drawn.tolist())
    by_joint = {link.name: inertia for link, inertia in zip(tree.links, found, strict=True)}
    by_loop = {loop.name: _inertia_beyond(loop, tree) for loop in tree.loops}
    return {name: by_joint.get(name, []) for name in model.joint_names} | by_loop


def _inertia_beyond(loop: Loop, tree: Tree) -> list[float]:
    """Return the inertia that each coordinate of a loop joint moves: that of its child, or of its parent."""
    joint = loop.joint
    side = 1 if tree.body_links[joint.child.name] else 0
    body, frame = (joint.parent, joint.child)[side], joint.frames()[side]
    numbers = float(body.inertia.mass), body.inertia.com.tolist(), body.inertia.tensor.tolist()
    inertia = frame.inverse @ joint.algebra.RigidInertia.about_center(*numbers)
    units = joint.algebra.units()
    along = [float(unit.dot(inertia @ unit)) for unit in units]
    return [max(along)] * joint.nv


def place(model: "Model", loads: Iterable[Load], tree: Tree) -> tuple[PlacedLoad, ...]:
    """Place loads (or quantities that are observed like loads) on a tree of a model."""
    loads, none = list(loads), slice(0, 0)
    if not loads:
        return ()

    def end(body: str, on_body: Any, cut: Cut | None = None) -> Side:
        frame = tree.body_frames[body] @ on_body
        return Side(tree.body_links[body], frame, none, none, body, on_body, cut)

    body_sides = {name: end(name, tree.algebra.Frame()) for name in tree.body_links}
    joint_sides: dict[str, tuple[Side, ...]] = {
        link.name: (Side(number, None, *model.slices[link.name]),)
        for number, link in enumerate(tree.links, 1)
    }
    kinds = JointFormulas()
    for joint in model.graph.loops:
        if isinstance(joint, LoopConstraint):
            continue
        cut = Cut(joint, *kinds.of(joint, False))
        bodies = joint.parent.name, joint.child.name
        joint_sides[joint.name] = tuple(
            end(body, frame, cut) for body, frame in zip(bodies, joint.frames(), strict=True)
        )
    drawn = model.poses(model.q_drawn)
    where = (body_sides, joint_sides, model.slices, model.q_drawn.tolist(), drawn)
    return tuple(placed_load(load, model.mechanism, tree.algebra, *where) for load in loads)


def digest(model: "Model") -> str:
    """A digest of all that shapes the motion: equal for equal mechanisms, in any process."""
    tree = model.loaded_tree
    parts: list[Any] = [model.space, model.joint_names, model.body_names, tree.data.tobytes()]
    parts += [(link.kind.signature, link.parent, link.q, link.v) for link in tree.links]
    for loop in tree.loops:
        parts += [loop.name, loop.ends, loop.formula.signature, loop.data]
    for placed in tree.loads:
        law = placed.formula
        parts += [placed.name, *(side.link for side in placed.sides)]
        parts += [law.signature, law.parameters] if law else [source_of(placed.load)]
    return hashlib.sha256(repr(parts).encode()).hexdigest()
