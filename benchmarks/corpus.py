"""The corpus of bad and of odd files, read by Linkwork and by its peers: what each refuses, accepts, dies of.

    python benchmarks/corpus.py [PEER ...]

Peers are mujoco, pin, pybullet, yourdfpy and trimesh, as far as they are installed; each reads files of the
formats it knows, in a process of its own with 4 GB of memory and 10 s for a file. `tests/formats/corpus.py`
makes the files: those that no program should take for what they say to be, and unusual ones that are right.
A robot is refused if reading it raises, or if its accelerations are not numbers.
"""

import argparse
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

SECONDS, BYTES = 10.0, 4 << 30
MESHES = ("stl", "obj", "ply", "off", "glb", "dae")
KNOWN = {
    "linkwork": ("urdf", "sdf", "json", *MESHES),
    "mujoco": ("urdf",),
    "pinocchio": ("urdf",),
    "pybullet": ("urdf", "sdf"),
    "yourdfpy": ("urdf",),
    "trimesh": MESHES,
}


def read(peer: str, path: str) -> None:
    """Read a file with a program; raise if it says, or shows, that something is wrong."""
    import numpy as np

    if peer == "linkwork":
        import linkwork as lw

        lw.load(path)
    elif peer == "mujoco":
        import mujoco

        model = mujoco.MjModel.from_xml_path(path)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        if not np.isfinite(data.qacc).all():
            raise ValueError("accelerations are not numbers")
    elif peer == "pinocchio":
        import pinocchio

        model = pinocchio.buildModelFromUrdf(path)
        zero = np.zeros(model.nv)
        if not np.isfinite(
            pinocchio.aba(model, model.createData(), pinocchio.neutral(model), zero, zero)
        ).all():
            raise ValueError("accelerations are not numbers")
    elif peer == "pybullet":
        import pybullet

        client = pybullet.connect(pybullet.DIRECT)
        try:
            (pybullet.loadURDF if path.endswith(".urdf") else pybullet.loadSDF)(path)
        finally:
            pybullet.disconnect(client)
    elif peer == "yourdfpy":
        import yourdfpy

        yourdfpy.URDF.load(path)
    else:
        import trimesh

        if not np.isfinite(trimesh.load(path, force="mesh").vertices).all():
            raise ValueError("vertices are not numbers")


def serve(peer: str) -> None:
    """Read files whose names come line by line, and answer each with a line."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a peer prints goes nowhere
    os.dup2(1, 2)
    for line in sys.stdin:
        began = time.process_time()
        try:
            read(peer, line.strip())
            word = "read"
        except BaseException as error:
            word = f"refused {type(error).__name__}"
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answers.write(json.dumps([word, time.process_time() - began, used]) + "\n")


class Reader:
    """A process that reads files; a new one when it dies or takes too long."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.process: subprocess.Popen[str] | None = None

    def answer(self, path: Path) -> str:
        """Return what became of a file."""
        if self.process is None:
            command = [sys.executable, __file__, "--serve", self.peer]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process = self.process
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], 6.0 * SECONDS)  # the machine may be busy
        line = process.stdout.readline() if ready else ""
        if not line:
            process.kill()
            process.wait()
            self.process = None
            return "crashed" if ready else "hung"
        word, taken, _ = json.loads(line)
        return "hung" if taken > SECONDS else word

    def end(self) -> None:
        """Let the process end."""
        if self.process is not None and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()


def main() -> None:
    """Print a table: refused, read, crashed, hung, of what must be refused and of what must be read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peers", nargs="*", metavar="PEER")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--wrong", action="store_true", help="name the files that a program gets wrong")
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    from formats.corpus import must_accept, must_refuse

    files = [("refuse", *file) for file in must_refuse()] + [("read", *file) for file in must_accept()]
    peers = options.peers or [peer for peer in KNOWN if find_spec(peer)]
    print(f"{'':10} {'must be refused':>42} {'must be read':>42}")
    titles = "".join(f"{word:>10}" for word in ("refused", "read", "crashed", "hung"))
    print(f"{'':10} {titles:>42} {titles:>42}")
    for peer in peers:
        reader, counts, wrong = Reader(peer), Counter[tuple[str, str]](), []
        with tempfile.TemporaryDirectory() as folder:
            for must, name, suffix, data in files:
                if suffix not in KNOWN[peer]:
                    continue
                path = Path(folder) / f"part.{suffix}"
                path.write_bytes(data)
                word = reader.answer(path)
                counts[must, word.split()[0]] += 1
                if word.split()[0] != ("refused" if must == "refuse" else "read"):
                    wrong.append(f"{name}: {word}")
            reader.end()
        rows = [
            "".join(f"{counts[must, word]:>10}" for word in ("refused", "read", "crashed", "hung"))
            for must in ("refuse", "read")
        ]
        print(f"{peer:10} {rows[0]:>42} {rows[1]:>42}", flush=True)
        if options.wrong:
            print(*(f"    {line}" for line in wrong), sep="\n")


if __name__ == "__main__":
    main()
