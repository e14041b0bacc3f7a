"""Words of other packages are answered with ours, and the answers are names that there are."""

import contextlib
import io
import re
import subprocess
import sys

import pytest

import linkwork as lw
from linkwork.foreign_words import ATTRIBUTES, PUBLIC
from linkwork.mechanic import Editor
from linkwork.recording.series import BodyRecord, JointRecord
from linkwork.scene.real_time import RealTime
from linkwork.simulation.forest_recording import ForestRecording


@pytest.mark.parametrize(("words", "answer"), PUBLIC.items())
def test_a_public_name_of_others_is_answered_with_ours(words, answer):
    for name in re.findall(r"\blw\.(\w+)", answer):
        assert hasattr(lw, name), name
    first = words.split()[0]
    assert not hasattr(lw, first) or first in ("compile", "pi"), f"{first} is a name of ours"
    with pytest.raises(AttributeError, match=re.escape(answer)):
        getattr(lw, first.title())


@pytest.mark.parametrize("owner", ATTRIBUTES)
def test_an_attribute_of_others_is_answered_with_ours(owner):
    owners = {"Samples": lw.Recording, "JointRecord": JointRecord, "BodyRecord": BodyRecord}
    owners |= {"ForestRecording": ForestRecording, "RealTime": RealTime, "Editor": Editor}
    kind = owners.get(owner) or getattr(lw, owner)
    for words, answer in ATTRIBUTES[owner].items():
        for word in words.split():
            assert not hasattr(kind, word), f"{owner} has {word}"
        for name in re.findall(r"\{0\}\.(\w+)", answer):
            assert hasattr(kind, name) or _declared(kind, name) or _assigned(kind, name)
        for name in re.findall(r"\blw\.(\w+)", answer):
            assert hasattr(lw, name), name


def _declared(kind, name):
    return any(name in vars(each).get("__annotations__", {}) for each in kind.__mro__)


def _assigned(kind, name):
    """Return whether the constructor of a class, or of one that it is derived from, assigns an attribute."""
    sources = (each.__init__.__code__.co_names for each in kind.__mro__[:-1] if "__init__" in vars(each))
    return any(name in names for names in sources)


def test_a_name_that_nobody_knows_is_met_with_a_few():
    with pytest.raises(AttributeError, match=r"linkwork has no 'zzz'; there are \d+, such as 'A"):
        lw.zzz  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no 'jonts'; did you mean 'joints'"):
        lw.Mechanism().jonts  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("name", "answer"), [("Hinge", "lw.Revolute"), ("simulte", "did you mean 'simulate'")]
)
def test_an_import_is_answered_like_an_attribute(name, answer):
    with pytest.raises(ImportError, match=answer):
        exec(f"from linkwork import {name}")
    with pytest.raises(AttributeError, match=answer):
        getattr(lw, name)
    assert not hasattr(lw, name)


def test_a_part_of_the_package_is_imported_by_its_name():
    code = "from linkwork import contact, planar, Revolute; print(contact.__name__, planar.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["linkwork.contact", "linkwork.algebra.planar"]


@pytest.mark.parametrize(
    ("use", "answer"),
    [
        (lambda: lw.Material.steal, "Material has no 'steal'; did you mean 'steel'"),
        (lambda: lw.contact_laws.herz, "contact_laws has no 'herz'; did you mean 'hertz'"),
        (lambda: lw.Material(mu=0.5), "friction"),
        (lambda: lw.Material(e=0.5), "restitution"),
        (lambda: lw.Material(youngs_modulus=1e9), "young"),
    ],
)
def test_words_of_contact_are_answered_with_ours(use, answer):
    with pytest.raises((AttributeError, TypeError), match=answer):
        use()


@pytest.mark.parametrize(
    ("thing", "word"),
    [
        (lambda: lw, "simulte"),
        (lambda: lw.Material, "steal"),
        (lambda: lw.contact_laws, "herz"),
        (lambda: lw.examples.cart_pole(), "jonts"),
        (lambda: lw.examples.cart_pole().compile(), "forward_dynamic"),
        (lambda: lw.Frame(), "positon"),
    ],
)
def test_a_guess_is_printed_once(thing, word):
    """The interpreter adds one to an AttributeError that says whose attribute is missing."""
    code = f"try: thing.{word}\nexcept AttributeError: import sys; sys.excepthook(*sys.exc_info())"
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        exec(code, {"thing": thing()})
    assert printed.getvalue().lower().count("did you mean") == 1


def test_what_is_asked_for_and_not_there_is_explained_only_when_somebody_reads_it(monkeypatch):
    import linkwork.foreign_words as words

    asked = []
    monkeypatch.setattr(words, "hint", lambda word, known: asked.append(word) or "a hint")
    shape = lw.Sphere(1.0)
    assert getattr(shape, "weight_of_it", 3) == 3
    assert not asked
    with pytest.raises(AttributeError) as error:
        shape.weight_of_it  # noqa: B018
    assert not asked
    assert "a hint" in str(error.value)
    assert asked == ["weight_of_it"]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda m: m.inverse_dynamics(m.q_drawn, m.q_drawn, qdd=m.q_drawn), "here it is a="),
        (lambda m: m.forward_dynamics(m.q_drawn, qd=m.q_drawn), "here it is v="),
        (lambda m: m.mass_matrix(qpos=m.q_drawn), "here it is q="),
        (lambda m: m.mass_matrix(zzz=m.q_drawn), "known are 'q', 'independent', 'out'"),
        (lambda m: m.slices["pni"], "unknown joint 'pni'; did you mean 'pin'"),
    ],
)
def test_algorithms_answer_words_of_others(call, answer):
    with pytest.raises((TypeError, KeyError), match=re.escape(answer)):
        call(lw.examples.cart_pole().compile())
