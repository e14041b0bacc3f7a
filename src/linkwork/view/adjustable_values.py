"""What can be changed by hand while a mechanism moves: inputs, forces of motors and joints, drivers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.mechanism.driver import Driver
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.loads import Motor
from linkwork.view.slider_folder import SliderFolder

INPUT, FORCE, DRIVER = "input", "force", "driver"
_JOINTS = 60  # that get a slider, of a mechanism without anything to change
_PARTS = 200  # of the way of a slider
_BESIDE = "is added to what its law says"


@dataclass(frozen=True)
class Adjustable:
    """A number with a range: an input, the force in a joint, or where a driver is."""

    kind: str  # INPUT, FORCE or DRIVER
    name: str  # of the input, joint or driver
    label: str  # what it is called, with its unit
    value: float  # at first
    low: float
    high: float
    of: frozenset[str] = frozenset()  # the joint, its bodies, what acts in it: its slider is theirs
    hint: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.name


def adjustables(model: Any) -> list[Adjustable]:
    """Return all that laws leave open: inputs, motors, drivers; if that is nothing, the first joints."""
    return [*_inputs(model), *_motors(model), *_drivers(model)] or list(_joints(model))


def _inputs(model: Any) -> Iterator[Adjustable]:
    units, of = {}, {}
    for load in model.mechanism.loads.values():
        if isinstance(load, Motor) and isinstance(load.law, Input):
            units[load.law.name] = _force_unit(model, _joint_of(load))
            of[load.law.name] = _ends(model, load.name, _joint_of(load))
    for driver in model.mechanism.drivers.values():
        if isinstance(driver.law, Input):
            units[driver.law.name] = _unit(driver)
            of[driver.law.name] = _ends(model, driver.name, driver.sides()[0].name)
    for name, value in model.inputs.items():
        unit = units.get(name, "")
        most = max(2.0 * abs(value), {"N m": _torque, "N": _force}.get(unit, _one)(model))
        label = f"{name} [{unit}]" if unit else name
        yield Adjustable(INPUT, name, label, value, -most, most, of.get(name, frozenset()))


def _motors(model: Any) -> Iterator[Adjustable]:
    """Motors with a number, in its place; with a law, beside it."""
    for load in model.mechanism.loads.values():
        if not isinstance(load, Motor) or isinstance(load.law, Input):
            continue
        joint = _joint_of(load)
        if joint not in model.joint_names or model.joints[joint].nv != 1:
            continue
        constant = not callable(load.law)
        value = float(np.asarray(load.law, float).ravel()[0]) if constant else 0.0
        yield _pushed(model, joint, load.name, value, None if constant else _BESIDE)


def _drivers(model: Any) -> Iterator[Adjustable]:
    """Drivers with a number, in its place; with a law, beside it; those that read an input have that."""
    for driver in model.mechanism.drivers.values():
        if isinstance(driver.law, Input):
            continue
        constant = not callable(driver.law)
        value = float(driver.law) if constant else 0.0  # type: ignore[arg-type]
        most = np.pi if driver.turns else 0.5 * model.size
        low, high = value - most, value + most
        side = driver.sides()[0]
        if constant and isinstance(side, Joint):
            least, greatest = side.limit_pairs()[int(driver.component)]
            low, high = max(low, float(least)), min(high, float(greatest))
        label = f"{driver.name} [{_unit(driver)}]"
        if low < high:
            of = _ends(model, driver.name, side.name)
            hint = None if constant else _BESIDE
            yield Adjustable(DRIVER, driver.name, label, value, low, high, of, hint)


def _joints(model: Any) -> Iterator[Adjustable]:
    single = [name for name in model.joint_names if model.joints[name].nv == 1]
    return (_pushed(model, name, name, 0.0) for name in single[:_JOINTS])


def _pushed(model: Any, joint: str, what: str, value: float, hint: str | None = None) -> Adjustable:
    unit = _force_unit(model, joint)
    most = max(2.0 * abs(value), (_torque if unit == "N m" else _force)(model))
    return Adjustable(FORCE, joint, f"{what} [{unit}]", value, -most, most, _ends(model, joint), hint)


def _ends(model: Any, *names: str) -> frozenset[str]:
    """Return these names, and those of the bodies that joints among them are on, without ground."""
    joints = [model.mechanism.joints[name] for name in names if name in model.mechanism.joints]
    return frozenset({*names, *(body.name for joint in joints for body in joint.bodies)} - {"ground"})


def _joint_of(motor: Motor) -> str:
    joint = motor.on[0]
    return joint.name if isinstance(joint, Joint) else str(joint)


def _force_unit(model: Any, joint: str) -> str:
    turns = joint in model.slices and model.coordinate_units[model.slices[joint][1].start] == "rad"
    return "N m" if turns else "N"


def _unit(driver: Driver) -> str:
    return "rad" if driver.turns else "m"


def _one(model: Any) -> float:
    return 1.0


def _force(model: Any) -> float:
    return float(f"{0.5 * 9.81 * (float(model.masses.sum()) or 1.0):.1g}")


def _torque(model: Any) -> float:
    return float(f"{0.5 * 9.81 * (float(model.masses.sum()) or 1.0) * model.size:.1g}")


class Sliders:
    """Sliders for all that can be changed of what an engine runs, by their labels."""

    def __init__(self, gui: Any, engine: Any, order: float | None = None) -> None:
        self.engine = engine  # may become another one, of which the same can be changed
        self.folder = SliderFolder(gui, "Inputs", order)
        self.found: list[Adjustable] = engine.adjustables
        self.by_label: dict[str, Any] = {}
        for one in self.found:
            now = engine.hand.adjusted.get(one.key, one.value)
            slider = self.folder.add(one.label, one.low, one.high, now, one.of, _PARTS, one.hint)
            slider.on_update(lambda event, one=one, slider=slider: self.engine.hand.adjust(one, slider.value))
            self.by_label[one.label] = slider

    def remove(self) -> None:
        self.folder.remove()
