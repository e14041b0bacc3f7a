"""Drivers in a mechanism's file: laws as numbers, inputs, formulas of time, or splines of SciPy."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.formats.formula_arguments import Scalar
from linkwork.formats.json_text import JsonValue
from linkwork.formats.mechanism_json_constraints import known_kind, read_on
from linkwork.formats.mechanism_json_laws import is_formula, read_function, saved_law
from linkwork.formats.mechanism_json_values import Unsaved, built, numbers, plain, read_number
from linkwork.mechanism.body import Body
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import Joint

SPLINES = ("PPoly", "BPoly", "BSpline")
_DEGREE = 50  # that a spline may have
_REMEDY = "write it in plain arithmetic with lw.where, lw.sin, ..., or give a spline of SciPy"


# writing


def driver_data(driver: Driver) -> dict[str, Any]:
    """Return a driver as plain values; Unsaved says why it cannot be."""
    if known_kind(driver) is not Driver:
        raise Unsaved(
            f"{type(driver).__name__} drives in a way of its own; save an lw.Driver, or add it after loading"
        )
    data: dict[str, Any] = {
        "name": driver.name,
        "on": [str(getattr(thing, "name", thing)) for thing in driver.on],
    }
    if driver.component != 0:
        component = driver.component
        data["component"] = component if isinstance(component, str) else float(component)
    return data | {"law": _law_data(driver.law)}


def _law_data(law: Any) -> Any:
    if not callable(law):
        return plain(law)
    if hasattr(law, "derivative"):
        return spline_data(law)
    made = saved_law(law, "law", [Scalar("t")], _REMEDY)
    if isinstance(made.formula.result, list):
        raise Unsaved("its law gives several numbers; return one")
    return made.text


def spline_data(law: Any) -> dict[str, Any]:
    """Return a spline by its pieces, or by its knots; one of another class as it is of SciPy."""
    from scipy.interpolate import BPoly, BSpline, PPoly

    extrapolate = law.extrapolate if getattr(law, "extrapolate", None) is not None else False
    kind = next((kind for kind in (PPoly, BPoly, BSpline) if isinstance(law, kind)), None)
    if kind is None or np.ndim(law.c) != (1 if kind is BSpline else 2):
        raise Unsaved(
            f"its law {law!r} is a table that files do not know; give a CubicSpline, PPoly or BSpline of "
            "SciPy with one value, such as make_interp_spline(times, values)"
        )
    over = extrapolate if isinstance(extrapolate, str) else bool(extrapolate)
    data: dict[str, Any] = {"type": kind.__name__}
    if isinstance(law, BSpline):
        data |= {"knots": numbers(law.t), "coefficients": numbers(law.c), "degree": float(law.k)}
    elif isinstance(law, PPoly | BPoly):
        data |= {"breakpoints": numbers(law.x), "coefficients": numbers(law.c)}
    return data | {"extrapolate": over}


# reading


def read_driver(entry: JsonValue, bodies: Mapping[str, Body], joints: Mapping[str, Joint]) -> Driver:
    """Return a driver of a body or joint that is there."""
    members = entry.fields(("name", "on", "law"), ("component",))
    (thing,) = read_on(members["on"], {**bodies, **joints}, None, 1, "driver")
    component: Any = 0
    if "component" in members:
        component = _read_component(members["component"])
    law = _read_law(members["law"])
    return built(entry, lambda: Driver(members["name"].text(), (thing, component), law))


def _read_component(entry: JsonValue) -> int | str:
    if isinstance(entry.value, str):
        return entry.text()
    number = entry.number()
    return int(number) if number.is_integer() and 0 <= number < 100 else entry.wanted("a whole number")


def _read_law(entry: JsonValue) -> Any:
    if is_formula(entry):
        return read_function(entry, [Scalar("t")])
    if isinstance(entry.value, float | int | list | bool) or entry.value is None or entry.holds("input"):
        return read_number(entry)
    return read_spline(entry)


def read_spline(entry: JsonValue) -> Any:
    """Return a spline of SciPy, of one number over time."""
    from scipy import interpolate

    members = entry.members()
    kind = members["type"].one_of(*SPLINES) if "type" in members else ""
    places = "knots" if kind == "BSpline" else "breakpoints"
    words = ("type", places, "coefficients", "extrapolate")
    members = entry.fields((*words, "degree") if kind == "BSpline" else words)
    make, over = getattr(interpolate, kind), members["extrapolate"].value
    if over is not True and over is not False and over != "periodic":
        members["extrapolate"].wanted('true, false or "periodic"')
    at = np.array(members[places].numbers())
    if kind == "BSpline":
        degree = members["degree"].number()
        if not (degree.is_integer() and 0 <= degree <= _DEGREE):
            members["degree"].wanted(f"a whole number up to {_DEGREE}")
        c = np.array(members["coefficients"].numbers())
        return built(entry, lambda: make(at, c, int(degree), extrapolate=over))
    rows = members["coefficients"].items()
    if not 0 < len(rows) <= _DEGREE + 1 or len(at) < 2 or not (np.diff(at) > 0.0).all():
        entry.refuse("a spline has breakpoints in order, two or more, and a row of coefficients per power")
    c = np.array([row.numbers(len(at) - 1) for row in rows])
    return built(entry, lambda: make(c, at, extrapolate=over))
