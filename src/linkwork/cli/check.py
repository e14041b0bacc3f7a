"""`linkwork check`: what is in a file, and what is wrong with it."""

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from linkwork.cli.parser import Commands, add_command, add_robot_options


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "check",
        "read and compile a mechanism: what is in it, how it can move, what is wrong or hardly meant",
        """
        linkwork check engine.json
        linkwork check robot.urdf --base free
        linkwork check engine.json --json | python -m json.tool
        linkwork check part.stl --strict || echo "not for mass"
        linkwork check run.lwr
        """,
        run,
    )
    command.add_argument(
        "file", help="a mechanism (.json, .urdf, .sdf, .xml), a mesh, a scene (.lws) or a run (.lwr)"
    )
    command.add_argument(
        "--strict", action="store_true", help="findings and warnings count as mistakes: exit code 2"
    )
    command.add_argument("--json", action="store_true", help="for programs; mistakes are in it, too")
    add_robot_options(command)


def run(options: argparse.Namespace) -> int:
    from linkwork.cli import BAD_INPUT, one_line, print_json
    from linkwork.errors import AssemblyError, LinkworkError, ModelError
    from linkwork.files import load

    if not options.json:
        with _heard() as reported:
            thing = load(options.file, options.base, repair=options.repair, unphysical=options.unphysical)
            try:
                lines, found_here = _lines(thing), _findings(thing)
            except AssemblyError as error:
                raise ModelError(str(error)) from error
        print("\n".join([*lines, *(f"finding: {found}" for found in found_here)]))
        return BAD_INPUT if options.strict and (found_here or reported) else 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            thing = load(options.file, options.base, repair=options.repair, unphysical=options.unphysical)
            found = {"ok": True, **_facts(thing), "findings": _findings(thing)}
        except LinkworkError as error:
            found = {"ok": False, "mistakes": _mistakes(error)}
        except OSError as error:
            found = {"ok": False, "mistakes": [one_line(error)]}
    print_json({"file": options.file, **found, "warnings": [str(w.message) for w in caught]})
    strict = options.strict and bool(found.get("findings") or caught)
    return 0 if found["ok"] and not strict else BAD_INPUT


@contextmanager
def _heard() -> Iterator[list[warnings.WarningMessage]]:
    """Hear all warnings, and pass them on at the end."""
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        try:
            yield reported
        finally:
            caught = list(reported)
    for one in caught:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _findings(thing: Any) -> list[str]:
    """Return what is probably not meant: of a mechanism, or why a mesh encloses no solid."""
    from linkwork.geometry.mesh import Mesh
    from linkwork.mechanism.mechanism import Mechanism

    if isinstance(thing, Mesh):
        return list(thing.problems())
    if not isinstance(thing, Mechanism):
        return []
    from linkwork.cli.lint import silently

    return [*silently(thing), *_stuck(thing)]


def _stuck(mechanism: Any) -> list[str]:
    """Say if loops leave nothing that moves; ModelError if what moves weighs nothing."""
    if determined(mechanism):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were heard
        model = mechanism.compile()
    if model.loop_names and not freedoms(model):
        return ["its loops leave nothing that can move; look for axes that are not parallel, or drop a joint"]
    if not model.loop_names:
        model.motion(model.state())
    return []


def _mistakes(error: Exception) -> list[str]:
    """Return single mistakes; a ModelError numbers them under a headline."""
    lines = [" ".join(line.split()) for line in str(error).splitlines()]
    return [line.partition(". ")[2] or line for line in lines[1:]] if len(lines) > 1 else lines


def _facts(thing: Any) -> dict[str, Any]:
    from linkwork.mechanism.contact import name_of
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.mechanism.names import kind_name

    if not isinstance(thing, Mechanism):
        return _facts_of_run(thing)
    found = {
        "kind": "mechanism",
        "name": thing.name,
        "space": thing.space,
        "mass": sum(body.inertia.mass for body in thing.bodies.values()),
        "bodies": list(thing.bodies),
        "joints": {name: kind_name(joint) for name, joint in thing.joints.items()},
        "loads": list(thing.loads),
        "couplings": list(thing.couplings),
        "constraints": {name: kind_name(one) for name, one in thing.constraints.items()},
        "drivers": {name: driver.drives for name, driver in thing.drivers.items()},
        "contacts": {
            name: None if contact.between is None else list(map(name_of, contact.between))
            for name, contact in thing.contacts.items()
        },
    }
    if determined(thing):
        _driven(thing)
        return found | {"degrees_of_freedom": len(thing.drivers)}
    model = thing.compile()
    return found | {
        "nq": model.nq,
        "nv": model.nv,
        "loop_joints": list(model.loop_names),
        "degrees_of_freedom": freedoms(model),
    }


def determined(mechanism: Any) -> bool:
    """Return whether drivers determine how a mechanism moves, so that it need not be simulated."""
    from linkwork.errors import AssemblyError, ModelError

    try:
        return bool(mechanism.drivers) and freedoms(mechanism.compile()) == 0
    except (AssemblyError, ModelError):
        return True  # kinematics supports more constraints, and reports what is wrong


def _driven(mechanism: Any) -> None:
    """Assemble a mechanism that its drivers move; ModelError if they do too little, or too much."""
    from linkwork.errors import AssemblyError, ModelError
    from linkwork.kinematics.positions import Positions

    try:
        Positions(mechanism)
    except AssemblyError as error:
        raise ModelError(str(error)) from error


def _facts_of_run(run: Any) -> dict[str, Any]:
    from linkwork.geometry.mesh import Mesh
    from linkwork.recording.recording import Recording
    from linkwork.scene.scene import Scene

    if isinstance(run, Mesh):
        low, high = run.bounds
        facts = {"kind": "mesh", "vertices": len(run.vertices), "faces": len(run.faces), "area": run.area}
        facts |= {
            "low": low.tolist(),
            "high": high.tolist(),
            "volume": None if run.problems() else run.volume,
        }
        return facts | {"repairs": list(run.repairs)}
    if isinstance(run, Recording):
        return {"kind": "run", **summary(run)}
    if isinstance(run, Scene):
        units = [unit.mechanism for unit in run.units]
        facts = {"kind": "scene", "time": run.time, "mechanisms": [one.name for one in units]}
        return facts | {"bodies": sum(len(one.bodies) for one in units)}
    return {"kind": "runs", "runs": len(run), "failed": [int(k) for k in run.failed]}


def summary(run: Any) -> dict[str, Any]:
    """Return how a run went, for programs."""
    report = run.report
    return {
        "mechanism": report.mechanism,
        "status": report.status,
        "message": report.message,
        "start": float(run.time[0]) if len(run) else None,
        "end": float(run.time[-1]) if len(run) else None,
        "samples": len(run),
        "accepted": report.accepted,
        "rejected": report.rejected,
        "evaluations": report.evaluations,
        "wall_time": report.wall_time,
        "method": report.method,
        "accuracy": report.accuracy,
        "energy_error": _finite(run.energy_error),
        "loop_gap": report.loop_gap,
        "warnings": list(report.warnings),
    }


def _finite(x: float) -> float | None:
    return x if abs(x) < float("inf") else None


def freedoms(model: Any) -> int:
    """Return in how many ways the mechanism can move from where it is drawn, its loops closed."""
    import numpy as np

    if not model.loop_names:
        return model.nv
    rows = model.constraint_jacobian(model.assemble(model.q_drawn))
    return model.nv - int(np.linalg.matrix_rank(rows, tol=1e-9 * max(1.0, float(np.abs(rows).max()))))


def _lines(thing: Any) -> list[str]:
    from linkwork.mechanism.mechanism import Mechanism

    if not isinstance(thing, Mechanism):
        return [thing.summary() if hasattr(thing, "summary") else repr(thing)]
    if determined(thing):
        _driven(thing)
        count = len(thing.drivers)
        ways = f"{count} degree{'' if count == 1 else 's'} of freedom, {'' if count == 1 else 'all '}driven"
        return [thing.summary(), f"{ways}: `linkwork run` follows the drivers; no mistakes"]
    model = thing.compile()
    count = freedoms(model)
    ways = f"{count} degree{'' if count == 1 else 's'} of freedom"
    lines = [thing.summary()]
    closing = [name for name in model.loop_names if name in model.joints]
    if closing:
        names = ", ".join(map(repr, closing))
        lines.append(f"loops closed by {names}; the others are a tree, nq = {model.nq}, nv = {model.nv}")
    else:
        lines.append(f"a tree of {len(model.body_names)} bodies, nq = {model.nq}, nv = {model.nv}")
    return [*lines, f"{ways}; no mistakes"]
