"""What the names of a mechanism mean in arrays, and in what units."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from types import ModuleType
from typing import Any

from linkwork.recording.derive import ALGEBRA
from linkwork.recording.report import text


@dataclass(frozen=True)
class Layout:
    """Where the names of a mechanism are in arrays, and in what units."""

    space: str  # "space" or "plane"
    joints: Mapping[str, tuple[slice, slice]]  # name -> (slice in positions, slice in velocities)
    bodies: tuple[str, ...]
    constraints: Mapping[str, tuple[slice, str]]  # and drivers -> where their rows are, the unit of a force
    loads: Mapping[str, tuple[str, ...]]  # springs, motors, ... -> units of their force, "" if not known
    position_units: tuple[
        str, ...
    ]  # "rad", "m", or "1" for numbers of quaternions: of q, then of loop joints
    velocity_units: tuple[str, ...]  # "rad" or "m", per second: of v, then of loop joints
    nq: int
    nv: int
    drivers: Mapping[str, str] = field(default_factory=dict)  # -> "rad" or "m", of what each drives
    closing: tuple[str, ...] = ()  # joints and constraints that close loops, in the order of their gaps
    touching: bool = False  # whether bodies meet: there are contacts

    @property
    def slices(self) -> dict[str, tuple[slice, slice]]:
        """Where the joints are in q and v, without those that close loops."""
        constrained = {*self.constraints, *self.closing}
        return {name: parts for name, parts in self.joints.items() if name not in constrained}

    @property
    def curves(self) -> list[str]:
        """The constraints with unknowns of their own, which have positions."""
        return [name for name in self.constraints if self.joints[name][0].stop > self.joints[name][0].start]

    @property
    def algebra(self) -> ModuleType:
        return ALGEBRA[self.space]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of one sample of each derived quantity, except the forces of loads."""
        size, freedoms = self.algebra.dimension, self.algebra.freedoms
        loop_nq, loop_nv = len(self.position_units) - self.nq, len(self.velocity_units) - self.nv
        loops: dict[str, tuple[int, ...]] = {
            "loop_positions": (loop_nq,),
            "loop_velocities": (loop_nv,),
            "loop_accelerations": (loop_nv,),
            "loop_forces": (loop_nv,),
        }
        return {
            "accelerations": (self.nv,),
            "forces": (self.nv,),
            **(loops if self.loops else {}),
            **(
                {"row_forces": (max(rows.stop for rows, _ in self.constraints.values()),)}
                if self.constraints
                else {}
            ),
            "poses": (len(self.bodies), size, size + 1),
            **({"angles": (len(self.bodies),)} if self.space == "plane" else {}),
            **({"driver_laws": (len(self.drivers), 3)} if self.drivers else {}),
            "velocities": (len(self.bodies), freedoms),
            "body_accelerations": (len(self.bodies), freedoms),
            "body_momenta": (len(self.bodies), freedoms),
            "reactions": (len(self.joints), freedoms),
            **({"contact_forces": (len(self.bodies), size)} if self.touching else {}),
            **({"gaps": (len(self.closing),)} if self.closing else {}),
            "momentum": (freedoms,),
            "center_of_mass": (size,),
            "kinetic_energy": (),
            "potential_energy": (),
        }

    @property
    def loops(self) -> bool:
        """Whether joints that close loops have coordinates; they follow from those of the others."""
        return len(self.position_units) > self.nq

    def units(self, name: str, quantity: str) -> tuple[str, ...]:
        """Return the units of a quantity of a joint, body or load: one, or one per number."""
        if name in self.loads:
            return self.loads[name]
        if name in self.constraints and quantity == "force":
            rows, unit = self.constraints[name]
            return (unit,) * (rows.stop - rows.start)
        if name in self.drivers and quantity in COORDINATE_UNITS:
            return (COORDINATE_UNITS[quantity][self.drivers[name]],)
        if name in self.joints and quantity in COORDINATE_UNITS:
            in_q, in_v = self.joints[name]
            if quantity == "position":
                return self.position_units[in_q]
            return tuple(COORDINATE_UNITS[quantity][unit] for unit in self.velocity_units[in_v])
        return (UNITS[quantity],)

    def to_json(self) -> dict[str, Any]:
        joints = [[name, q.start, q.stop, v.start, v.stop] for name, (q, v) in self.joints.items()]
        return {
            "space": self.space,
            "joints": joints,
            "bodies": list(self.bodies),
            "constraints": [
                [name, rows.start, rows.stop, unit] for name, (rows, unit) in self.constraints.items()
            ],
            "loads": [[name, *units] for name, units in self.loads.items()],
            "drivers": [[name, unit] for name, unit in self.drivers.items()],
            "closing": list(self.closing),
            "touching": self.touching,
            "position_units": list(self.position_units),
            "velocity_units": list(self.velocity_units),
            "nq": self.nq,
            "nv": self.nv,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Layout":
        """Return the layout that `to_json` made these values of; ValueError if there is none."""
        joints = {text(name): (slice(a, b), slice(c, d)) for name, a, b, c, d in data["joints"]}
        layout = cls(
            space=text(data["space"]),
            joints=joints,
            bodies=tuple(map(text, data["bodies"])),
            constraints={text(name): (slice(a, b), text(unit)) for name, a, b, unit in data["constraints"]},
            loads={text(name): tuple(map(text, units)) for name, *units in data["loads"]},
            position_units=tuple(map(text, data["position_units"])),
            velocity_units=tuple(map(text, data["velocity_units"])),
            nq=int(data["nq"]),
            nv=int(data["nv"]),
            drivers={text(name): text(unit) for name, unit in data.get("drivers", ())},  # not in all files
            closing=tuple(map(text, data.get("closing", ()))),
            touching=bool(data.get("touching", False)),
        )
        if not (
            0 <= layout.nq <= len(layout.position_units) and 0 <= layout.nv <= len(layout.velocity_units)
        ):
            raise ValueError(f"{layout.nq} positions and {layout.nv} velocities do not fit the units")
        for units, side in ((layout.position_units, 0), (layout.velocity_units, 1)):
            parts = [part[side] for part in joints.values()]
            if not all(0 <= part.start <= part.stop <= len(units) for part in parts):
                raise ValueError(f"a joint lies outside the {len(units)} coordinates")
        if not all(0 <= rows.start <= rows.stop for rows, _ in layout.constraints.values()):
            raise ValueError("a constraint has rows before the first")
        units = {*layout.velocity_units, *layout.drivers.values()}
        if layout.space not in ALGEBRA or not units <= {"rad", "m", "1"}:
            raise ValueError(f"the space {layout.space!r} or a unit is unknown")
        return layout


def _moved(part: slice, by: int) -> slice:
    return slice(part.start + by, part.stop + by)


@singledispatch
def layout_of(model: Any) -> Layout:
    """Return where the names of a model's mechanism are in the arrays of its motions."""
    loop_units = model.loop_units
    behind = {name: (_moved(q, model.nq), _moved(v, model.nv)) for name, (q, v) in model.loop_slices.items()}
    return Layout(
        space=model.space,
        joints={name: model.slices[name] for name in model.joint_names} | behind,
        bodies=tuple(model.body_names),
        constraints={
            name: (model.equation_slices[name], unit) for name, unit in model.constraint_units.items()
        },
        loads={name: model.load_units.get(name, ("",)) for name in model.load_names},
        position_units=tuple(unit or "1" for unit in (*model.position_units, *loop_units[0])),
        velocity_units=(*model.coordinate_units, *loop_units[1]),
        nq=model.nq,
        nv=model.nv,
        drivers={
            name: "rad" if model.constraint_units[name] == "N m" else "m" for name in model.mechanism.drivers
        },
        closing=tuple(model.row_slices),
        touching=bool(model.contact_names),
    )


UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s²",
    "angle": "rad",
    "rotation": "1",
    "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s²",
    "momentum": "kg m/s",
    "angular_momentum": "kg m²/s",
    "contact_force": "N",
    "reaction.torque": "N m",
    "reaction.force": "N",
    "energy": "J",
    "kinetic_energy": "J",
    "potential_energy": "J",
    "work": "J",
    "power": "W",
}
COORDINATE_UNITS = {
    "position": {"rad": "rad", "m": "m", "1": "1"},
    "velocity": {"rad": "rad/s", "m": "m/s", "1": "1/s"},
    "acceleration": {"rad": "rad/s²", "m": "m/s²", "1": "1/s²"},
    "force": {"rad": "N m", "m": "N", "1": "J"},
}
WHOLE = ("energy", "kinetic_energy", "potential_energy", "work")
PARTS = {"reaction": ("reaction.torque", "reaction.force")}  # quantities that are of two units
