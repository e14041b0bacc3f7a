"""Mechanism -> Model: names become numbers, and everything is frozen."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwork.dynamics.as_drawn import as_drawn
from linkwork.dynamics.native_program import Form
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.mechanism_check import check
from linkwork.mechanism.snapshot import Snapshot, snapshot
from linkwork.model.following import following
from linkwork.model.model import Model
from linkwork.tree.branch_tables import COORDINATE_WORDS
from linkwork.tree.growth import grow
from linkwork.tree.loops import check_loops, close
from linkwork.tree.topology import Topology, topology
from linkwork.tree.tree import Tree
from linkwork.varied import real_table

Array = np.ndarray


def compile_mechanism(
    mechanism: Mechanism,
    form: Form = "rolled",
    cut: Iterable[str] = (),
    *,
    floating: bool = False,
    like: Model | None = None,
    unrolls: bool = True,
) -> Model:
    """Check a mechanism and turn a copy of it into a Model: later changes of its elements are not seen.

    What laws read from outside is followed. Bodies that no joint connects to ground, but constraints or
    springs, get a Free joint; with `floating`, so do those that nothing holds. What has not changed since a
    model `like` this one was made is taken over from it. A model that `unrolls`, as that one if one is given,
    compiles the motion of few links for each new build of them; one that does not compiles nothing.
    """
    found = compile_now(mechanism, form, cut, floating=floating, like=like, unrolls=unrolls)
    return following(found, compile_now)


def compile_now(
    mechanism: Mechanism,
    form: Form = "rolled",
    cut: Iterable[str] = (),
    *,
    floating: bool = False,
    like: Model | None = None,
    unrolls: bool = True,
) -> Model:
    """Turn a mechanism into the model of what its laws read from outside now."""
    origin = snapshot(mechanism, like.origin if like else None)
    return compile_snapshot(origin, form, cut, floating=floating, like=like, unrolls=unrolls)


def compile_snapshot(
    origin: Snapshot,
    form: Form = "rolled",
    cut: Iterable[str] = (),
    *,
    floating: bool = False,
    like: Model | None = None,
    unrolls: bool = True,
) -> Model:
    """Turn a copy of a mechanism into a model, which takes over from one `like` it what is not fresh."""
    before = like.origin if like else None
    check(origin.mechanism, origin.fresh if before else None, connected=floating)
    graph = topology(
        origin.mechanism, cut, like.graph if like else None, lambda body: origin.freed(body, before)
    )
    check_loops(graph.loops)
    links = _links(origin.mechanism, graph, like.link_tree if like else None)
    return model_of(origin, graph, links, form, like.unrolls if like else unrolls)


def compile_variants(mechanism: Mechanism, like: Model) -> Model:
    """Return the model of N mechanisms in one (`varied_mechanism`), checked; `like` is of one of them.

    Its numbers are N in place of one: it serves to find the tables of all, and cannot be run.
    """
    cut = [name for name in like.loop_names if name in mechanism.joints]
    graph = topology(mechanism, cut)
    model = model_of(Snapshot(mechanism), graph, _links(mechanism, graph, None), like.form, like.unrolls)
    vars(model)["tree_units"] = like.tree_units
    return model


def _links(mechanism: Mechanism, graph: Topology, like: Tree | None) -> Tree:
    """Return the links of a mechanism, with what closes their loops."""
    links = grow(mechanism, graph, weld=True, grown=(like, graph.pieces) if like else None)
    if not graph.loops:
        return links
    drawn = as_drawn(links, graph.tables.drawn.tolist())
    return close(links, graph.loops, drawn, like)


def model_of(
    origin: Snapshot, graph: Topology, links: Tree, form: Form = "rolled", unrolls: bool = True
) -> Model:
    """Return the model of a mechanism that is checked, and no longer changed, cut and grown into links."""
    mechanism, tables = origin.mechanism, graph.tables
    names, of_bodies, starts = tables.body_names, tables.of_bodies, tables.starts
    size = links.algebra.dimension
    columns = {word: _frozen(x) for word, x in zip(COORDINATE_WORDS, tables.of_coordinates.T, strict=True)}
    del columns["lower"], columns["upper"]
    turning = tables.counts[:, 2] >= 0
    return Model(
        name=mechanism.name,
        space=mechanism.space,
        gravity=mechanism.gravity,
        nq=links.nq,
        nv=links.nv,
        body_names=names,
        joint_names=tables.joint_names,
        load_names=tuple(mechanism.loads),
        contact_names=tuple(mechanism.contacts),
        parents=_frozen(graph.parents, int),
        masses=_frozen(of_bodies[:, 0]),
        centers=_frozen(of_bodies[:, 1 : 1 + size]),
        inertias=_frozen(of_bodies[:, 1 + size :].reshape(-1, 3, 3) if size > 2 else of_bodies[:, 1 + size]),
        joint_starts=_frozen(starts, int),
        q_drawn=_frozen(np.concatenate([tables.drawn, *_unknowns(links)])),
        limits=_frozen(tables.of_coordinates[:, :2]),
        **columns,
        quaternions=_frozen(starts[:-1, 0][turning] + tables.counts[turning, 2], int),
        couplings=MappingProxyType(dict(mechanism.couplings)),
        mechanism=mechanism,
        origin=origin,
        graph=graph,
        link_tree=links,
        form=form,
        unrolls=unrolls,
    )


def _unknowns(links: Tree) -> list[Array]:
    """Return the own unknowns of constraints as drawn, in their order."""
    return [real_table(loop.drawn) for loop in sorted(links.loops, key=lambda loop: loop.u) if loop.drawn]


def _frozen(values: Any, kind: type = float) -> Array:
    varied = isinstance(values, np.ndarray) and values.dtype.hasobject
    array = np.array(values, None if varied else kind)
    array.setflags(write=False)
    return array
