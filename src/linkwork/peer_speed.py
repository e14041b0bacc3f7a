"""Speed against the peers, as ratios of times measured in the same run, interleaved, the best of several.

Each call is made as a user makes it from Python: with `out=`, and with the checks of its arguments. Batches
are 1,024 states, specialised, on one core (mass matrices also in batches of 128); times are per mechanism.
"""

import importlib
import platform
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np

from linkwork import examples
from linkwork.errors import LinkworkError
from linkwork.formats import load
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.model import Model

BATCH = 1024
SMALL_BATCH = 128  # mass matrices of 128 humanoids still fit the second-level cache, of 1,024 they do not
ROBOTS: dict[str, tuple[str, Literal["fixed", "free"]]] = {  # file of example-robot-data, and how it stands
    "7-dof arm": ("xarm7.urdf", "fixed"),
    "quadruped": ("solo12.urdf", "free"),
    "humanoid G1": ("g1_29dof_rev_1_0.urdf", "free"),
}


def best_of(
    functions: Mapping[str, Callable[[], Any]],
    rounds: int,
    seconds: float = 0.02,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Return the best time of a call of each function [s], measured in turn.

    It is time of the processor, which other processes do not disturb; for what runs on several threads give
    `time.perf_counter`.
    """
    counts = {}
    for name, function in functions.items():
        function()
        began = clock()
        function()
        counts[name] = max(1, int(seconds / max(clock() - began, 1e-7)))
    best = dict.fromkeys(functions, np.inf)
    for _ in range(rounds):
        for name, function in functions.items():
            began = clock()
            for _ in range(counts[name]):
                function()
            best[name] = min(best[name], (clock() - began) / counts[name])
    return best


def robot_file(name: str) -> Path:
    """Find a robot of the package example-robot-data."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        raise LinkworkError(
            "the robots of example-robot-data are not installed: pip install linkwork[peers]"
        ) from None
    for file in files:
        if file.name == name:
            return Path(str(file.locate())).resolve()
    raise LinkworkError(f"example-robot-data has no {name}")


@dataclass(frozen=True)
class Measured:
    """One mechanism to measure, as everybody's model of it."""

    name: str
    model: Model
    pinocchio: Any  # the peer's model, None if it is not installed
    mujoco: Any


def subjects() -> list[Measured]:
    """Return the robots and a chain."""
    found = []
    for name, (file, base) in ROBOTS.items():
        path = robot_file(file)
        pin = _pinocchio_robot(path, base)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of vendors' extras in the files
            found.append(Measured(name, load(path, base=base).compile(), pin, _mujoco_robot(path, base)))
    chain = examples.chain(100)
    found.append(Measured("100-link chain", chain.compile(), pinocchio_tree(chain), None))
    return found


def _peer(name: str) -> Any:
    """Return a peer's module, None if it is not installed."""
    return importlib.import_module(name) if util.find_spec(name) else None


def _pinocchio_robot(path: Path, base: str) -> Any:
    pinocchio = _peer("pinocchio")
    if pinocchio is None:
        return None
    root = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
    return pinocchio.buildModelFromUrdf(str(path), *root)


def pinocchio_tree(mechanism: Mechanism) -> Any:
    """Return a chain or tree of hinges, drawn in joint order, as Pinocchio's model."""
    pinocchio = _peer("pinocchio")
    if pinocchio is None:
        return None
    model = pinocchio.Model()
    numbers, frames = {"ground": 0}, {"ground": pinocchio.SE3.Identity()}
    for joint in mechanism.joints.values():
        on_parent, on_child = (pinocchio.SE3(X.rotation, X.position) for X in joint.frames())
        place = frames[joint.parent.name] * on_parent
        number = model.addJoint(numbers[joint.parent.name], pinocchio.JointModelRZ(), place, joint.name)
        inertia = joint.child.inertia
        in_joint = on_child.inverse()
        model.appendBodyToJoint(
            number, pinocchio.Inertia(inertia.mass, inertia.com, inertia.tensor), in_joint
        )
        numbers[joint.child.name], frames[joint.child.name] = number, in_joint
    return model


def _mujoco_robot(path: Path, base: str) -> Any:
    mujoco = _peer("mujoco")
    if mujoco is None:
        return None
    robot = ElementTree.parse(path).getroot()
    for link in robot.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    if base == "free":
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return model


def measure(subject: Measured, rounds: int) -> list[tuple[str, dict[str, float]]]:
    """Return, per algorithm and size of batches, the best times of everybody [s]."""
    model, special = subject.model, subject.model.specialize()
    random = np.random.default_rng(0)
    q = model.q_drawn + random.uniform(-0.5, 0.5, model.nq)
    v, x = random.normal(size=(2, model.nv))
    out, matrix = np.empty(model.nv), np.empty((model.nv, model.nv))
    one = {
        "forward dynamics": lambda m: m.forward_dynamics(q, v, x, out=out),
        "inverse dynamics": lambda m: m.inverse_dynamics(q, v, x, out=out),
        "mass matrix": lambda m: m.mass_matrix(q, out=matrix),
    }
    peers = _peer_calls(subject, random)
    results = []
    for algorithm, n in [*((name, BATCH) for name in one), ("mass matrix", SMALL_BATCH)]:
        qs, vs, xs = np.tile(q, (n, 1)), np.tile(v, (n, 1)), np.tile(x, (n, 1))
        outs, matrices = np.empty((n, model.nv)), np.empty((n, model.nv, model.nv))
        many = {
            "forward dynamics": lambda m, a=(qs, vs, xs), o=outs: m.forward_dynamics(*a, out=o),
            "inverse dynamics": lambda m, a=(qs, vs, xs), o=outs: m.inverse_dynamics(*a, out=o),
            "mass matrix": lambda m, a=qs, o=matrices: m.mass_matrix(a, out=o),
        }
        calls: dict[str, Callable[[], Any]] = {
            "one call": lambda f=one[algorithm]: f(model),
            "specialised": lambda f=one[algorithm]: f(special),
            "batch": lambda f=many[algorithm]: f(model),
            "specialised batch": lambda f=many[algorithm]: f(special),
            **peers.get(algorithm, {}),
        }
        times = best_of(calls, rounds)
        for name in ("batch", "specialised batch"):
            times[name] /= n
        results.append((algorithm if n == BATCH else f"{algorithm}, {n}", times))
    return results


def _peer_calls(subject: Measured, random: np.random.Generator) -> dict[str, dict[str, Callable[[], Any]]]:
    calls: dict[str, dict[str, Callable[[], Any]]] = {
        "forward dynamics": {},
        "inverse dynamics": {},
        "mass matrix": {},
    }
    if subject.pinocchio is not None:
        pin = _peer("pinocchio")
        model = subject.pinocchio
        data = model.createData()
        q = pin.integrate(model, pin.neutral(model), random.normal(size=model.nv))
        v, x = random.normal(size=(2, model.nv))
        calls["forward dynamics"]["pinocchio"] = lambda: pin.aba(model, data, q, v, x)
        calls["inverse dynamics"]["pinocchio"] = lambda: pin.rnea(model, data, q, v, x)
        calls["mass matrix"]["pinocchio"] = lambda: pin.crba(model, data, q)
    if subject.mujoco is not None:
        mujoco = _peer("mujoco")
        peer = subject.mujoco
        scratch = mujoco.MjData(peer)
        scratch.qvel[:] = random.normal(size=peer.nv)
        calls["forward dynamics"]["mujoco"] = lambda: mujoco.mj_forward(peer, scratch)
    return calls


_COLUMNS = ("one call", "specialised", "batch", "specialised batch")
_SHOWN = ("one call", "specialised", "specialised batch")  # in the README


def run(out: TextIO, quick: bool = False, markdown: bool = False) -> int:
    """Print the table of times and ratios; as that of the README, against Pinocchio, if `markdown`."""
    missing = [name for name in ("pinocchio", "mujoco") if util.find_spec(name) is None]
    if missing:
        print(f"not installed: {', '.join(missing)} (pip install linkwork[peers])", file=out)
    print(f"{processor()}, one core; microseconds per call or per mechanism,", file=out)
    print("in brackets how many times faster than the peer\n", file=out)
    head = ["", "Pinocchio", "one call", "specialised", "batch of 1,024"]
    print(
        _markdown(head) + "\n|" + "---|" * len(head) if markdown else _line(["", "peer", *_COLUMNS]), file=out
    )
    for subject in subjects():
        for algorithm, times in measure(subject, 5 if quick else 15):
            for line in _rows(f"{subject.name}, {algorithm}", times, markdown):
                print(line, file=out, flush=True)
    return 0


def _rows(label: str, times: Mapping[str, float], markdown: bool) -> list[str]:
    peers = [peer for peer in ("pinocchio", "mujoco") if peer in times]
    if markdown:
        if "pinocchio" not in times or label.endswith(f", {SMALL_BATCH}"):
            return []
        own = [f"{times[c] * 1e6:.2f} us, {times['pinocchio'] / times[c]:.1f}x" for c in _SHOWN]
        return [_markdown([label, f"{times['pinocchio'] * 1e6:.2f} us", *own])]
    if not peers:
        return [_line([label, "-", *(f"{times[c] * 1e6:.2f}" for c in _COLUMNS)])]
    return [
        _line(
            [
                label,
                f"{peer} {times[peer] * 1e6:.2f}",
                *(f"{times[c] * 1e6:.2f} ({times[peer] / times[c]:.1f}x)" for c in _COLUMNS),
            ]
        )
        for peer in peers
    ]


def processor() -> str:
    """Return the name of the processor, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _line(cells: Sequence[str]) -> str:
    return f"{cells[0]:36}{cells[1]:18}" + "".join(f"{cell:>20}" for cell in cells[2:])
