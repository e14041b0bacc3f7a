"""The editor: what is done to a mechanism by hand, each edit one entry of its journal. It knows no page."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.atomic import write_atomically
from linkwork.errors import AssemblyError, LinkworkError, unknown
from linkwork.formats import save
from linkwork.formats.formula_arguments import Scalar, coordinates_of
from linkwork.formats.formula_law import Law, law_of_text
from linkwork.formats.mechanism_json import mechanism_of_text, mechanism_text
from linkwork.geometry import Mesh, Polygon, Solid
from linkwork.mechanic import bodies as body_edits
from linkwork.mechanic.advice import Advice, advice
from linkwork.mechanic.autosave import Autosave
from linkwork.mechanic.dragging import pulled
from linkwork.mechanic.part_files import read_part, read_sent, stem_of
from linkwork.mechanic.python_script import script
from linkwork.mechanic.snapping import Feature, body_features
from linkwork.mechanism.body import Body
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.joints import CATALOGUE
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.springs import Spring
from linkwork.model.compile import compile_now
from linkwork.model.state import State

Array = np.ndarray

KINDS = {kind.__name__: kind for kind in CATALOGUE}
DENSITIES = {  # [kg/m^3], rounded: steel, aluminium, ... as handbooks have them
    "steel": 7850.0,
    "aluminium": 2700.0,
    "brass": 8500.0,
    "titanium": 4500.0,
    "plastic (ABS)": 1050.0,
    "wood (oak)": 700.0,
    "water": 1000.0,
}
USUAL = DENSITIES["steel"]
OPTIONS = ("limits", "stiffness", "rest", "damping", "friction", "armature")  # of joints, as numbers


class Editor:
    """A mechanism, and all that can be done to it: `undo()` takes back whatever was done last.

    >>> editor = Editor()
    >>> from linkwork.geometry import Box
    >>> editor.add_shape(Box(0.1, 0.02, 0.02), "crank")
    'crank'
    >>> editor.join("Revolute", "ground", "crank", (0, 0, 0), axis=(0, 1, 0))
    'revolute'
    >>> editor.advice().summary
    '1 degree of freedom'
    """

    def __init__(self, mechanism: Mechanism | None = None, *, autosave: Path | None = None) -> None:
        self.mechanism = Mechanism("mechanism") if mechanism is None else mechanism
        self.lock = threading.RLock()
        self.model: Any = None  # of the mechanism as it is, None while it has mistakes
        self.problem: Exception | None = None
        self._seen = -1  # changes that the model knows
        self._count = 0
        self._saved = 0  # changes that are in a file
        self._places: dict[int, tuple[Any, list[Feature]]] = {}
        self._stop: Callable[[], None] = self.mechanism.observe(self._heard)
        self.opened: list[Callable[[], None]] = []  # called when another mechanism is edited
        self._autosave = None if autosave is None else Autosave(autosave, self._draft)

    def close(self, *, keep_draft: bool = False) -> None:
        """End; the draft goes, unless it is to be kept."""
        self._stop()
        if self._autosave is not None:
            self._autosave.close(keep=keep_draft)

    def _heard(self, change: Any) -> None:
        self._count += 1
        if self._autosave is not None:
            self._autosave.changed()

    @contextmanager
    def _edit(self, text: str) -> Iterator[Mechanism]:
        with self.lock, self.mechanism.edit(text):
            yield self.mechanism

    # what there is

    def text(self) -> str:
        """Return the mechanism as the text of its file."""
        with self.lock:
            return mechanism_text(self.mechanism)

    def _draft(self) -> str:
        """Return the text without making those wait who edit meanwhile, if that can be."""
        for _ in range(3):
            count, mechanism = self._count, self.mechanism
            try:
                text = mechanism_text(mechanism)
            except Exception:  # of a mechanism that is half changed, anything
                if self._count == count:
                    raise
                continue
            if self._count == count:
                return text
        return self.text()

    def body(self, name: str) -> Body:
        """Return a body, or ground, by name."""
        if name == "ground":
            return self.mechanism.ground
        if name not in self.mechanism.bodies:
            raise KeyError(unknown("body", name, self.mechanism.bodies))
        return self.mechanism.bodies[name]

    def joint(self, name: str) -> Joint:
        """Return a joint by name."""
        if name not in self.mechanism.joints:
            raise KeyError(unknown("joint", name, self.mechanism.joints))
        return self.mechanism.joints[name]

    def features(self, name: str) -> list[Feature]:
        """Return the places of a body that joints snap to, in the world as drawn."""
        body = self.body(name)
        key = id(body)
        if key not in self._places or self._places[key][0] is not body.parts:
            self._places[key] = body.parts, body_features(body)
        X = body_edits.pose_of(body)
        R, p = X[:, :3], X[:, 3]
        return [Feature(f.kind, R @ f.point + p, R @ f.axis, f.radius) for f in self._places[key][1]]

    # after every edit

    def refresh(self) -> Any:
        """Return the model of the mechanism as it is; None while there are mistakes."""
        with self.lock:
            if self._seen == self._count:
                return self.model
            seen, like = self._count, self.model
            try:
                form = "rolled" if like is None else like.form
                self.model = compile_now(self.mechanism, form, floating=True, like=like)
                self.problem, self._seen = None, seen
                self.start()
            except AssemblyError as error:
                self.problem = error
            except Exception as error:  # mistakes in the description, or whatever a law raises
                self.model, self.problem = None, error
            self._seen = seen
            return self.model

    def _whole(self) -> Any:
        """Return the model of the mechanism as it is; say why there is none."""
        if (model := self.refresh()) is None:
            raise LinkworkError(f"it cannot be moved yet: {self.problem}")
        return model

    def start(self) -> State:
        """Return the mechanism at rest as drawn, loops closed; AssemblyError if they cannot be."""
        model = self._whole()
        return State(model.assemble(model.q_drawn), np.zeros(model.nv))

    def advice(self) -> Advice:
        """Return what is to be said of the mechanism as it is: freedoms, mistakes, remedies."""
        with self.lock:
            return advice(self.mechanism, self.refresh(), self.problem)

    # undo and redo

    def undo(self) -> str:
        """Take back the last edit; return what it was."""
        with self.lock:
            return self.mechanism.undo().text or "a change"

    def redo(self) -> str:
        """Make the edit again that was taken back last; return what it was."""
        with self.lock:
            return self.mechanism.redo().text or "a change"

    # parts

    def add_file(self, path: str | Path, *, scale: float | None = None) -> list[str]:
        """Add a part from a file, or all of a mechanism; return the names of the bodies."""
        path = Path(path)
        return self._take(read_part(path, scale), stem_of(path.name))

    def add_sent(self, name: str, content: bytes, *, scale: float | None = None) -> list[str]:
        """Add a part that a page has sent."""
        return self._take(read_sent(name, content, scale), stem_of(name))

    def _take(self, part: Mesh | Mechanism, name: str) -> list[str]:
        if isinstance(part, Mechanism):
            if self.mechanism.elements:
                raise LinkworkError(f"{name}: a whole mechanism; begin with it, and add parts to it")
            self.open(part)
            return list(part.bodies)
        with self._edit(f"add {name}") as m:
            centre = part.vertices.mean(axis=0) if part.problems() else part.centre
            mesh = part.like(part.vertices - centre, part.faces, ())
            body = body_edits.weighed_body(body_edits.free_name(m, name), mesh, USUAL, position=centre)
            return [m.add(body).name]

    def add_shape(self, shape: Solid, name: str = "", position: Sequence[float] = (0, 0, 0)) -> str:
        """Add a body of one shape; return its name."""
        with self._edit(f"add {name or type(shape).__name__.lower()}") as m:
            name = body_edits.free_name(m, name or type(shape).__name__.lower())
            place = position if m.space == "space" else tuple(position)[:2]
            weighed = {} if shape.weighed else {"density": USUAL}
            return m.add(Body(name, shape, **weighed, position=place)).name

    def add_polygon(self, points: Sequence[Sequence[float]], thickness: float, name: str = "plate") -> str:
        """Add a plate with an outline of points (n, 2) in its plane [m]; return its name."""
        return self.add_shape(Polygon(np.asarray(points, float)).extruded(thickness), name)

    # bodies

    def set_density(self, name: str, density: float) -> None:
        """Let the shapes of a body have a density [kg/m^3]."""
        with self._edit(f"density of {name}"):
            body = self.body(name)
            if not any(isinstance(part, Solid) for part in body.parts) and body_edits.problems(body):
                mesh = next(skin for skin in body.visuals if isinstance(getattr(skin, "shape", skin), Mesh))
                body.inertia = getattr(mesh, "shape", mesh).hull().inertia(density)
            elif body.weighed:
                body.density = density
            else:
                shapes = [part for part in body.parts if isinstance(part, Solid)]
                if not shapes:
                    raise LinkworkError(
                        f"body {name!r} has no shape that a density could fill; give it a mass"
                    )
                body_edits.exchange(
                    self.mechanism, body, body_edits.remade(body, body.name, shapes, {"density": density})
                )

    def set_mass(self, name: str, mass: float) -> None:
        """Let a body have a mass [kg]; its inertia follows."""
        with self._edit(f"mass of {name}"):
            body = self.body(name)
            if body.weighed:
                body.mass = mass
            else:
                factor = mass / (body.inertia.mass or 1.0)
                body.inertia = Inertia(mass, body.inertia.com, body.inertia.tensor * factor)

    def set_inertia(self, name: str, inertia: Inertia) -> None:
        """Let a body have this inertia, whatever its shapes say."""
        with self._edit(f"inertia of {name}"):
            self.body(name).inertia = inertia

    def set_color(self, name: str, color: Any) -> None:
        """Draw a body in a colour."""
        with self._edit(f"colour of {name}"):
            self.body(name).color = color

    def place(self, name: str, position: Sequence[float], rotation: Any = None) -> None:
        """Put a body somewhere else; its joints go with it as far as they are on it."""
        with self._edit(f"move {name}") as m:
            body = self.body(name)
            for joint in m.joints.values():
                if body in joint.bodies:
                    anchor(joint)
            body.position = np.asarray(position, float)[: len(body.position)]
            if rotation is not None:
                body.rotation = rotation

    def rename(self, name: str, new: str) -> None:
        """Give an element another name."""
        with self.lock:
            self.mechanism.rename(name, new)

    def duplicate(self, name: str, shift: Sequence[float] | None = None) -> str:
        """Add a copy of a body beside it; return its name."""
        with self._edit(f"copy {name}") as m:
            body = self.body(name)
            size = float(np.ptp(_corners(body), axis=0).max()) if shift is None else 0.0
            return body_edits.duplicate(m, body, (1.2 * size, 0, 0) if shift is None else shift).name

    def mirror(self, name: str, axis: str = "x") -> str:
        """Add the mirror image of a body; return its name."""
        with self._edit(f"mirror {name}") as m:
            return body_edits.mirror(m, self.body(name), axis).name

    def merge(self, names: Sequence[str]) -> str:
        """Make one body of several; return its name, which is that of the first."""
        if len(set(names)) < 2:
            raise LinkworkError("merge: give two bodies or more")
        with self._edit(f"merge {', '.join(names)}") as m:
            return body_edits.merge_bodies(m, [self.body(name) for name in names]).name

    def split(self, name: str) -> list[str]:
        """Take a body apart into its pieces; return their names."""
        with self._edit(f"split {name}") as m:
            return [body.name for body in body_edits.split_body(m, self.body(name))]

    def repair(self, name: str) -> None:
        """Repair the meshes of a body, so that they have mass."""
        with self._edit(f"repair {name}") as m:
            body_edits.repair_body(m, self.body(name), USUAL)

    def delete(self, name: str) -> None:
        """Remove an element, and whatever is on it."""
        with self._edit(f"delete {name}") as m:
            body_edits.remove_with_users(m, m[name])

    # joints

    def join(
        self,
        kind: str,
        parent: str,
        child: str,
        at: Any,
        *,
        axis: Sequence[float] | None = None,
        rotation: Any = None,
        name: str = "",
    ) -> str:
        """Join two bodies at a place of the world as drawn, along an axis or in a frame; return the name."""
        if kind not in KINDS:
            raise ValueError(unknown("kind of joint", kind, KINDS))
        if parent == child:
            raise LinkworkError(f"join: {parent!r} to itself; choose two bodies")
        with self._edit(f"join {parent} and {child}") as m:
            name = body_edits.free_name(m, name or kind.lower())
            algebra = ALGEBRA[m.space]
            place = [float(x) for x in at][: algebra.dimension]
            frame: Any = place if rotation is None else algebra.Frame(place, np.asarray(rotation).tolist())
            joint = KINDS[kind](name, self.body(parent), self.body(child), at=frame, axis=axis)
            m.add(joint)
            anchor(joint)
            return name

    def place_joint(self, name: str, position: Any, rotation: Any) -> None:
        """Put the frame of a joint, on both bodies, to a place of the world as drawn."""
        with self._edit(f"place {name}"):
            joint = self.joint(name)
            algebra = joint.algebra
            size = algebra.dimension
            there = algebra.Frame(
                [float(x) for x in position][:size], np.asarray(rotation, float)[:size, :size].tolist()
            )
            joint.at = joint.axis = None
            joint.on_parent, joint.on_child = (frame.local(there) for frame in map(_drawn, joint.bodies))

    def joint_pose(self, name: str) -> Array:
        """Return where the frame of a joint is, as drawn on its parent, (3, 4)."""
        joint = self.joint(name)
        X, frame = body_edits.pose_of(joint.parent), joint.frames()[0]
        size = joint.algebra.dimension
        rows = np.array([float(x) for x in frame.scalars()]).reshape(size, size + 1)
        on_parent = np.eye(3, 4)
        on_parent[:size, :size], on_parent[:size, 3] = rows[:, :size], rows[:, size]
        return np.column_stack([X[:, :3] @ on_parent[:, :3], X[:, :3] @ on_parent[:, 3] + X[:, 3]])

    def flip(self, name: str) -> None:
        """Turn the axis of a joint round."""
        X = self.joint_pose(name)
        turn = np.diag([1.0, -1.0, -1.0]) if self.mechanism.space == "space" else np.diag([-1.0, -1.0, 1.0])
        self.place_joint(name, X[:, 3], X[:, :3] @ turn)

    def change_joint(self, name: str, word: str, value: Any) -> None:
        """Set an option of a joint: limits, stiffness, rest, damping, friction or armature."""
        if word not in OPTIONS:
            raise ValueError(unknown("option of a joint", word, OPTIONS))
        with self._edit(f"{word} of {name}"):
            joint = self.joint(name)
            setattr(joint, word, value)
            if mistakes := joint.mistakes():
                raise LinkworkError(f"joint {name!r}: {mistakes[0]}")

    def change_kind(self, name: str, kind: str) -> None:
        """Make a joint one of another kind, at the same place; options that it cannot have are dropped."""
        if kind not in KINDS:
            raise ValueError(unknown("kind of joint", kind, KINDS))
        with self._edit(f"make {name} a {kind.lower()}") as m:
            old = self.joint(name)
            frames = old.frames()
            new = KINDS[kind](name, old.parent, old.child, on_parent=frames[0], on_child=frames[1])
            for user in [*m.loads.values(), *m.constraints.values(), *m.drivers.values()]:
                if any(end is old or end == name for end in user.on) and new.nv != old.nv and user in m:
                    body_edits.remove_with_users(m, user)
            m.add(new)
            for user in (*m.loads.values(), *m.constraints.values(), *m.drivers.values()):
                if any(end is old for end in user.on):
                    user.on = tuple(new if end is old else end for end in user.on)
            m.remove(old)

    # what moves it

    def drive(self, joint: str, law: str | float, name: str = "") -> str:
        """Let a joint follow a formula of time such as "0.3 * sin(2 * t)"; return the driver's name."""
        with self._edit(f"drive {joint}") as m:
            made = Driver(body_edits.free_name(m, name or f"{joint} driver"), self.joint(joint), _law(law))
            return self._acting(m.add(made))

    def motor(self, joint: str, law: str | float, name: str = "") -> str:
        """Drive a joint by a force, a formula of t, q and v [N m, N]; return the motor's name."""
        with self._edit(f"motor on {joint}") as m:
            made = self.joint(joint)
            given = [Scalar("t"), coordinates_of("q", made.nq), coordinates_of("v", made.nv)]
            motor = Motor(body_edits.free_name(m, name or f"{joint} motor"), made, _law(law, given))
            return self._acting(m.add(motor))

    def spring(
        self,
        a: str,
        b: str,
        on_a: Sequence[float],
        on_b: Sequence[float],
        stiffness: float,
        damping: float = 0.0,
    ) -> str:
        """Put a spring and damper between points of two bodies; return its name."""
        with self._edit(f"spring between {a} and {b}") as m:
            name = body_edits.free_name(m, "spring")
            ends = {"on_parent": tuple(on_a), "on_child": tuple(on_b)}
            made = Spring(name, self.body(a), self.body(b), stiffness=stiffness, damping=damping, **ends)
            return self._acting(m.add(made))

    def _acting(self, element: Any) -> str:
        if mistakes := element.mistakes():
            raise LinkworkError(f"{element.name!r}: {mistakes[0]}")
        return element.name

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Let things fall this way [m/s^2]."""
        with self._edit("gravity"):
            self.mechanism.gravity = gravity

    # moving it by hand

    def pull(self, q: Array, body: str, point: Array, target: Array) -> Array:
        """Return the position in which a point of a body comes nearest to a place, from q on."""
        return pulled(self._whole(), q, body, point, target)

    def keep_pose(self, q: Array) -> None:
        """Draw the mechanism as it is at a position."""
        with self.lock:
            model = self._whole()
            poses, names = model.poses(q).array, model.body_names
            with self.mechanism.edit("move the mechanism"):
                for joint in self.mechanism.joints.values():
                    anchor(joint)
                for name, pose in zip(names, poses, strict=True):
                    body, size = self.mechanism.bodies[name], pose.shape[0]
                    if np.abs(pose - np.column_stack([body.rotation, body.position])).max() > 1e-15:
                        body.position, body.rotation = pose[:, size], _square(pose[:, :size])

    # files

    def open(self, mechanism: Mechanism) -> None:
        """Edit another mechanism; this one, with its journal, is gone."""
        with self.lock:
            self._stop()
            self.mechanism, self.model, self.problem = mechanism, None, None
            self._count, self._seen = self._count + 1, -1
            self._places.clear()
            self._stop = mechanism.observe(self._heard)
            if self._autosave is not None:
                self._autosave.changed()
        for told in self.opened:
            told()

    def open_text(self, text: bytes) -> None:
        """Edit the mechanism of a text, as `text()` returns it."""
        self.open(mechanism_of_text(text))

    def save(self, path: str | Path) -> None:
        """Write the mechanism: `.json`, `.py` for a script, or any format that mechanisms are written in."""
        path = Path(path)
        with self.lock:
            if path.suffix.lower() == ".py":
                write_atomically(path, [self.script().encode("utf-8")])
            else:
                save(self.mechanism, path)
            self._saved = self._count

    @property
    def unsaved(self) -> bool:
        """Whether there is something that was not saved since it was changed."""
        return bool(self.mechanism.elements) and self._count != self._saved

    def script(self) -> str:
        """Return a Python script that builds the same mechanism, bit for bit."""
        with self.lock:
            return script(self.mechanism)


def anchor(joint: Joint) -> None:
    """Let a joint be said by frames on its bodies, so that it stays on them when they are moved."""
    if joint.at is None and joint.axis is None and joint.on_parent is not None and joint.on_child is not None:
        return
    on_parent, on_child = joint.frames()
    own = [word for word in ("axis2",) if getattr(joint, word, None) is not None]
    if own:  # a universal joint is said by its axes
        return
    joint.at = joint.axis = None
    joint.on_parent, joint.on_child = on_parent, on_child


def _drawn(body: Body) -> Any:
    algebra = ALGEBRA[body.space]
    return algebra.Frame(body.position.tolist(), body.rotation.tolist())


def _law(law: str | float, arguments: Sequence[Any] = (Scalar("t"),)) -> float | Law:
    """Return a number, or a formula; BadFormula says what is wrong with it."""
    if not isinstance(law, str):
        return float(law)
    try:
        return float(law)
    except ValueError:
        return law_of_text(law, list(arguments))


def _square(rotation: Array) -> Array:
    """Return the rotation nearest to a matrix that is one but for rounding."""
    left, _, right = np.linalg.svd(rotation)
    return left @ right


def _corners(body: Body) -> Array:
    found = [np.asarray(shape.surface()[0]) for shape in body.parts if isinstance(shape, Solid)]
    return np.concatenate(found) if found else np.eye(3) * 0.1
