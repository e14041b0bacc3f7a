"""How long the first uses take, with an empty cache and with a warm one; and the help of the command line.

    python benchmarks/start.py                      the package as it is installed here
    python benchmarks/start.py --wheel FILE         a wheel, installed into a new environment

Each figure is the best of several processes, in seconds of the clock; behind it, of the processor.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CRATE = """
crate = lw.Mechanism("crate")
crate.ground.add(lw.Plane())
box = lw.Box(0.4, 0.3, 0.2)
crate.add(lw.Body("crate", box, density=500, material=lw.Material.wood, position=(0, 0, 0.2)))
crate.add(lw.Contact("contact"))
"""
USES = {
    "simulate": "lw.simulate(lw.examples.steam_engine(), 0.1)",
    "collide": "lw.collide(lw.Box(1, 1, 1), lw.Sphere(0.6), pose_b=(0.3, 0.2, 0.9))",
    "contact in steps": f"{CRATE}lw.simulate(crate, 1.0, step=1 / 60)",
    "contact to an accuracy": f"{CRATE}lw.simulate(crate, 1.0)",
}
CHILD = """
import resource, sys, time
began, busy = time.perf_counter(), time.process_time()
import linkwork as lw
for name in lw.__all__:
    getattr(lw, name)  # names are found when asked for: here all, so that importing counts as importing
imported, busy_import = time.perf_counter(), time.process_time()
{use}
done, busy_done = time.perf_counter(), time.process_time()
print(imported - began, done - imported, busy_import - busy, busy_done - busy_import, "numba" in sys.modules)
"""
GOALS = {
    ("simulate", "cold"): 2.0,
    ("collide", "cold"): 1.0,
    ("contact in steps", "cold"): 2.0,
    ("contact to an accuracy", "cold"): 2.0,
    ("simulate", "warm"): 0.3,
    ("collide", "warm"): 0.2,
    ("contact in steps", "warm"): None,
    ("contact to an accuracy", "warm"): None,
    ("help", "warm"): 0.15,
}
Figure = tuple[float, float]  # seconds of the clock, of the processor


def environment(**others: str) -> dict[str, str]:
    """Return the environment of a process that measures."""
    # Without bytecode the sources are compiled every time.
    left = {word: value for word, value in os.environ.items() if word != "PYTHONDONTWRITEBYTECODE"}
    return {**left, **others}


def used(what: str, cache: str, python: str) -> tuple[Figure, Figure, bool]:
    """Return what importing and then using took in a new process, and whether it imported Numba."""
    child = [python, "-c", CHILD.format(use=USES[what])]
    around = environment(LINKWORK_CACHE=cache)
    out = subprocess.run(child, env=around, check=True, capture_output=True, text=True).stdout.split()
    imported, done, busy_import, busy = map(float, out[:4])
    return (imported, busy_import), (done, busy), out[4] == "True"


def helped(python: str) -> Figure:
    """Return what `linkwork --help` took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    script = f"""
import subprocess, time
began = time.perf_counter()
subprocess.run([{python!r}, "-m", "linkwork", "--help"], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - began)
"""
    child = [sys.executable, "-S", "-c", script]
    out = subprocess.run(child, env=environment(), check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(out.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(python: str, rounds: int) -> dict[tuple[str, str], list[Figure]]:
    """Measure all uses, in turns."""
    found: dict[tuple[str, str], list[Figure]] = {key: [] for key in GOALS}
    for _ in range(rounds):
        for what in USES:
            with tempfile.TemporaryDirectory() as cache:
                imported, done, _ = used(what, cache, python)
                found[what, "cold"].append((imported[0] + done[0], imported[1] + done[1]))
                _, done, with_numba = used(what, cache, python)
                found[what, "warm"].append(done)
                if with_numba:
                    raise SystemExit(f"{what}: Numba was imported though all code was there")
        found["help", "warm"].append(helped(python))
    return found


def installed(wheel: Path, folder: str) -> str:
    """Install a wheel and what it needs into a new environment; return its interpreter."""
    venv.create(folder, with_pip=True)
    python = str(Path(folder) / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run(install, env=environment(), cwd=folder, check=True)
    where = [python, "-c", "import linkwork; print(linkwork.__file__)"]
    found = subprocess.run(where, cwd=folder, check=True, capture_output=True, text=True).stdout
    if not Path(found.strip()).is_relative_to(folder):
        raise SystemExit(f"{found.strip()} is imported in place of the wheel; unset PYTHONPATH")
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--wheel", type=Path, help="a wheel to install and to measure")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = installed(options.wheel.resolve(), folder) if options.wheel else sys.executable
        for (what, when), figures in measure(python, options.rounds).items():
            title = {
                "cold": f"import and first {what}, empty cache",
                "warm": f"first {what} in a later process",
            }[when]
            title = "linkwork --help" if what == "help" else title
            clock, busy = min(figures)
            goal = "" if GOALS[what, when] is None else f"; goal {GOALS[what, when]} s"
            print(f"{title:54} {clock:6.2f} s  ({busy:5.2f} s of the processor{goal})")


if __name__ == "__main__":
    main()
