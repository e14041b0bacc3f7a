"""The spanning tree: parents first, joints met either way round, loops found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork as lw
from linkwork.tree.topology import Topology, topology


def mechanism(*joints: str) -> lw.Mechanism:
    """Return a mechanism of joints "name: parent child" (bodies are made as they are met; 0 is ground)."""
    m = lw.Mechanism()
    bodies = {"0": m.ground}
    for line in joints:
        name, pair = line.split(": ")
        for body in pair.split():
            if body not in bodies:
                inertia = lw.Inertia(1.0, (0, 0, 0), np.eye(3))
                bodies[body] = m.add(lw.Body(body, inertia, position=(float(len(bodies)), 0, 0)))
        parent, child = pair.split()
        m.add(lw.Revolute(name, bodies[parent], bodies[child]))
    return m


def told(graph: Topology) -> list[str]:
    """Return the branches as text: a joint met the other way round has a minus sign."""
    return [
        f"{'-' if b.reverse else ''}{b.joint.name}: {b.parent.name} {b.body.name}" for b in graph.branches
    ]


def loops(graph: Topology) -> list[str]:
    return [joint.name for joint in graph.loops]


def test_what_is_wanted_is_cut():
    ring = "A: 0 crank", "B: crank rod", "C: rod rocker", "D: 0 rocker"
    for name in "ABCD":
        assert [joint.name for joint in topology(mechanism(*ring), [name]).loops] == [name]
    with pytest.raises(lw.ModelError, match=r"cut: .*'E'"):
        topology(mechanism(*ring), ["E"])
    with pytest.raises(lw.ModelError, match="without 'A', 'B' not all bodies are connected"):
        topology(mechanism(*ring), ["A", "B"])


def test_nothing_is_a_tree():
    graph = topology(lw.Mechanism())
    assert (graph.branches, graph.loops) == ((), ())


def test_a_chain_is_numbered_from_ground():
    graph = topology(mechanism("c: b c", "b: a b", "a: 0 a"))
    assert told(graph) == ["a: ground a", "b: a b", "c: b c"]
    assert loops(graph) == []


def test_each_branch_is_in_one_piece():
    graph = topology(mechanism("a: 0 a", "b: a b", "c: a c", "d: b d", "e: 0 e", "f: c f"))
    assert [b.body.name for b in graph.branches] == ["a", "b", "d", "c", "f", "e"]


def test_branches_keep_the_order_they_were_added_in():
    graph = topology(mechanism("z: 0 z", "a: 0 a", "m: 0 m"))
    assert [b.body.name for b in graph.branches] == ["z", "a", "m"]


def test_a_joint_whose_child_is_nearer_to_ground_is_met_the_other_way_round():
    graph = topology(mechanism("a: a 0", "b: a b", "c: c b"))
    assert told(graph) == ["-a: ground a", "b: a b", "-c: b c"]
    assert [b.reverse for b in graph.branches] == [True, False, True]


def test_a_joint_that_closes_a_loop_is_found():
    graph = topology(mechanism("A: 0 crank", "B: crank rod", "C: rod rocker", "D: 0 rocker"))
    assert len(graph.branches) == 3
    assert loops(graph) == ["C"]  # from both sides the way to ground is short
    assert told(graph) == ["A: ground crank", "B: crank rod", "D: ground rocker"]


def test_paths_to_ground_are_as_short_as_can_be():
    ring = [f"j{k}: {k} {k + 1}" for k in range(8)] + ["last: 8 0"]
    graph = topology(mechanism(*ring))
    depth = {"ground": 0}
    for b in graph.branches:
        depth[b.body.name] = depth[b.parent.name] + 1
    assert max(depth.values()) == 4
    assert len(loops(graph)) == 1


def test_two_joints_between_the_same_bodies_are_a_loop():
    graph = topology(mechanism("hinge: 0 door", "second hinge: 0 door"))
    assert told(graph) == ["hinge: ground door"]
    assert loops(graph) == ["second hinge"]
    graph = topology(mechanism("hinge: 0 door", "second hinge: door 0"))
    assert loops(graph) == ["second hinge"]


def test_every_joint_too_many_is_listed_in_the_order_added():
    graph = topology(mechanism("a: 0 a", "b: 0 b", "c: 0 c", "x: a b", "y: c a", "z: b c"))
    assert loops(graph) == ["x", "y", "z"]


def test_joints_that_are_driven_are_not_cut():
    m = mechanism("A: 0 crank", "B: crank rod", "C: rod rocker", "D: 0 rocker")
    assert loops(topology(m)) == ["C"]
    m.joints["C"].armature = 0.1
    assert loops(topology(m)) == ["B"]
    m.add(lw.Motor("drive", m.joints["B"], 1.0))
    assert loops(topology(m)) == ["D"]


@st.composite
def graphs(draw: st.DrawFn) -> list[str]:
    """Draw joints that connect every body to ground, in any order and direction, and some more."""
    count = draw(st.integers(1, 8))
    pairs = [(draw(st.integers(0, k - 1)), k) for k in range(1, count + 1)]
    more = st.tuples(st.integers(0, count), st.integers(0, count)).filter(lambda pair: pair[0] != pair[1])
    pairs += draw(st.lists(more, max_size=4))
    pairs = [pair[::-1] if draw(st.booleans()) else pair for pair in pairs]
    order = draw(st.permutations(range(len(pairs))))
    return [f"j{k}: {pairs[k][0]} {pairs[k][1]}" for k in order]


@given(graphs())
def test_any_connected_graph_is_a_spanning_tree_and_loops(joints):
    m = mechanism(*joints)
    graph = topology(m)
    # every body hangs on one joint, every joint is used once
    assert sorted(b.body.name for b in graph.branches) == sorted(m.bodies)
    used = [b.joint.name for b in graph.branches] + loops(graph)
    assert sorted(used) == sorted(m.joints)
    assert len(graph.loops) == len(m.joints) - len(m.bodies)
    # parents come first, and a branch joins just the two bodies of its joint, the right way round
    seen = {"ground"}
    for b in graph.branches:
        assert b.parent.name in seen
        assert b.body.name not in seen
        seen.add(b.body.name)
        ends = (b.joint.child, b.joint.parent) if b.reverse else (b.joint.parent, b.joint.child)
        assert (b.parent, b.body) == ends
    # each branch lies in one piece: what hangs on a body follows it directly
    order = [b.body.name for b in graph.branches]
    parent = {b.body.name: b.parent.name for b in graph.branches}
    for k, name in enumerate(order):
        below = {name}
        for other in order[k + 1 :]:
            if parent[other] in below:
                below.add(other)
        assert set(order[k : k + len(below)]) == below
    # no way to ground is longer than it must be
    distance = dict.fromkeys(m.bodies, len(m.bodies)) | {"ground": 0}
    for _ in m.bodies:
        for joint in m.joints.values():
            one, two = joint.parent.name, joint.child.name
            distance[two] = min(distance[two], distance[one] + 1)
            distance[one] = min(distance[one], distance[two] + 1)
    depth = {"ground": 0}
    for b in graph.branches:
        depth[b.body.name] = depth[b.parent.name] + 1
    assert depth == distance


def test_a_long_chain_is_no_trouble():
    graph = topology(mechanism(*(f"j{k}: {k} {k + 1}" for k in range(3000))))
    assert len(graph.branches) == 3000
    assert graph.branches[-1].body.name == "3000"


# bodies without mass that are driven


def shaken(cam: lw.Body, driver: str) -> lw.Mechanism:
    """A weight on a spring, the other end of which is driven."""
    m = lw.Mechanism("shaken", space="plane", gravity=(0, -9.81))
    m.add(cam)
    weight = m.add(lw.Body("weight", lw.Sphere(0.1), mass=2.0, position=(0, -1)))
    m.add(lw.Prismatic("guide", m.ground, cam, axis=(1, 0)))
    m.add(lw.Driver("shake", "guide" if driver == "joint" else (cam, "x"), lambda t: 0.1 * lw.sin(5 * t)))
    m.add(lw.Spring("spring", cam, weight, stiffness=200.0, rest=0.9))
    return m


@pytest.mark.parametrize("driver", ["joint", "body"])
def test_a_driven_body_needs_no_mass(driver):
    light, heavy = (
        shaken(lw.Body("cam"), driver),
        shaken(lw.Body("cam", lw.Inertia(1.0, (0, 0), 0.1)), driver),
    )
    runs = [lw.simulate(m, 1.0, every=0.1) for m in (light, heavy)]
    np.testing.assert_allclose(runs[0]["weight"].position, runs[1]["weight"].position, atol=1e-7)
    force = runs[1]["shake"].force - runs[1]["shake"].acceleration  # without what its mass takes
    np.testing.assert_allclose(runs[0]["shake"].force, force, atol=1e-5)
    model = light.compile()
    assert any("'cam' has no mass and is driven" in note for note in model.notes)
    assert model.masses[model.body_names.index("cam")] == 0.0
    assert not any("no mass" in note for note in heavy.compile().notes)


def test_one_that_carries_mass_is_left_as_it_is():
    m = lw.Mechanism("arm")
    crank = m.add(lw.Body("crank"))
    m.add(lw.Revolute("A", m.ground, crank, axis=(0, 1, 0)))
    rod = m.add(lw.Body("rod", lw.Box(0.3, 0.02, 0.02), density=1000.0, position=(0.1, 0, 0)))
    m.add(lw.Revolute("B", crank, rod, at=(0.1, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Driver("motor", "A", lambda t: 3 * t))
    assert m.compile().notes == ()


def test_a_driven_one_on_a_body_with_mass_moves():
    m = lw.Mechanism("arm")
    arm = m.add(lw.Body("arm", lw.Box(0.3, 0.02, 0.02), density=1000.0, position=(0.1, 0, 0)))
    m.add(lw.Revolute("A", m.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Revolute("B", arm, m.add(lw.Body("pointer")), at=(0.2, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Driver("motor", "B", lambda t: 3 * t))
    run = lw.simulate(m, 0.5)
    assert run["B"].position[-1] == pytest.approx(1.5)


def test_what_is_not_driven_is_refused_still():
    m = lw.Mechanism("loose")
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b"))
    m.add(lw.Revolute("A", m.ground, a, axis=(0, 1, 0)))
    m.add(lw.Revolute("B", a, b, axis=(0, 1, 0)))
    m.add(lw.Driver("motor", "A", lambda t: 3 * t))
    with pytest.raises(lw.ModelError, match="cannot accelerate"):
        lw.simulate(m, 0.5)
