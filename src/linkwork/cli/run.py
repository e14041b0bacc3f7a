"""`linkwork run`: let a mechanism move."""

import argparse
from pathlib import Path
from typing import Any

from linkwork.cli.parser import Commands, add_command, add_robot_options


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "run",
        "let a mechanism move, and keep or draw what it did",
        """
        linkwork run engine.json --for 10
        linkwork run engine.json --for 10 --accuracy 1e-9 --out run.lwr --plot crank
        linkwork run engine.json --for 5 --set crank=0.3 --speed crank=20
        linkwork run engine.json --for 5 --degrees --set crank=30 --plot crank
        linkwork run robot.urdf --for 2 --every 0.01 --out run.csv
        linkwork run engine.json --for 10 --json
        """,
        run,
    )
    command.add_argument("file", help="a mechanism (.json, .urdf, .sdf, .xml)")
    command.add_argument(
        "--for", dest="duration", type=float, required=True, metavar="SECONDS", help="how long"
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="JOINT=NUMBERS", help="where a joint begins"
    )
    command.add_argument("--speed", action="append", default=[], metavar="JOINT=NUMBERS", help="and how fast")
    command.add_argument(
        "--degrees",
        action="store_true",
        help="angles, and their rates, of --set and --speed, in pictures and in .csv tables are in degrees",
    )
    command.add_argument("--accuracy", type=float, help="of the motion (default: 1e-08)")
    command.add_argument("--step", type=float, metavar="SECONDS", help="fixed steps instead")
    command.add_argument(
        "--method", default="auto", help="auto, rkf45, dop853, rodas, rk4, semi-implicit, euler"
    )
    command.add_argument(
        "--every", type=float, metavar="SECONDS", help="sampling interval; default: after every step"
    )
    command.add_argument("--out", metavar="FILE", help="keep the run: .lwr, or a table as .csv")
    command.add_argument(
        "--plot",
        action="append",
        default=[],
        metavar="NAME",
        help="draw pin, pin.velocity, energy, error, ...",
    )
    command.add_argument(
        "--picture", metavar="FILE", help="where to draw: .png, .pdf, .svg (default: FILE.png)"
    )
    command.add_argument("--json", action="store_true", help="report for programs")
    add_robot_options(command)


def run(options: argparse.Namespace) -> int:
    from linkwork.cli import FAILED, INTERRUPTED, print_error
    from linkwork.cli.check import determined
    from linkwork.errors import LinkworkError
    from linkwork.files import load
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.simulation.simulate import simulate

    if options.out and Path(options.out).suffix.lower() not in (".lwr", ".csv"):
        raise LinkworkError(f"--out {options.out}: give a name that ends in .lwr or .csv")
    mechanism = load(options.file, options.base, repair=options.repair, unphysical=options.unphysical)
    if not isinstance(mechanism, Mechanism):
        raise LinkworkError(f"{options.file} is not a mechanism; `linkwork view` plays runs")
    if determined(mechanism):
        return _follow_drivers(mechanism, options)
    model = mechanism.compile()
    state = None
    if options.set or options.speed:
        positions, velocities = _named("--set", options.set), _named("--speed", options.speed)
        if options.degrees:
            _to_radians(model, positions, velocities)
        state = model.state(positions, velocities=velocities)
    if options.plot:  # a name that does not exist is found out before the work, not after it
        simulate(model, 0.0, state).traces(*options.plot)
    motion = simulate(
        model,
        options.duration,
        state,
        accuracy=options.accuracy,
        step=options.step,
        method=options.method,
        every=options.every,
        check=False,
    )
    made = _keep(motion, options)
    _report(motion, made, options.json)
    if motion.status == "INTERRUPTED":
        print_error("interrupted")
        return INTERRUPTED
    if motion.report.failed:
        hint = f"; {motion.report.hint}" if motion.report.hint else ""
        print_error(f"{motion.report.message or motion.report.outcome}{hint}")
        return FAILED
    return 0


def _follow_drivers(mechanism: Any, options: argparse.Namespace) -> int:
    """Let the drivers say how a mechanism moves: kinematics, without a simulation."""
    import numpy as np

    from linkwork.cli import FAILED, print_error, print_json
    from linkwork.errors import AssemblyError, LinkworkError, ModelError
    from linkwork.kinematics.motion import kinematics

    simulated = ("set", "speed", "step", "method", "accuracy")
    usual = {"set": [], "speed": [], "step": None, "method": "auto", "accuracy": None}
    if strange := [word for word in simulated if getattr(options, word) != usual[word]]:
        raise LinkworkError(
            f"{options.file} has drivers, which determine its motion: --{strange[0]} is for simulations;  "
            "leave it out"
        )
    every = options.every or options.duration / 360.0
    if not (np.isfinite(options.duration) and options.duration >= 0.0 and every >= 0.0):
        raise ValueError("--for and --every: give finite numbers of seconds, above 0")
    count = round(options.duration / every) if every else 0
    failure = None
    try:
        motion = kinematics(mechanism, np.linspace(0.0, options.duration, count + 1))
    except AssemblyError as error:
        motion, failure = getattr(error, "motion", None), error
        if motion is None or not len(motion):  # it did not even begin
            raise ModelError(str(error)) from error
    if options.plot:
        motion.traces(*options.plot)
    made = _keep(motion, options)
    if options.json:
        found = {"mechanism": mechanism.name, "status": "FAILED" if failure else "DONE"}
        found |= {"message": str(failure or ""), "end": float(motion.time[-1]), "samples": len(motion)}
        print_json(found | {"events": list(map(str, motion.events))} | made)
    else:
        print("\n".join([repr(motion), *map(str, motion.events)]))
        for word, path in made.items():
            print(f"{path}: the {word}")
    if failure is not None:
        print_error(str(failure))
        return FAILED
    return 0


def _report(motion: Any, made: dict[str, str], as_json: bool) -> None:
    if as_json:
        from linkwork.cli import print_json
        from linkwork.cli.check import summary

        print_json({**summary(motion), **made})
        return
    print(motion.summary())
    for word, path in made.items():
        print(f"{path}: the {word}")


def _keep(motion: Any, options: argparse.Namespace) -> dict[str, str]:
    """Write what was asked for; return where."""
    made = {}
    if options.out:
        if options.degrees and Path(options.out).suffix.lower() == ".csv":
            from linkwork.recording.run_table import write_table

            write_table(motion, options.out, degrees=True)
        else:
            motion.save(options.out)
        made["run"] = options.out
    if options.plot or options.picture:
        path = options.picture or f"{Path(options.file).stem}.png"
        motion.plot(*options.plot, degrees=options.degrees).savefig(path, dpi=150)
        made["picture"] = path
    return made


def _named(option: str, texts: list[str]) -> dict[str, Any]:
    """Return joint -> numbers of texts like pin=0.3 or ball=1,0,0,0."""
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, values = text.rpartition("=")
        try:
            numbers = [float(x) for x in values.split(",")]
        except ValueError:
            numbers = []
        if not sign or not name or not numbers:
            raise ValueError(f"{option} {text}: give JOINT=NUMBER, or JOINT=NUMBER,NUMBER,...")
        found[name] = numbers[0] if len(numbers) == 1 else numbers
    return found


def _to_radians(model: Any, positions: dict[str, Any], velocities: dict[str, Any]) -> None:
    """Turn the numbers that are angles, or their rates, from degrees into radians."""
    from linkwork.algebra.number import degrees

    units = model.position_units, model.coordinate_units
    for side, named in enumerate((positions, velocities)):
        for name in named.keys() & model.slices.keys():
            own = units[side][model.slices[name][side]]
            numbers = named[name] if isinstance(named[name], list) else [named[name]]
            if len(numbers) == len(own):  # else the model says how many it wants
                named[name] = [degrees(x) if unit == "rad" else x for x, unit in zip(numbers, own)]
