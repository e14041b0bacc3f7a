"""Loads as MJCF: motors and control laws as actuators, springs between points as tendons; and states as keys.

An actuator of MuJoCo does gain u + b0 + b1 length + b2 velocity, u and the force within ranges; so laws that
are such sums are written, whoever wrote them, and others are left out by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from linkwork.algebra.spatial import Frame
from linkwork.errors import FormatError, LinkworkError
from linkwork.formats.affine_law import FREE, Affine, Control, NotAffine, affine
from linkwork.formats.formula import flat
from linkwork.formats.formula_arguments import Scalar, Whole
from linkwork.formats.formula_law import law_of_function
from linkwork.formats.mjcf_drag import Drag
from linkwork.formats.spanning_tree import words
from linkwork.mechanism.body import Body
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.load import Load
from linkwork.mechanism.loads import Feedback, Motor, Wrench
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.springs import Spring
from linkwork.real_numbers import is_finite

ALIKE = 1e-12  # of weights that are to be in one proportion


class LoadsOut:
    """Elements of a file of MuJoCo for the loads of a mechanism, and what was left out."""

    def __init__(self, mechanism: Mechanism, joints: Sequence[Joint]) -> None:
        self.mechanism = mechanism
        self.joints = {joint.name: joint for joint in joints if joint.nv == 1}  # each one of MuJoCo's
        self.left_out: list[str] = []
        self.tendons: list[str] = []
        self.actuators: list[str] = []
        self.sites: dict[Body, list[str]] = {}
        self._names: set[tuple[str, str]] = set()
        self._inputs: set[str] = set()
        drags = self._drags()
        self.medium = "" if not drags else _medium(drags[0].law)
        for load in mechanism.loads.values():
            if load in drags:
                continue
            written = self._spring(load) if type(load) is Spring else self._actuator(load)
            if not written:
                self.left_out.append(f"load {load.name!r}")

    def _drags(self) -> list[Any]:
        """Return loads of one medium that slows all bodies down, as MuJoCo has it."""
        loads = self.mechanism.loads.values()
        drags = [load for load in loads if isinstance(load, Wrench) and isinstance(load.law, Drag)]
        media = {_medium(load.law) for load in drags if isinstance(load.law, Drag)}
        slowed = {str(getattr(load.on[0], "name", load.on[0])) for load in drags}
        heavy = {body.name for body in self.mechanism.bodies.values() if body.inertia.mass}
        return list(drags) if len(media) == 1 and slowed == heavy else []

    def _spring(self, load: Spring) -> bool:
        if not (is_finite(load.stiffness) and is_finite(load.damping)):
            return False
        a, b = (side for side in load.sides(self.mechanism.joints) if isinstance(side, Body))
        frames = [Frame(body.position.tolist(), body.rotation.tolist()) for body in (a, b)]
        rest = load.drawn(frames).rest
        name = self._name("tendon", load.name)
        ends = []
        for k, (body, at) in enumerate(((a, load.on_parent), (b, load.on_child))):
            site = f"{name}_{k + 1}"
            ends.append(f"<site site={quoteattr(site)}/>")
            place = np.zeros(3) if at is None else np.asarray(at, float)
            self.sites.setdefault(body, []).append(f'<site name={quoteattr(site)} pos="{words(place)}"/>')
        numbers = f'stiffness="{words(load.stiffness)}" damping="{words(load.damping)}"'
        said = f'name={quoteattr(name)} {numbers} springlength="{words(rest)}"'
        self.tendons.append(f"    <spatial {said}>{''.join(ends)}</spatial>")
        return True

    def _actuator(self, load: Load) -> bool:
        if not isinstance(load, Motor | Feedback) or type(load) not in (Motor, Feedback):
            return False
        names = [str(getattr(thing, "name", thing)) for thing in load.on]
        if not all(name in self.joints for name in names):
            return False
        try:
            pushes = list(self._pushes(load, names))
            levers, force = together(names, pushes)
        except (NotAffine, LinkworkError):
            return False
        controls = [key for key in force.terms if isinstance(key, Control)]
        if len(controls) > 1 or any(control.name in self._inputs for control in controls):
            return False  # MuJoCo has one control for each
        if levers == [1.0]:
            end = f"joint={quoteattr(names[0])}"
        else:
            passive = None if controls else _passive(force)
            tendon = self._name("tendon", load.name)
            end = f"tendon={quoteattr(tendon)}"
            ends = "".join(
                f'<joint joint={quoteattr(joint)} coef="{words(lever)}"/>'
                for joint, lever in zip(names, levers, strict=True)
            )
            self.tendons.append(f"    <fixed name={quoteattr(tendon)}{passive or ''}>{ends}</fixed>")
            if passive is not None:
                return True
        name = self._name("actuator", controls[0].name if controls else load.name)
        self._inputs.update(control.name for control in controls)
        self.actuators.append(f"    <general name={quoteattr(name)} {end} {_said(force, controls)}/>")
        return True

    def _pushes(self, load: Motor | Feedback, names: Sequence[str]) -> Iterator[Affine]:
        """Yield the forces on the joints of a load; terms are controls, and (q or v, joint)."""
        law = load.law
        if not callable(law):
            for given in flat(law):
                yield (
                    Affine(0.0, {Control(given.name): 1.0})
                    if isinstance(given, Input)
                    else Affine(float(given))
                )
            return
        if isinstance(load, Motor):
            one = law_of_function(law, [Scalar("t"), Scalar("q"), Scalar("v")])
            renamed: Mapping[Any, Any] = {(word,): (word, names[0]) for word in "qv"}
        else:
            slices = self.mechanism.compile().slices
            q, v = ({joint: pair[k] for joint, pair in slices.items()} for k in (0, 1))
            one, renamed = law_of_function(law, [Scalar("t"), Whole("q", q), Whole("v", v)]), {}
        for result in flat(one.formula.result):
            found = affine(one.formula, result)
            terms = {renamed.get(key, key): weight for key, weight in found.terms.items()}
            yield Affine(found.constant, terms, found.bounds)

    def _name(self, kind: str, name: str) -> str:
        while (kind, name) in self._names:
            name += "_"
        self._names.add((kind, name))
        return name


def together(joints: Sequence[str], pushes: Sequence[Affine]) -> tuple[list[float], Affine]:
    """Return levers and the force that together push joints so: of `length` and `rate`, which the levers sum.

    A force f pushes each joint by its lever times f, and length = sum of levers times q. The first joint that
    is pushed has the lever 1.
    """
    if len(pushes) != len(joints):
        raise NotAffine
    first = next((push for push in pushes if push.terms or push.constant), pushes[0])
    levers = [_proportion(push, first) for push in pushes]
    force: dict[Any, float] = {key: weight for key, weight in first.terms.items() if isinstance(key, Control)}
    for word, name in (("q", "length"), ("v", "rate")):
        weights = {
            key[1]: x for key, x in first.terms.items() if not isinstance(key, Control) and key[0] == word
        }
        if not weights:
            continue
        per = next(
            (weights.get(joint, 0.0) / lever for joint, lever in zip(joints, levers, strict=True) if lever)
        )
        expected = {joint: per * lever for joint, lever in zip(joints, levers, strict=True) if lever}
        if weights.keys() != expected.keys() or any(
            abs(weights[joint] - x) > ALIKE * abs(x) for joint, x in expected.items()
        ):
            raise NotAffine
        force[name] = per
    known = {key for key in first.terms if isinstance(key, Control) or key[0] in ("q", "v")}
    if known != first.terms.keys():
        raise NotAffine  # of time
    return levers, Affine(first.constant, force, first.bounds)


def _proportion(push: Affine, first: Affine) -> float:
    """Return how many times another sum one is."""
    key = next(iter(first.terms), None)
    whole, part = (
        (first.constant, push.constant) if key is None else (first.terms[key], push.terms.get(key, 0.0))
    )
    if push is first or not whole:
        return 1.0
    ratio = part / whole
    same = first.scaled(ratio)
    pairs = [(same.constant, push.constant), *zip(same.bounds, push.bounds, strict=True)] if ratio else []
    pairs += [
        (same.terms.get(k, 0.0), push.terms.get(k, 0.0)) for k in first.terms.keys() | push.terms.keys()
    ]
    if not ratio and (push.constant or push.terms):
        raise NotAffine
    if any(x != y and not abs(x - y) <= ALIKE * abs(x) for x, y in pairs):
        raise NotAffine
    return ratio


def _medium(drag: Drag) -> str:
    return f' density="{words(drag.density)}" viscosity="{words(drag.viscosity)}"'


def _passive(force: Affine) -> str | None:
    """Return the attributes of a tendon that has this force by itself, as a spring and a damper."""
    stiffness, damping = (-force.terms.get(word, 0.0) for word in ("length", "rate"))
    if force.bounds != FREE or stiffness < 0.0 or damping < 0.0 or (force.constant and not stiffness):
        return None
    said = f' stiffness="{words(stiffness)}" damping="{words(damping)}"'
    return said + (f' springlength="{words(force.constant / stiffness)}"' if stiffness else "")


def _said(force: Affine, controls: Sequence[Control]) -> str:
    """Return the attributes of an actuator that has this force."""
    gain = force.terms[controls[0]] if controls else 0.0
    said, bounds = [f'gainprm="{words(gain)}"'], force.bounds
    bias = (force.constant, force.terms.get("length", 0.0), force.terms.get("rate", 0.0))
    if any(bias):
        said.append(f'biastype="affine" biasprm="{words(bias)}"')
    for word, (low, high) in (
        ("ctrlrange", controls[0].bounds if controls else FREE),
        ("forcerange", bounds),
    ):
        if (low, high) != FREE:
            said.append(f'{word}="{words((max(low, -1e30), min(high, 1e30)))}"')
    return " ".join(said)


def keyframes(
    mechanism: Mechanism, joints: Sequence[tuple[Joint, Sequence[float]]]
) -> Iterator[tuple[str, str]]:
    """Yield states by name, and what MuJoCo has for them; joints are in its order, with where they begin."""
    for name, state in mechanism.states.items() if joints else ():
        velocities = state.get("velocities", {})
        q, v = [], []
        for joint, drawn in joints:
            position, velocity = state.get(joint.name, drawn), velocities.get(joint.name, np.zeros(joint.nv))
            position, velocity = np.ravel(position).astype(float), np.ravel(velocity).astype(float)
            if position.size != joint.nq or velocity.size != joint.nv:
                raise FormatError(
                    f"state {name!r}: joint {joint.name!r} has {joint.nq} coordinates; correct it"
                )
            if joint.nv == 6:  # MuJoCo has the velocity along the axes of the world, and first
                rotation = np.array(joint.motion(position.tolist()).R, float)
                velocity = np.r_[rotation @ velocity[3:], velocity[:3]]
            q.append(position)
            v.append(velocity)
        yield name, f'qpos="{words(np.concatenate(q))}" qvel="{words(np.concatenate(v))}"'
