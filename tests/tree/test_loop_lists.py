"""Which bodies and joints are in which loop: against a walk over the graph of the mechanism."""

import numpy as np
import pytest
from mechanisms import SPACES
from naive_loops import random_closed

import linkwork as lw


@pytest.mark.parametrize("space", SPACES)
def test_a_loop_is_once_around_and_its_root_has_the_smallest_number(space):
    roots = set()
    for seed in range(40):
        mechanism = random_closed(seed, space).mechanism
        model = mechanism.compile()
        numbers = {"ground": -1, **{name: k for k, name in enumerate(model.body_names)}}
        assert tuple(model.loops) == model.loop_names
        for name, loop in model.loops.items():
            assert loop.joint == name
            assert [joint for joint in loop.joints if joint in model.loop_names] == [name]
            assert len(set(loop.bodies)) == len(loop.bodies) == len(loop.joints)
            for joint, *ends in zip(loop.joints, loop.bodies, (*loop.bodies[1:], loop.root), strict=True):
                assert {mechanism.joints[joint].parent.name, mechanism.joints[joint].child.name} == {*ends}
            assert min(loop.bodies, key=numbers.__getitem__) == loop.root
            closing = mechanism.joints[name]
            assert (loop.root, *loop.parent_side)[-1] == closing.parent.name
            assert (loop.root, *loop.child_side)[-1] == closing.child.name
            roots.add(loop.root)
    assert len(roots) > 3  # not only ground


@pytest.mark.parametrize("space", SPACES)
def test_the_lists_by_body_are_those_of_the_first_seed(space):
    connected = 0
    for seed in range(40):
        model = random_closed(seed, space, loops=4).mechanism.compile()
        loops = model.loops
        for body in ("ground", *model.body_names):
            rooted = {name for name in loops if loops[name].root == body}
            inside = {name for name in loops if body in loops[name].bodies} - rooted
            joined = {
                other
                for name in rooted
                for other in loops
                if other not in rooted and {*loops[name].joints} & {*loops[other].joints}
            }
            assert {*loops.rooted_at[body]} == rooted
            assert {*loops.containing[body]} == inside
            assert {*loops.connected_at[body]} == joined
            connected += len(joined)
    assert connected > 20


def test_the_steam_engine_of_the_first_seed():
    """Figure 5: joint 4, here the one that was cut, has root body 0 and contains bodies 0, 1, 2, 3."""
    model = lw.examples.slider_crank().compile()
    (loop,) = model.loops.values()
    assert loop.root == "ground"
    assert {*loop.bodies} == {"ground", "crank", "rod", "piston"}
    assert {*loop.joints} == {"bearing", "crank pin", "wrist pin", "cylinder"}
    assert model.loops.rooted_at["ground"] == (loop.joint,)
    assert all(model.loops.containing[body] == (loop.joint,) for body in ("crank", "rod", "piston"))


def test_loops_that_share_a_joint_are_connected():
    model = lw.examples.four_bars(3, space="plane").compile()
    row = sorted(model.loops, key=lambda name: min(model.loops[name].bodies))
    for k, name in enumerate(row):
        neighbours = {row[j] for j in (k - 1, k + 1) if 0 <= j < 3}
        assert neighbours <= {*model.loops.connected(name)}
    with pytest.raises(KeyError, match="unknown loop 'right'"):
        model.loops["right"]


def test_a_tree_has_no_loops_and_lists_cannot_be_changed():
    model = lw.examples.cart_pole().compile()
    assert not model.loops
    assert model.loops.rooted_at["ground"] == ()
    with pytest.raises(TypeError):
        model.loops.rooted_at["ground"] = ("rail",)
    assert np.all([name in model.loops.containing for name in model.body_names])
