"""Mechanism: names, and the list of every mistake in a description."""

import copy
import re
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.algebra import planar, spatial
from linkwork.algebra.spatial import Frame
from linkwork.algebra.vector import Matrix
from linkwork.errors import ModelError
from linkwork.geometry import Box
from linkwork.mechanism.body import Body
from linkwork.mechanism.coupling import Coupling
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.mechanism_check import check

UNIT = Inertia(1.0, (0, 0, 0), np.eye(3))


def pair(space="space") -> tuple[Mechanism, Body, Body]:
    """Return a mechanism with two bodies hinged one on the other."""
    m = Mechanism("pair", space=space)
    arm, hand = m.add(Body("arm")), m.add(Body("hand"))
    m.add(Revolute("shoulder", m.ground, arm))
    m.add(Revolute("wrist", arm, hand))
    return m, arm, hand


def mistakes(m: Mechanism) -> list[str]:
    """Return the numbered mistakes that `check` finds."""
    with pytest.raises(ModelError) as error:
        check(m)
    first, *lines = str(error.value).splitlines()
    assert first == f"mechanism {m.name!r} has {len(lines)} mistake{'s' if len(lines) > 1 else ''}:"
    found = []
    for number, line in enumerate(lines, start=1):
        label, mistake = line.strip().split(". ", 1)
        assert int(label) == number
        found.append(mistake)
    return found


def test_things_are_found_by_name():
    m, arm, _ = pair()
    assert m["arm"] is arm
    assert m["ground"] is m.ground
    assert m["wrist"] is m.joints["wrist"]
    assert list(m.bodies) == ["arm", "hand"]
    assert list(m.joints) == ["shoulder", "wrist"]
    with pytest.raises(KeyError, match="unknown name 'wirst'; did you mean 'wrist'"):
        m["wirst"]
    assert list(m) == ["arm", "hand", "shoulder", "wrist"]
    assert len(m) == 4
    assert "wrist" in m
    assert arm in m
    assert "ground" in m
    assert "wirst" not in m
    assert Body("arm") not in m


def test_names_stay_as_they_are():
    m, arm, _ = pair()
    for thing in (arm, m.joints["wrist"]):
        with pytest.raises(AttributeError, match="name"):
            thing.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "make",
    [
        lambda box, body: Body(box),
        lambda box, body: Revolute(body, body, body),
        lambda box, body: Coupling(3, "a", "b"),  # type: ignore[arg-type]
    ],
)
def test_the_name_comes_first(make):
    with pytest.raises(TypeError, match="the first argument is the name"):
        make(Box(1, 1, 1), Body("a"))


def test_a_coupling_takes_joints_and_numbers():
    with pytest.raises(TypeError, match="coupling 'gear': of 3 is not a joint"):
        Coupling("gear", "a", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="coupling 'gear': ratio '2'; give a number"):
        Coupling("gear", "a", "b", "2")  # type: ignore[arg-type]


@pytest.mark.parametrize("made", [Mechanism.copy, copy.copy, copy.deepcopy])
def test_a_copy_is_independent(made):
    m, arm, _ = pair()
    m.add(Coupling("geared", "wrist", "shoulder"))
    other = made(m)
    assert list(other) == list(m)
    assert other["arm"] is not arm
    assert other.joints["wrist"].parent is other["arm"]
    assert other.joints["shoulder"].parent is other.ground
    assert not other["hand"].inertia.com.flags.writeable
    other["arm"].position = (1, 2, 3)
    other.remove("geared")
    np.testing.assert_array_equal(arm.position, (0, 0, 0))
    assert "geared" in m
    check(other)


def test_what_is_in_use_is_not_removed():
    m, arm, hand = pair()
    gear = m.add(Coupling("geared", "wrist", "shoulder"))
    with pytest.raises(ValueError, match="'arm' is used by 'shoulder', 'wrist'; remove those first"):
        m.remove(arm)
    with pytest.raises(ValueError, match="'wrist' is used by 'geared'"):
        m.remove("wrist")
    assert m.remove("geared") is gear
    m.remove("wrist")
    m.remove(hand)
    assert list(m) == ["arm", "shoulder"]
    check(m)
    with pytest.raises(ValueError, match=r"Body\('hand'.* is not in it"):
        m.remove(hand)
    with pytest.raises(ValueError, match="ground cannot be removed"):
        m.remove("ground")


def test_of_two_things_of_one_name_the_second_takes_over():
    m, arm, _ = pair()
    twin = m.add(Body("arm"))
    m.remove(twin)
    assert m["arm"] is arm
    check(m)


def test_add_returns_what_it_was_given_and_refuses_the_rest():
    m = Mechanism()
    body = Body("a")
    assert m.add(body) is body
    with pytest.raises(TypeError, match="cannot add 3; give a Body"):
        m.add(3)  # type: ignore[type-var]


def test_gravity_points_down_unless_said():
    np.testing.assert_array_equal(Mechanism().gravity, (0, 0, -9.81))
    np.testing.assert_array_equal(Mechanism(space="plane").gravity, (0, -9.81))
    np.testing.assert_array_equal(Mechanism(gravity=(0, 0, -1.62)).gravity, (0, 0, -1.62))
    with pytest.raises(ValueError, match=r"gravity .* give 2 numbers"):
        Mechanism(gravity=(0, 0, -9.81), space="plane")
    with pytest.raises(ValueError, match=r"gravity .* not finite"):
        Mechanism(gravity=(0, 0, np.nan))


def test_there_are_two_spaces():
    with pytest.raises(ValueError, match="space 'flat'"):
        Mechanism(space="flat")  # type: ignore[arg-type]


def test_elements_take_the_space_of_their_mechanism():
    m, arm, _ = pair("plane")
    assert arm.inertia.space == "plane"
    assert m.ground.position.shape == (2,)
    assert m.joints["wrist"].algebra is planar
    assert pair()[0].joints["wrist"].algebra is spatial


def test_summary_and_repr_say_what_is_there():
    m, _, _ = pair()
    m.add(Coupling("geared", "wrist", "shoulder", 2.0, 0.5))
    assert repr(m) == "Mechanism('pair', 2 bodies, 2 joints)"
    for words in (
        "'pair' in space, gravity (0, 0, -9.81)",
        "arm",
        "Revolute, arm -> hand",
        "wrist = 2 shoulder + 0.5",
    ):
        assert words in m.summary()


def test_a_sound_mechanism_passes():
    m, _, hand = pair()
    m.add(Revolute("loop", m.ground, hand))
    m.add(Coupling("geared", m.joints["wrist"], m.joints["shoulder"], 2.0))
    check(m)


def test_every_mistake_is_listed_once_in_the_order_of_the_description():
    m = Mechanism("wreck")
    m.add(Body("bad", Inertia(-1.0, (0, 0, 0), np.eye(3))))
    a = m.add(Body("a", UNIT))
    m.add(Body("a", UNIT))
    m.add(Revolute("hinge", m.ground, a, axis=(0, 0, 0), limits=(1, -1), damping=-2))
    m.add(Revolute("self", a, a))
    m.add(Coupling("gear", "hinge", "hunge"))
    found = mistakes(m)
    starts = ["body 'bad': mass", "body 'bad': not conn", "body 'a': a body", "body 'a': not conn"]
    starts += [
        "joint 'hinge': axis",
        "joint 'hinge': damping",
        "joint 'hinge': limits",
        "joint 'self': joins",
    ]
    starts += ["coupling 'gear': of: unknown joint 'hunge'; did you mean 'hinge'"]
    assert [mistake.startswith(start) for mistake, start in zip(found, starts, strict=True)] == [True] * len(
        starts
    )


def one_mistake(m: Mechanism, words: str) -> None:
    (mistake,) = mistakes(m)
    assert re.search(words, mistake), mistake


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "joint '': the name is empty"),
        ("ground", "joint 'ground': the name is reserved"),
        ("arm", "joint 'arm': a body has this name already"),
        ("wrist", "joint 'wrist': a joint has this name already"),
    ],
)
def test_names_are_told_apart(name, words):
    m, arm, hand = pair()
    m.add(Revolute(name, arm, hand))
    one_mistake(m, words)


def test_an_element_is_added_once():
    m, arm, _ = pair()
    m.add(arm)
    one_mistake(m, "body 'arm': added twice")


def test_joints_join_bodies_of_their_mechanism():
    m, arm, _ = pair()
    other = Mechanism("other")
    m.add(Revolute("a", arm, Body("stranger")))
    m.add(Revolute("b", other.ground, arm))
    m.add(Revolute("c", "arm", arm))  # type: ignore[arg-type]
    stranger, ground, text = mistakes(m)
    assert "child 'stranger' is not in this mechanism; add(...) the body" in stranger
    assert "parent 'ground' is not in this mechanism; use this mechanism's .ground" in ground
    assert "parent 'arm' is not a body; give the Body itself" in text


def test_every_mistake_of_a_joint_is_told_at_once():
    m, arm, hand = pair()
    m.add(Free("float", arm, hand, axis=(0, 0, 1), at=(0, 0, 0), on_child=(0, 0), damping=-1))
    m.add(Universal("cardan", arm, hand, axis=(1, 0, 0)))
    found = mistakes(m)
    assert [words.split(": ")[0] for words in found] == ["joint 'float'"] * 4 + ["joint 'cardan'"]


def test_a_place_has_the_numbers_of_its_space():
    m, arm, _ = pair("plane")
    arm.position = (1, 2, 0)
    joint = m.add(Prismatic("slide", m.ground, m.add(Body("block", position=(1, 2))), at=(1, 2, 0)))
    check(m)
    np.testing.assert_array_equal(joint.frames()[0].position, (1, 2))
    joint.at = (1, 2, 3)
    one_mistake(m, r"joint 'slide': at \(1, 2, 3\) is off the plane z = 0; drop z")
    m, arm, _ = pair()
    arm.position = (1, 2)
    one_mistake(m, r"body 'arm': position \(1, 2\) in a mechanism in space; give 3 numbers")


def test_floating_bodies_want_a_free_joint():
    m, _, _ = pair()
    a, b = m.add(Body("a")), m.add(Body("b"))
    m.add(Fixed("weld", a, b))
    one_mistake(
        m,
        "body 'a': not connected to ground, nor are the bodies joined to it: 'b'; .* a Free one",
    )
    m.add(Free("flight", m.ground, b))
    check(m)


def test_a_joint_may_not_exist_in_the_plane():
    m, arm, hand = pair("plane")
    m.add(Cylindrical("tube", arm, hand))
    one_mistake(m, "joint 'tube': a Cylindrical exists in the space only; use Mechanism")


@pytest.mark.parametrize("axis", [(0, 1, 0), (1, 0)])
def test_a_planar_hinge_has_no_axis(axis):
    m, arm, hand = pair("plane")
    m.add(Revolute("extra", arm, hand, axis=axis))
    one_mistake(
        m, "joint 'extra': axis .* in a planar mechanism; axes are normal to the plane there: drop axis="
    )


def test_a_planar_slider_has_an_axis_of_two_numbers():
    m, arm, hand = pair("plane")
    m.add(Prismatic("slide", arm, hand, axis=(1, 2)))
    check(m)
    m.add(Prismatic("up", arm, hand, axis=(0, 0, 1)))
    one_mistake(m, r"joint 'up': axis .* \(a slider takes 2 numbers\)")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"axis": (0, 0, 0)}, r"axis \(0, 0, 0\) has no direction"),
        ({"axis": (0, np.nan, 1)}, r"axis \(0, nan, 1\) is not finite"),
        ({"axis": (0, 1)}, r"axis \(0, 1\); give 3 numbers"),
        ({"axis": "z"}, "axis 'z' is not a vector"),
        ({"at": (0, 1)}, r"at \(0, 1\) is not a place in this mechanism; give 3 numbers"),
        ({"at": (0, 1, np.inf)}, r"at \(0, 1, inf\) is not finite"),
        ({"on_parent": planar.Frame()}, "on_parent .* is not a place"),
        ({"on_child": spatial.translation(0, 0, np.nan)}, "on_child .* is not finite"),
        (
            {"on_child": Frame.of(Matrix.of(np.diag([1, 1, 2]).tolist()), (0, 0, 0))},
            "on_child .* is not turned by a rotation",
        ),
        (
            {"on_child": Frame.of(Matrix.of(np.diag([1, 1, -1]).tolist()), (0, 0, 0))},
            "on_child .* is not turned by a rotation",
        ),
        ({"at": (0, 0, 0), "on_child": (0, 0, 0)}, "at= and on_parent=/on_child= exclude each other"),
        ({"limits": (1, -1)}, r"limits \(1, -1\): lower is above upper"),
        ({"limits": (np.nan, 1)}, "limits .* not a number"),
        ({"limits": (1, 2, 3)}, r"limits \(1, 2, 3\); give \(lower, upper\)"),
        ({"damping": -1}, "damping -1 is negative"),
        ({"friction": -0.1}, "friction -0.1 is negative"),
        ({"stiffness": -5}, "stiffness -5 is negative"),
        ({"armature": -1e-9}, "armature -1e-09 is negative"),
        ({"damping": np.inf}, "damping inf is not finite"),
        ({"rest": np.nan}, "rest nan is not finite"),
        ({"limits": ("0", None)}, r"limits \('0', None\); give \(lower, upper\)"),
        ({"damping": (1, 2)}, r"damping \(1, 2\); give a number, or 1"),
        ({"damping": "oil"}, "damping 'oil'; give a number"),
        ({"damping": "1"}, "damping '1'; give a number"),
    ],
)
def test_numbers_of_a_joint_make_sense(options, words):
    m, arm, hand = pair()
    m.add(Revolute("extra", arm, hand, **options))
    one_mistake(m, f"^joint 'extra': {words}")


def test_one_sided_limits_and_negative_rest_are_fine():
    m, arm, hand = pair()
    m.add(Prismatic("stop", arm, hand, limits=(0, np.inf), rest=-1, stiffness=10, damping=0))
    m.add(Planar("plate", m.ground, hand, limits=[(-1, 1), (-2, 2), (0, 3)], damping=(1, 2, 3)))
    check(m)


def test_numbers_of_special_joints_make_sense():
    m, arm, hand = pair()
    m.add(Helical("screw", arm, hand, pitch=np.nan))
    m.add(Helical("text", arm, hand, pitch="1"))  # type: ignore[arg-type]
    m.add(Universal("cardan", arm, hand, axis=(1, 0, 0), axis2=(1, 1, 0)))
    m.add(Universal("half", arm, hand, axis=(1, 0, 0), axis2=(0, 0, 0)))
    screw, text, cardan, half = mistakes(m)
    assert text == "joint 'text': pitch '1'; give a number, the advance per turn in metres"
    assert screw == "joint 'screw': pitch nan; give a number, the advance per turn in metres"
    assert "joint 'cardan': axis (1, 0, 0) and axis2 (1, 1, 0) are not square" in cardan
    assert "joint 'half': axis2 (0, 0, 0) has no direction" in half


def test_couplings_join_two_joints_of_one_coordinate():
    m, _, hand = pair()
    m.add(Fixed("weld", m.ground, hand))
    m.add(Coupling("a", "wrist", "weld"))
    m.add(Coupling("b", "wrist", "shoulder"))
    m.add(Coupling("c", "shoulder", "shoulder", np.nan))
    fixed, twice, number, ring = mistakes(m)
    assert "coupling 'a': of: joint 'weld' has 0 coordinates" in fixed
    assert "coupling 'b': coupling 'a' leads joint 'wrist' already" in twice
    assert "coupling 'c': ratio nan" in number
    assert "coupling 'c': joints 'shoulder' follow each other in a ring" in ring


def test_a_ring_of_couplings_is_told_once():
    m, _, hand = pair()
    m.add(Revolute("third", m.ground, hand))
    for name, joint, of in (("a", "wrist", "shoulder"), ("b", "shoulder", "third"), ("c", "third", "wrist")):
        m.add(Coupling(name, joint, of))
    one_mistake(m, "'wrist', 'shoulder', 'third' follow each other in a ring")


def test_an_unreal_inertia_that_matters_is_a_mistake():
    m, _, _ = pair()
    for name, moments in (("plate", (1, 1, 1)), ("impossible", (1, 1, 3))):
        m.add(Fixed(f"{name} weld", m.ground, m.add(Body(name, Inertia(1, (0, 0, 0), np.diag(moments))))))
    one_mistake(m, "body 'impossible': principal moments .*triangle inequality")


def test_an_unreal_inertia_that_does_not_matter_is_a_warning():
    m, arm, hand = pair()
    arm.inertia = UNIT
    hand.inertia = Inertia(1e-6, (0, 0, 0), np.diag([0, 0, 3e-6]))
    with pytest.warns(UserWarning, match="mechanism 'pair' is used as given, but 'hand': principal moments"):
        check(m)


def test_a_place_that_is_said_in_the_frame_of_the_parent_is_warned_of():
    """As in URDF; here `at=` is a place in the world as drawn, and the chain would be a bundle of levers."""

    def chain(at):
        m = lw.Mechanism("chain")
        links = [
            m.add(
                lw.Body(f"link {i}", lw.Capsule(radius=0.02, length=0.1), mass=0.1, position=(0.1 * i, 0, 1))
            )
            for i in (1, 2)
        ]
        m.add(lw.Free("float", m.ground, links[0]))
        m.add(lw.Spherical("joint", *links, at=at))
        return m

    with pytest.warns(
        UserWarning, match=r"at=\(0.05, 0, 0\) is a place in the world .* give at=\(0.15, 0, 1\)"
    ):
        chain((0.05, 0, 0)).compile()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain((0.15, 0, 1)).compile()
        chain((3.0, 0, 0)).compile()  # far from both, but it is nowhere else
