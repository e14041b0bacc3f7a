"""What is known of what is selected: numbers with their units, as they are now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.geometry import Mesh
from linkwork.view.constraint_drawing import Connection
from linkwork.view.drawn_pieces import JointMark
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment
from linkwork.view.tree_panel import in_words, words

Array = np.ndarray
Row = tuple[str, str, str, str]  # what, numbers, unit, and the channel that shows it over time

# options, with their units, of joints of one kind and of constraints and loads
_OF_JOINTS = {
    "Revolute": {"stiffness": "N m/rad", "damping": "N m s/rad", "friction": "N m"},
    "Prismatic": {"stiffness": "N/m", "damping": "N s/m", "friction": "N"},
}
_OF_CONNECTIONS = {
    "Spring": {"stiffness": "N/m", "damping": "N s/m", "rest": "m"},
    "TorsionSpring": {"stiffness": "N m/rad", "damping": "N m s/rad", "rest": "rad"},
    "Bushing": {"stiffness": "N/m", "damping": "N s/m"},
    "Distance": {"length": "m"},
    "Pulley": {"length": "m"},
    "Gear": {"ratio": "", "teeth": ""},
    "RackPinion": {"radius": "m"},
}
_ROUND_OFF = 1e-13  # of numbers in SI units
_HEAD = "\0"  # in place of numbers: the row is a heading


class Inspector:
    """A sheet of numbers in the panel."""

    def __init__(self, gui: Any, subject: Subject) -> None:
        self._sheet = gui.add_html("")
        self.subject = subject

    def show(self, name: str | None, moment: Moment) -> None:
        """Show what is known of an element now; of the whole, if nothing is selected."""
        self._sheet.content = sheet(*described(self.subject, name, moment))


def sheet(title: str, kind: str, rows: Iterable[Row]) -> str:
    """Return a sheet as HTML; names are shown as they are."""
    head = f"<h3>{escape(title)}</h3><div class='lw-what'>{escape(kind)}</div>"
    return rows_of(rows, head)


def rows_of(rows: Iterable[Row], head: str = "") -> str:
    """Return rows as HTML, below a head that is HTML already."""
    lines = [f"{head}<table>"]
    for what, numbers, unit, channel in rows:
        if numbers == _HEAD:
            lines.append(f'<tr class="head"><td colspan="4">{escape(what)}</td></tr>')
            continue
        drag = f" draggable=\"true\" data-lw-drag='{words('plot', channel)}'" if channel else ""
        plot = (
            f'<span class="lw-plot" role="button" data-lw=\'{words("plot", channel)}\'>plot</span>'
            if channel
            else ""
        )
        lines.append(
            f'<tr{drag}><th>{escape(what)}</th><td>{escape(numbers)}</td><td class="unit">{escape(unit)}</td>'
            f'<td class="plot">{plot}</td></tr>'
        )
    return f'<div class="lw-sheet">{"".join(lines)}</table></div>'


def described(subject: Subject, name: str | None, moment: Moment) -> tuple[str, str, list[Row]]:
    """Return the title, the kind and the rows of what is selected."""
    drawing = subject.drawing
    if name in drawing.bodies:
        return name, "body", list(_body_rows(subject, name, moment))
    marks = {mark.name: mark for mark in drawing.joints}
    if name in marks:
        return name, f"{marks[name].kind.lower()} joint", list(_joint_rows(subject, marks[name], moment))
    connected = {each.name: each for each in drawing.connections}
    if name in connected:
        return name, in_words(connected[name].kind), list(_connection_rows(subject, connected[name], moment))
    if name is not None:
        return name, "the world" if name == "ground" else "load", list(_channel_rows(subject, name, moment))
    return drawing.name, "nothing selected: click a body, or a row of the tree", list(_whole(subject, moment))


def _whole(subject: Subject, moment: Moment) -> Iterator[Row]:
    drawing = subject.drawing
    alone = len(drawing.bodies) == 1 and not drawing.masses.any()
    if alone and (of_mesh := _mesh_rows(subject, drawing.bodies[0])):  # a mesh that is looked at
        yield from of_mesh
        return
    yield "bodies", str(len(drawing.bodies)), "", ""
    yield "joints", str(len(drawing.joints)), "", ""
    yield "mass", f"{drawing.masses.sum():.5g}", "kg", ""
    yield "time", f"{moment.t:.4f}", "s", ""
    for channel in ("kinetic_energy", "potential_energy", "energy"):
        yield from _channel_rows(subject, channel, moment)


def _body_rows(subject: Subject, name: str, moment: Moment) -> Iterator[Row]:
    drawing = subject.drawing
    k = drawing.bodies.index(name)
    flat = drawing.space == "plane"
    of_mesh = _mesh_rows(subject, name)
    if drawing.masses[k] > 0.0 or not of_mesh:  # a mesh that is only looked at has none
        yield "mass", f"{drawing.masses[k]:.6g}", "kg", ""
        yield "centre", _vector(drawing.centers[k], flat), "m", ""
        moments = np.linalg.eigvalsh(drawing.inertias[k])
        yield "inertia", f"{moments[-1]:.5g}" if flat else _vector(moments, False), "kg m²", ""
    yield from of_mesh
    yield "now", _HEAD, "", ""
    pose, velocity = moment.poses[k], moment.velocities[k]
    yield "position", _vector(pose[:, 3], flat), "m", _known(subject, f"{name}.position")
    angles = np.round(np.degrees(turns(pose[:, :3])), 9)
    what = "angle" if flat else "turned"
    yield what, f"{angles[2]:.3f}" if flat else _vector(angles, False), "°", _known(subject, f"{name}.angle")
    yield "velocity", _vector(velocity[3:], flat), "m/s", _known(subject, f"{name}.velocity")
    spin = velocity[:3]
    yield "spin", f"{spin[2]:.4g}" if flat else _vector(spin, False), "rad/s", ""
    if subject.touching:
        yield from _channel_rows(subject, name, moment, only=("contact_force",))


def _mesh_rows(subject: Subject, name: str) -> list[Row]:
    """Return what is to be known of the mesh of a body that has one, looked up once."""
    if name not in subject.meshes:
        body = None if subject.model is None else subject.model.mechanism.bodies.get(name)
        shapes = (
            [] if body is None else [*body.parts, *(getattr(skin, "shape", skin) for skin in body.visuals)]
        )
        meshes = [shape for shape in shapes if isinstance(shape, Mesh)]
        subject.meshes[name] = _of_mesh(meshes[0]) if len(meshes) == 1 else []
    return subject.meshes[name]


def _of_mesh(mesh: Mesh) -> list[Row]:
    wrong = mesh.problems()
    rows = [
        ("size", side_by_side(np.ptp(np.asarray(mesh.vertices), axis=0)), "m", ""),
        ("triangles", f"{len(mesh.faces):,}", "", ""),
        ("area", f"{mesh.area:.5g}", "m²", ""),
        ("closed", f"no: {wrong[0]}" if wrong else "yes", "", ""),
    ]
    return rows if wrong else [*rows, ("volume", f"{mesh.volume:.5g}", "m³", "")]


def _joint_rows(subject: Subject, mark: JointMark, moment: Moment) -> Iterator[Row]:
    yield "between", f"{mark.parent} – {mark.child}", "", ""
    if mark.loop:
        yield "loop", "this joint closes one", "", ""
    joint = None if subject.model is None else subject.model.mechanism.joints.get(mark.name)
    if joint is not None:
        for low, high in joint.limit_pairs().tolist():
            if np.isfinite([low, high]).any():
                unit = {"Revolute": "rad", "Prismatic": "m"}.get(mark.kind, "rad, m")
                yield "limits", f"{low:.4g} … {high:.4g}", unit, ""
        yield from _given_rows(joint, _OF_JOINTS.get(mark.kind, dict.fromkeys(_OF_JOINTS["Revolute"], "")))
    yield "now", _HEAD, "", ""
    yield from _channel_rows(subject, mark.name, moment)


def _connection_rows(subject: Subject, each: Connection, moment: Moment) -> Iterator[Row]:
    """Return what a constraint, a driver or a load is on, what it was given, and what it does now."""
    if each.on:
        yield "on", " – ".join(each.on), "", ""
    if subject.model is not None and each.name in subject.model.mechanism:
        yield from _given_rows(subject.model.mechanism[each.name], _OF_CONNECTIONS.get(each.kind, {}))
    yield "now", _HEAD, "", ""
    numbers = {body: k for k, body in enumerate(subject.drawing.bodies)}
    poses = np.concatenate([moment.poses, np.eye(3, 4)[None]])
    for mark in subject.drawing.springs:
        if mark.name == each.name:
            a, b = (
                poses[numbers.get(body, -1)] @ (*point, 1.0)
                for body, point in ((mark.a, mark.on_a), (mark.b, mark.on_b))
            )
            yield "length", f"{np.linalg.norm(b - a):.5g}", "m", ""
    yield from _channel_rows(subject, each.name, moment)


def _given_rows(element: Any, units: Mapping[str, str]) -> Iterator[Row]:
    """Return the options of an element that it was given, and that are not zero."""
    for word, unit in units.items():
        value = getattr(element, word, None)
        if value is None or (not callable(value) and not np.any(np.asarray(value, object) != 0.0)):
            continue
        numbers = (
            "a law" if callable(value) else f"{value:.5g}" if isinstance(value, int | float) else f"{value}"
        )
        yield word, numbers, unit, ""


def _channel_rows(subject: Subject, name: str, moment: Moment, only: Sequence[str] = ()) -> Iterator[Row]:
    """Return what channels of an element say now: those that have a value at this moment."""
    known = subject.words_of(name)
    for word in known:
        if only and word not in only:
            continue
        channel = f"{name}.{word}" if word else name
        try:
            traces = subject.instant(moment).traces(channel)
        except (LinkworkError, KeyError, ValueError, AttributeError, TypeError):
            continue
        values = np.array([float(np.asarray(trace.values).ravel()[0]) for trace in traces])
        label = (word or name).replace("_", " ").replace(".", " ")
        yield label, side_by_side(values), traces[0].unit, _known(subject, channel)


def _known(subject: Subject, channel: str) -> str:
    """Return a channel, if it can be plotted."""
    return channel if subject.has(channel) else ""


def _vector(values: Array, flat: bool) -> str:
    return side_by_side(values[:2] if flat else values)


def side_by_side(values: Array) -> str:
    """Return numbers side by side, all with the decimals that give the largest four digits."""
    largest = float(np.abs(values).max(initial=0.0))
    shown = np.where(np.abs(values) < max(1e-9 * largest, _ROUND_OFF), 0.0, values) + 0.0
    if len(values) == 1 or not 1e-4 <= largest < 1e5:
        return ",  ".join(f"{x:.4g}" if len(values) == 1 else f"{x:.3g}" for x in shown)
    places = min(max(0, 3 - int(np.floor(np.log10(largest)))), 5)
    return ",  ".join(f"{x:.{places}f}" for x in np.round(shown, places) + 0.0)


def without_noise(values: Array) -> tuple[float, ...]:
    """Return numbers in SI units, and zero for what rounding has left of it."""
    return tuple(0.0 if abs(x) < _ROUND_OFF else float(x) for x in values)


def turns(rotation: Array) -> Array:
    """Return the angles (3,) about the fixed axes x, then y, then z, that make up a rotation [rad]."""
    sine = -float(rotation[2, 0])
    pitch = np.arcsin(np.clip(sine, -1.0, 1.0))
    if abs(sine) > 1.0 - 1e-12:  # x and z turn about the same line: z is taken as 0
        return np.array([np.arctan2(sine * rotation[0, 1], sine * rotation[0, 2]), pitch, 0.0])
    return np.array(
        [np.arctan2(rotation[2, 1], rotation[2, 2]), pitch, np.arctan2(rotation[1, 0], rotation[0, 0])]
    )
