"""Edits of parts and bodies."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, unknown
from linkwork.geometry import Mesh, Polygon, Solid
from linkwork.mechanic import bodies
from linkwork.mechanic.edited_mechanism import EditedMechanism
from linkwork.mechanic.joint_edits import anchor
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.spelling import require

Array = np.ndarray

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


class BodyEdits(EditedMechanism):
    """What can be done to bodies."""

    # parts

    def add_shape(self, shape: Solid, name: str = "", position: Sequence[float] = (0, 0, 0)) -> str:
        """Add a body of one shape; return its name."""
        require("add_shape: shape", shape, Solid, "a shape, such as lw.Box(0.1, 0.1, 0.1)")
        require("add_shape: name", name, str, "a text")
        with self._edit(f"add {name or type(shape).__name__.lower()}") as m:
            name = bodies.free_name(m, name or type(shape).__name__.lower())
            place = self.place_of(position)
            weighed = {} if shape.weighed else {"density": USUAL}
            return m.add(Body(name, shape, **weighed, position=place)).name

    def add_polygon(
        self,
        points: Sequence[Sequence[float]],
        thickness: float,
        name: str = "plate",
        position: Sequence[float] = (0, 0, 0),
    ) -> str:
        """Add a plate with an outline of points (n, 2) in its plane [m]; return its name."""
        return self.add_shape(Polygon(np.asarray(points, float)).extruded(thickness), name, position)

    # bodies

    def set_density(self, name: str, density: float) -> None:
        """Let the shapes of a body have a density [kg/m^3]."""
        with self._edit(f"density of {name}"):
            body = self.body(name)
            if not any(isinstance(part, Solid) for part in body.parts) and bodies.problems(body):
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
                bodies.exchange(
                    self.mechanism, body, bodies.remade(body, body.name, shapes, {"density": density})
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

    def set_color(self, name: str, color: Any) -> None:
        """Draw a body in a colour."""
        with self._edit(f"colour of {name}"):
            self.body(name).color = color

    def place(self, name: str, position: Sequence[float], rotation: Any = None) -> None:
        """Put a body somewhere else; its joints go with it as far as they are on it."""
        with self._edit(f"move {name}") as m:
            body = self._own(name)
            for joint in m.joints.values():
                if body in joint.bodies:
                    anchor(joint)
            body.position = self.place_of(position)
            if rotation is not None:
                body.rotation = rotation

    def rename(self, name: str, new: str) -> None:
        """Give an element another name."""
        if isinstance(new, str) and not new.strip():
            raise LinkworkError(f"rename: {name!r} to {new!r}; give a name that can be read")
        with self.lock:
            self.mechanism.rename(name, new)

    def _own(self, name: str) -> Body:
        """Return a body that is not ground."""
        if name == "ground":
            raise LinkworkError(
                "'ground' is the world, which stays where it is; take a body of the mechanism"
            )
        return self.body(name)

    def duplicate(self, name: str, shift: Sequence[float] | None = None) -> str:
        """Add a copy of a body beside it; return its name."""
        with self._edit(f"copy {name}") as m:
            body = self._own(name)
            size = float(np.ptp(_corners(body), axis=0).max()) if shift is None else 0.0
            way = (1.2 * size, 0, 0) if shift is None else self.place_of(shift)
            return bodies.duplicate(m, body, way).name

    def mirror(self, name: str, axis: str = "x") -> str:
        """Add the mirror image of a body; return its name."""
        if axis not in ("x", "y", "z"):
            raise ValueError(unknown("axis", axis, ("x", "y", "z")))
        with self._edit(f"mirror {name}") as m:
            return bodies.mirror(m, self._own(name), axis).name

    def merge(self, names: Sequence[str]) -> str:
        """Make one body of several; return its name, which is that of the first."""
        if isinstance(names, str) or len(set(names)) < 2:
            raise LinkworkError("merge: give two bodies or more")
        with self._edit(f"merge {', '.join(names)}") as m:
            return bodies.merge_bodies(m, [self.body(name) for name in names]).name

    def split(self, name: str) -> list[str]:
        """Take a body apart into its pieces; return their names."""
        with self._edit(f"split {name}") as m:
            return [body.name for body in bodies.split_body(m, self.body(name))]

    def repair(self, name: str) -> None:
        """Repair the meshes of a body, so that they have mass."""
        with self._edit(f"repair {name}") as m:
            bodies.repair_body(m, self.body(name), USUAL)

    def delete(self, name: str) -> None:
        """Remove an element, and whatever is on it."""
        with self._edit(f"delete {name}") as m:
            bodies.remove_with_users(m, m[name])

    def take_apart(self) -> None:
        """Remove whatever joins or moves bodies: the parts are left."""
        with self._edit("take apart") as m:
            for element in [each for each in m.elements if not isinstance(each, Body)]:
                if element in m:
                    bodies.remove_with_users(m, element)


def _corners(body: Body) -> Array:
    found = [np.asarray(shape.surface()[0]) for shape in body.parts if isinstance(shape, Solid)]
    return np.concatenate(found) if found else np.eye(3) * 0.1
