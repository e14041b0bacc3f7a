"""Mechanism -> Model: names become numbers, and everything is frozen."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.dynamics.native_program import Form
from linkwork.mechanism.check import check
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.snapshot import snapshot
from linkwork.model.model import Model
from linkwork.tree.loops import check_loops, close
from linkwork.tree.topology import Topology, topology
from linkwork.tree.tree import Tree, grow

Array = np.ndarray


def compile_mechanism(mechanism: Mechanism, form: Form = "rolled", cut: Iterable[str] = ()) -> Model:
    """Check a mechanism and turn a copy of it into a Model: later changes are not seen."""
    mechanism = snapshot(mechanism).mechanism
    check(mechanism)
    graph = topology(mechanism, cut)
    check_loops(graph.loops)
    links = grow(mechanism, graph.branches, weld=True)
    drawn = [float(x) for branch in graph.branches for x in branch.joint.drawn()]
    return model_of(mechanism, graph, close(links, graph.loops, drawn), form)


def model_of(mechanism: Mechanism, graph: Topology, links: Tree, form: Form = "rolled") -> Model:
    """Return the model of a mechanism that is checked, and no longer changed, cut and grown into links."""
    joints = [branch.joint for branch in graph.branches]
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
        load_names=tuple(mechanism.loads),
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
        mechanism=mechanism,
        graph=graph,
        link_tree=links,
        form=form,
    )


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
