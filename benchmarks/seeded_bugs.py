"""Seeded bugs: how many wrong formulas the property tests find.

    python benchmarks/seeded_bugs.py [--only WORD] [--list]

Every bug is one replacement in a formula: a sign, a factor, a term that is missing, a frame that is mistaken
for another. A process imports the package with the bug in it and runs the property tests of its subject,
which should fail. That they pass without a bug is shown first.

Nothing is compiled for it: algorithms are Python over any numbers, and are run on floats in place of their
native code, on a few random systems; `make test` has a thousand of them, and
`pytest -m soak tests/dynamics/test_trees.py` shows that ten thousand raise no alarm. Bugs in loads, closed
loops, integrators and contact are compiled, which takes some minutes each.
"""

import argparse
import importlib.abc
import importlib.machinery
import io
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding  # noqa: F401  (what has no bug is imported once, before the processes part)
import mpmath  # noqa: F401
import numpy as np
import pytest
import scipy.spatial  # noqa: F401

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "linkwork"
COMPILED = ("forces", "loops", "motion", "contact")  # subjects of which native code is needed

# What is run, by subject, the quickest killers first.
TREES = tuple(
    f"tests/dynamics/test_trees.py::{name}[0]"
    for name in (
        "test_momentum_of_a_floating_copy_stays",
        "test_energy_changes_by_the_power_of_the_drives",
        "test_kinetic_energy_is_half_the_mass_matrix_between_velocities",
        "test_inverse_dynamics_undoes_forward_dynamics",
        "test_mass_matrix_times_acceleration_and_bias_make_the_joint_forces",
        "test_mass_matrix",
        "test_inverse_dynamics",
        "test_forward_dynamics",
        "test_forces_on_bodies",
        "test_a_floating_copy_falls_with_its_weight",
    )
)
PROPERTIES = {
    "trees": (*TREES, "tests/dynamics/test_motion.py", "tests/dynamics/test_lagrange.py"),
    "joints": ("tests/mechanism/test_joints.py", "tests/mechanism/test_locate.py", *TREES),
    "forces": ("tests/dynamics/test_joint_forces.py", "tests/dynamics/test_loads.py"),
    "loops": ("tests/dynamics/test_loops.py", "tests/dynamics/test_reactions.py"),
    "bodies": (
        "tests/mechanism/test_inertia.py",
        "tests/geometry/test_shapes.py",
        "tests/geometry/test_mesh.py",
    ),
    "motion": ("tests/simulation/test_orders.py", "tests/simulation/test_physics.py"),
    "contact": ("tests/contact_dynamics/test_compliant_contact.py", "tests/contact_dynamics/test_impact.py"),
}


@dataclass(frozen=True)
class Bug:
    """One replacement in one file of the package."""

    subject: str
    file: str
    old: str
    new: str
    case: str = ""  # a word of the cases that it is a bug of, if of few: they are tried first

    @property
    def text(self) -> str:
        """The file with the bug."""
        text = (PACKAGE / self.file).read_text(encoding="utf-8")
        if self.old not in text:
            raise ValueError(f"{self.file} has no {self.old!r}; the formula was rewritten: so be the bug")
        return text.replace(self.old, self.new, 1)


class WithBug(importlib.abc.MetaPathFinder):
    """Import one module of the package with a bug."""

    def __init__(self, bug: Bug) -> None:
        self.bug, self.name = bug, "linkwork." + bug.file.removesuffix(".py").replace("/", ".")

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self.name:
            return None
        loader = SourceWithBug(name, str(PACKAGE / self.bug.file))
        loader.text = self.bug.text
        spec = importlib.machinery.ModuleSpec(name, loader, origin=loader.path)
        spec.has_location = True  # it has a __file__
        return spec


class SourceWithBug(importlib.machinery.SourceFileLoader):
    """The source of a module, not as it is in its file."""

    text = ""

    def get_code(self, fullname: str) -> Any:
        return compile(self.text, self.path, "exec")


class Numbers:
    """What stands in for the graph of an algorithm that is run on floats: its symbols are numbers."""

    arrays: dict[str, np.ndarray]

    def symbol(self, key: tuple[str, int]) -> float:
        """Return a number of one of the arrays."""
        name, k = key
        return float(self.arrays[name].reshape(-1)[k])

    def symbols(self, keys: Any) -> Iterator[float]:
        """Return several."""
        return map(self.symbol, keys)


def run_on_floats() -> None:
    """Let kernels of one mechanism be the Python that they are made of."""
    from linkwork.dynamics import unrolled
    from linkwork.dynamics.kernel import Kernel
    from linkwork.dynamics.native_program import constants

    def call(kernel: Kernel) -> Any:
        algorithm, tree = kernel.algorithm, kernel.tree
        path = list(kernel.path or range(1, len(tree.blocks) + 1))
        known = constants(algorithm, tree).tolist()

        def run(*arrays: np.ndarray) -> np.ndarray:
            names = [port.name for port in algorithm.ports]
            named = dict(zip([name for name in names if name not in algorithm.zero], arrays))
            Numbers.arrays = named
            for array in arrays[kernel.inputs :]:
                array[...] = 0.0
            for name, k, value in unrolled.unroll(algorithm, tree, path, known, False):
                named[name].reshape(-1)[k] = value
            return arrays[-1]

        return run

    unrolled.Graph = Numbers
    Kernel.call = property(call)


class Few:
    """Take a few of the random systems: a bug in a formula is a bug in nearly all.

    Of the joints all are taken: a bug in one of them is a bug in no other.
    """

    def __init__(self, subject: str, case: str) -> None:
        self.most, self.case, self.failed = 1000 if subject == "joints" else 4, case, ""

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Keep a few cases of every test."""
        counts = Counter[tuple[str, str]]()
        kept = []
        for item in sorted(items, key=lambda item: self.case not in item.name):
            test = str(item.path), getattr(item, "originalname", item.name)
            counts[test] += 1
            if counts[test] <= self.most:
                kept.append(item)
            if hasattr(getattr(item, "module", None), "CHUNKS"):
                item.module.SEEDS = 2
        items[:] = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid.split("/")[-1]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid.split('/')[-1]}, which cannot even be imported"


def _bugs(subject: str, file: str, *changes: tuple[str, str]) -> list[Bug]:
    return [Bug(subject, file, old, new) for old, new in changes]


BUGS = [
    *_bugs(
        "trees",
        "dynamics/forward_dynamics.py",
        ("link.c = link.v.cross(link.vJ) + link.cJ", "link.c = link.cJ"),
        ("link.c = link.v.cross(link.vJ) + link.cJ", "link.c = link.v.cross(link.vJ)"),
        ("link.v.cross_force(link.inertia @ link.v)", "link.v.cross_force(link.inertia @ link.v) * 0.5"),
        ("world.a = -world.algebra", "world.a = world.algebra"),
        ("pA = link.pA - link.external", "pA = link.pA + link.external"),
        ("D[k][k] = plus(D[k][k], rotor)", "D[k][k] = minus(D[k][k], rotor)"),
        ("pa = pA + Ia @ link.c + comb", "pa = pA + comb"),
        ("parent.pA += link.X @ pa", "parent.pA += link.X @ pA"),
        ("a = link.X.local(parent.a) + link.c\n", "a = link.X.local(parent.a)\n"),
    ),
    *_bugs(
        "trees",
        "dynamics/inverse_dynamics.py",
        ("link.v.cross(link.vJ) + link.cJ", "link.vJ.cross(link.v) + link.cJ"),
        ("+ link.v.cross_force(link.inertia @ link.v) -", "-"),
        ("plus(s.dot(link.f), product(rotor, qdd))", "s.dot(link.f)"),
        ("parent.f += link.X @ link.f", "parent.f += link.f"),
    ),
    *_bugs(
        "trees",
        "dynamics/mass_matrix.py",
        ("parent.Ic += link.X @ link.Ic", "parent.Ic += link.X @ link.inertia"),
        ("link.F = [link.X0 @ (link.Ic @ s)", "link.F = [link.X0 @ (link.inertia @ s)"),
    ),
    *_bugs(
        "trees",
        "dynamics/energy.py",
        ("world.T += 0.5 * link.v", "world.T += link.v"),
        ("product(0.5, product(rotor,", "product(1.0, product(rotor,"),
        ("world.potential = -dot", "world.potential = dot"),
    ),
    *_bugs(
        "trees",
        "dynamics/momentum.py",
        (
            "world.p += link.X_W @ (link.inertia @ link.v)",
            "world.p += link.X_W.axes @ (link.inertia @ link.v)",
        ),
        ("world.m += link.inertia.m", "world.m += 2.0 * link.inertia.m"),
    ),
    *_bugs(
        "trees",
        "dynamics/velocities.py",
        (".classical(to_body.local(link.v))", ""),
        ("link.X_W.axes @ link.body.offset.local(link.v)", "link.X_W.axes @ link.v"),
    ),
    *_bugs(
        "trees",
        "dynamics/jacobian.py",
        ("link.X_W.moved(-world.p)", "link.X_W.moved(world.p)"),
    ),
    *_bugs(
        "trees",
        "algebra/spatial_frames.py",
        ("self.w.cross(m.v) + self.v.cross(m.w)", "self.w.cross(m.v) - self.v.cross(m.w)"),
        ("Force(self.w.cross(f.n) + self.v.cross(f.f), self.w", "Force(self.w.cross(f.n), self.w"),
        ("X.R.times(self.v) + X.p.cross(w)", "X.R.times(self.v) - X.p.cross(w)"),
        ("X.R.transpose_times(self.v - X.p.cross(self.w))", "X.R.transpose_times(self.v)"),
        ("Force(X.R.times(self.n) + X.p.cross(f), f)", "Force(X.R.times(self.n), f)"),
    ),
    *_bugs(
        "trees",
        "algebra/spatial_inertia.py",
        ("motion.v * self.m - self.h.cross(motion.w)", "motion.v * self.m"),
        ("sum_dot = plus(X.p.dot(h0), X.p.dot(h1))", "sum_dot = X.p.dot(h1)"),
        ("h1 = h0 + X.p * self.m", "h1 = h0 - X.p * self.m"),
        ("((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))", "((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))"),
        ("minus(square if i == j else 0.0, c[i] * c[j])", "plus(square if i == j else 0.0, c[i] * c[j])"),
    ),
    *_bugs(
        "trees",
        "algebra/planar.py",
        ("quarter(m.v) * self.w - quarter(self.v) * m.w", "quarter(m.v) * self.w + quarter(self.v) * m.w"),
        ("X.turned(self.v) - quarter(X.p) * self.w", "X.turned(self.v)"),
        ("plus(tensor, product(mass, c.dot(c)))", "tensor"),
        ("Force(area(self.v, f.f), quarter", "Force(0.0, quarter"),
    ),
    *_bugs(
        "joints",
        "algebra/rotation.py",
        ("quaternion_product(q, (0.0, *angular)) * 0.5", "quaternion_product((0.0, *angular), q) * 0.5"),
        ("quaternion_product(q, (0.0, *angular)) * 0.5", "quaternion_product(q, (0.0, *angular))"),
    ),
    *_bugs(
        "joints",
        "mechanism/joints.py",
        ("Motion((cos(q[1]), 0.0, sin(q[1])),", "Motion((cos(q[1]), 0.0, -sin(q[1])),"),
        ("spatial.slide(self.pitch / (2 * np.pi) * q[0])", "spatial.slide(self.pitch * q[0])"),
        (
            "spatial.rotation_x(q[0]) @ spatial.rotation_y(q[1])",
            "spatial.rotation_y(q[1]) @ spatial.rotation_x(q[0])",
        ),
        ("X.p[2] / self.pitch - angle / (2 * np.pi)", "X.p[2] / self.pitch + angle / (2 * np.pi)"),
    ),
    *_bugs(
        "forces",
        "tree/joint_forces.py",
        ("tau = [-c * speed", "tau = [c * speed"),
        ("-k * (x - x0)", "-k * (x + x0)"),
        ("f - mu * tanh(speed / s)", "f - mu * tanh(speed)"),
    ),
    *_bugs(
        "forces",
        "mechanism/springs.py",
        ("length - self.rest) + damping", "length - self.rest) - damping"),
        ("b.push(-pull, at_b)", "b.push(pull, at_b)"),
        ("joint.q[0] - self.rest", "joint.q[0] + self.rest"),
    ),
    Bug("forces", "mechanism/springs.py", "-k_i * x - c_i * r for", "-k_i * x + c_i * r for", "bushing"),
    Bug("forces", "mechanism/springs.py", "[-n - ct_i * w for", "[-n + ct_i * w for", "bushing"),
    Bug(
        "forces",
        "mechanism/loads.py",
        "body.twist(wrench[:turning], self.frame)",
        "body.twist(wrench[:turning])",
        "wrench of the body-space",
    ),
    *_bugs(
        "loops",
        "dynamics/loop_closure.py",
        ("row.right - plus(link.c.dot(F), dot(y, link.uD))", "row.right - dot(y, link.uD)"),
        ("F = row.F - combination(", "F = row.F + combination("),
        ("row.right = row.right - root.a.dot(row.F)", "row.right = row.right + root.a.dot(row.F)"),
        ("root.pA = root.pA - row.F", "root.pA = root.pA + row.F"),
    ),
    *_bugs(
        "bodies",
        "mechanism/inertia.py",
        (
            "share, reduced = other.mass / mass, self.mass * other.mass / mass",
            "share, reduced = other.mass / mass, 0.0",
        ),
        (
            "return self.tensor + self.mass * np.array(_spread(",
            "return self.tensor - self.mass * np.array(_spread(",
        ),
        ("com = [x + share * y", "com = [x - share * y"),
    ),
    Bug("bodies", "geometry/capsule.py", "0.375 * r * h", "0.75 * r * h", "Capsule"),
    Bug("bodies", "geometry/cone.py", "self.length / 4.0]", "self.length / 3.0]", "Cone"),
    Bug("bodies", "geometry/ellipsoid.py", "self.x**2 / 5.0", "self.x**2 / 4.0", "Ellipsoid"),
    *_bugs(
        "bodies", "geometry/mesh_loops.py", ("_add(sums, 4, six * (ay * az", "_add(sums, 4, six * (ay * ay")
    ),
    *_bugs(
        "motion",
        "simulation/integrators/runge_kutta_4.py",
        ("(1 / 6, 1 / 3, 1 / 3, 1 / 6)", "(1 / 4, 1 / 4, 1 / 4, 1 / 4)"),
    ),
    *_bugs(
        "motion",
        "simulation/integrators/semi_implicit_euler.py",
        ("A_velocity=((), (1.0,))", "A_velocity=((), (0.5,))"),
    ),
    *_bugs(
        "contact",
        "contact_dynamics/laws.py",
        ("max(stiffness * depth + damping * rate, 0.0)", "max(stiffness * depth - damping * rate, 0.0)"),
        ("sqrt(R) * depth**1.5", "sqrt(R) * depth**2"),
        ("1.0 + dissipation * rate, 0.0)", "1.0 - dissipation * rate, 0.0)"),
    ),
]


def failing(bug: Bug | None, subject: str) -> str:
    """Return the first property that fails with a bug, nothing if none does; in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as out:
            said = "an error of the importing process"
            try:
                said = _failing_here(bug, subject)
            finally:
                out.write(said)
                out.flush()
                os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def _failing_here(bug: Bug | None, subject: str) -> str:
    os.chdir(ROOT)
    here = str(Path(__file__).parent)
    sys.path[:] = [folder for folder in sys.path if folder != here]  # names of benchmarks are names of tests
    few, said = Few(subject, bug.case if bug else ""), io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        if bug is not None:
            sys.meta_path.insert(0, WithBug(bug))
            if subject in COMPILED or bug.file.endswith("_loops.py"):
                os.environ["LINKWORK_CACHE"] = ""  # code is known by the files, which have no bug
                from linkwork.native import store

                store.AHEAD_FOLDER = ROOT / "nothing is here"
        if subject not in COMPILED:
            try:
                run_on_floats()
            except Exception as error:
                return f"import: {type(error).__name__}"
        options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--color=no"]
        pytest.main([*options, *PROPERTIES[subject]], plugins=[few])
    return few.failed


def main() -> None:
    """Print what catches each bug, and the score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="bugs whose subject, file or replacement has this word")
    parser.add_argument("--list", action="store_true", help="list them, and run nothing")
    options = parser.parse_args()
    bugs = [bug for bug in BUGS if options.only in f"{bug.subject} {bug.file} {bug.old} {bug.new}"]
    if not bugs:
        sys.exit(f"--only {options.only!r}: no bug has this word; --list shows them")
    for bug in bugs if options.list else ():
        print(f"{bug.subject:8} {bug.file}: {bug.old!r} -> {bug.new!r}")
    if options.list:
        return
    for subject in dict.fromkeys(bug.subject for bug in bugs):
        if test := failing(None, subject):
            sys.exit(f"{subject}: {test} fails without a bug")
    score = 0
    for bug in bugs:
        began = time.perf_counter()
        test = failing(bug, bug.subject)
        score += bool(test)
        word = f"caught by {test}" if test else "NOT CAUGHT"
        taken = time.perf_counter() - began
        print(f"{bug.file}: {bug.old.strip()!r} -> {bug.new.strip()!r}: {word} ({taken:.0f} s)", flush=True)
    print(f"{score} of {len(bugs)} seeded bugs are caught, {100.0 * score / len(bugs):.1f} %")


if __name__ == "__main__":
    main()
