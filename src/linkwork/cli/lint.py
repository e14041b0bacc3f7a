"""What of a mechanism can be computed with, but can hardly be meant: each with its remedy."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwork.errors import FormatError, LinkworkError
from linkwork.formats.mesh_path import load_mesh_file, mesh_path
from linkwork.geometry.skin import Collision, MeshFile, Visual, skins
from linkwork.geometry.solid import Solid
from linkwork.mechanism.body import Body
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import plain

FAR_APART = 1e6  # of masses in one mechanism
WIDE, NARROW = 3.0, 1e-3  # radius of gyration, of the reach of a body's shapes and joints
HEAVY = 1e5  # density of a body; osmium has 22,600 [kg/m^3]
LONG = 100.0  # reach of a body, in metres where its drawing may be in millimetres
STRONG = 100.0  # gravity; the Sun's, at its surface, is 274 [m/s^2]
OPEN = 1e-6  # of the size of the mechanism: a joint whose sides are drawn this far apart does not fit


def findings(mechanism: Mechanism) -> list[str]:
    """List, in words, what is probably not meant in a mechanism."""
    bodies = list(mechanism.bodies.values())
    return [
        *_gravity(mechanism),
        *_masses(bodies),
        *(
            found
            for body in bodies
            for look in (_density, _moments, _place)
            for found in look(mechanism, body)
        ),
        *_drawing(mechanism),
        *_names(mechanism),
        *(found for body in (mechanism.ground, *bodies) for found in _files(body)),
    ]


def _masses(bodies: list[Body]) -> Iterator[str]:
    weighed = sorted((body for body in bodies if body.inertia.mass > 0.0), key=lambda body: body.inertia.mass)
    if weighed and weighed[-1].inertia.mass > FAR_APART * weighed[0].inertia.mass:
        light, heavy = weighed[0], weighed[-1]
        yield (
            f"body {light.name!r} has {light.inertia.mass:.3g} kg, and {heavy.name!r} "
            f"{heavy.inertia.mass:.3g} kg; "
            "masses are in kg, densities in kg/m^3, lengths in m: correct the unit of one of them"
        )


def _gravity(mechanism: Mechanism) -> Iterator[str]:
    size = float(np.linalg.norm(mechanism.gravity))
    if size > STRONG:
        yield f"gravity of {size:.3g} m/s^2; it is in metres per second squared: 9.81 on Earth"
    if mechanism.space == "space" and mechanism.gravity[2] > 0.5 * size:
        yield f"gravity {plain(mechanism.gravity)} m/s^2 points up; z is up: give (0, 0, -9.81)"


def _density(mechanism: Mechanism, body: Body) -> Iterator[str]:
    solids = [part for part in body.parts if isinstance(part, Solid)]
    volume = sum(solid.volume for solid in solids) if body.inertia.space == "space" else 0.0
    if volume > 0.0 and body.inertia.mass > HEAVY * volume:
        yield (
            f"body {body.name!r} has {body.inertia.mass / volume:.3g} kg/m^3, and steel 7850; "
            "correct its density, its mass or its size"
        )


def _place(mechanism: Mechanism, body: Body) -> Iterator[str]:
    """Find a body that is drawn far from where it weighs, or in another unit than metres."""
    boxes = [shape.bounds for shape in _shapes(body) if np.isfinite(shape.bounds).all()]
    if not boxes or not body.inertia.mass > 0.0 or body.inertia.space != "space":
        return
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    size = float(np.linalg.norm(high - low))
    away = float(np.linalg.norm(np.maximum(0.0, np.maximum(low - body.inertia.com, body.inertia.com - high))))
    if size > LONG:
        yield (
            f"body {body.name!r} is {size:.3g} m long; lengths are in metres: if millimetres are meant, "
            "multiply them by 0.001 (scale= of a mesh)"
        )
    if away > 2.0 * size:
        yield (
            f"body {body.name!r}: its centre of mass, {plain(body.inertia.com)}, is {away:.3g} m outside of "
            f"its drawing, which is {size:.3g} m long; correct com=, or the places of its shapes"
        )


def _moments(mechanism: Mechanism, body: Body) -> Iterator[str]:
    inertia = body.inertia
    if inertia.space != "space" or not inertia.mass > 0.0:
        return
    for problem in inertia.problems(allowed=1e-6 * float(np.trace(inertia.tensor))):
        yield f"body {body.name!r}: {problem}; give moments of a real body, or load with repair=True"
    reach = _reach(mechanism, body)
    radius = float(np.sqrt(max(np.trace(inertia.tensor) / 2.0, 0.0) / inertia.mass))
    if reach > 0.0 and not NARROW * reach <= radius <= WIDE * reach:
        yield (
            f"body {body.name!r}: its moments of inertia, {plain(np.diag(inertia.tensor))} kg m^2, "
            f"are those of "
            f"{inertia.mass:.3g} kg at {radius:.3g} m, and it reaches {reach:.3g} m; write kg m^2, "
            f"about the centre of mass"
        )


def _reach(mechanism: Mechanism, body: Body) -> float:
    """Return how far from its centre of mass the shapes and joints of a body are."""
    centre = body.inertia.com
    distances = [0.0]
    for joint in mechanism.joints.values():
        for side, frame in zip(joint.bodies, joint.frames(), strict=True):
            if side is body:
                distances.append(float(np.linalg.norm(np.array([float(x) for x in frame.p]) - centre)))
    for shape in _shapes(body):
        if np.isfinite(shape.bounds).all():
            distances.append(float(np.abs(np.asarray(shape.bounds) - centre).max()))
    return max(distances)


def _shapes(body: Body) -> list[Solid]:
    """Return what a body is made of, drawn with and touched by, as far as it can be read."""
    worn = [*skins(body.visuals, Visual), *skins(body.collisions, Collision)]
    found = [*body.parts, *(_read(skin.shape) for skin in worn)]
    return [shape for shape in found if isinstance(shape, Solid)]


def _read(shape: Any) -> Any:
    """Return a shape, that of a file if it can be read; what is wrong with that is found by itself."""
    if isinstance(shape, MeshFile):
        try:
            return load_mesh_file(shape, {})
        except (OSError, LinkworkError):
            return None
    return shape


def _drawing(mechanism: Mechanism) -> Iterator[str]:
    """Find joints whose two sides are not drawn where the joint lets them be."""
    if not mechanism.bodies:
        return
    places = np.array([body.position for body in mechanism.bodies.values()])
    size = max(1e-3, float(np.ptp(places, axis=0).max()))
    for joint in mechanism.joints.values():
        try:
            gap = np.abs(np.asarray(joint.phi(), float)).max(initial=0.0) if joint.num_constraints else 0.0
        except (TypeError, ValueError, LinkworkError):
            continue  # a joint that cannot be found from a pose is never asked where it is drawn
        if gap > OPEN * size:
            yield (
                f"joint {joint.name!r}: its two sides are drawn {gap:.3g} apart, which it does not "
                f"allow; move the "
                "bodies, or correct on_parent= and on_child=, or start from mechanism.assemble()"
            )


def _names(mechanism: Mechanism) -> Iterator[str]:
    seen: dict[str, str] = {}
    for name in mechanism:
        other = seen.setdefault(name.casefold().strip(), name)
        if other != name:
            yield f"{other!r} and {name!r} differ only by case or blanks; rename one of them"


def _files(body: Body) -> Iterator[str]:
    for skin in (*skins(body.visuals, Visual), *skins(body.collisions, Collision)):
        shape: Any = skin.shape
        if isinstance(shape, MeshFile):
            try:
                path = mesh_path(shape, {})
            except FormatError as problem:
                yield f"body {body.name!r}: {problem}"
                continue
            if not path.is_file():
                yield (
                    f"body {body.name!r}: mesh {shape.filename!r} is not at {path}; put it there, or give "
                    f"packages="
                )


def silently(mechanism: Mechanism) -> list[str]:
    """Return the findings, without warnings of what is looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return findings(mechanism)
