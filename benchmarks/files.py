"""How fast mesh files are read, checked, welded and weighed, against trimesh in the same run.

    python benchmarks/files.py [MB]

Processor time, best of three, interleaved. Trimesh merges vertices and says whether the mesh is watertight,
but it does not look for crossings, which we do.
"""

import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import linkwork as lw


def torus(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and 2 n^2 faces of a torus."""
    u = 2.0 * np.pi * np.arange(n) / n
    a, b = np.meshgrid(u, u, indexing="ij")
    ring = 1.0 + 0.3 * np.cos(b)
    points = np.stack([ring * np.cos(a), ring * np.sin(a), 0.3 * np.sin(b)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    i, j, k, m = i.ravel(), j.ravel(), (i.ravel() + 1) % n, (j.ravel() + 1) % n
    corners = [i * n + j, k * n + j, k * n + m, i * n + m]
    faces = [np.stack([corners[0], corners[x], corners[x + 1]], axis=1) for x in (1, 2)]
    return points, np.concatenate(faces)


def write_files(folder: Path, megabytes: float) -> list[Path]:
    """Write one surface in several formats, of about this size as STL."""
    points, faces = torus(int((megabytes * 1e6 / 100) ** 0.5))
    records = np.zeros(len(faces), np.dtype([("n", "<f4", 3), ("p", "<f4", (3, 3)), ("a", "<u2")]))
    records["p"] = points[faces]
    stl = folder / "torus.stl"
    stl.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + records.tobytes())
    few, sides = torus(int((megabytes * 1e6 / 1000) ** 0.5))
    obj = folder / "torus.obj"
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in few.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (sides + 1).tolist()]
    obj.write_text("\n".join(lines))
    return [stl, obj]


def ours(path: Path) -> float:
    """Return the volume, all that there is to check about the mesh having been checked."""
    mesh = lw.load(path)
    return float(np.trace(mesh.inertia(1.0).tensor))


def theirs(path: Path) -> float:
    """Return what trimesh says."""
    import trimesh

    mesh = trimesh.load(path, force="mesh")
    assert mesh.is_watertight
    return float(np.trace(mesh.mass_properties["inertia"]))


def timed(work, path: Path) -> tuple[float, float]:
    began = time.process_time()
    value = work(path)
    return time.process_time() - began, value


def main() -> None:
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 100.0
    with tempfile.TemporaryDirectory() as folder:
        for path in write_files(Path(folder), megabytes):
            ours(path)
            times: dict[str, list[float]] = {"linkwork": [], "trimesh": []}
            for _ in range(3):
                for name, work in (("linkwork", ours), ("trimesh", theirs)):
                    taken, value = timed(work, path)
                    times[name].append(taken)
                    size = path.stat().st_size / 1e6
                    print(f"{path.name} {size:.1f} MB {name:9} {taken:6.2f} s, trace {value:.9g}")
            ours_best, theirs_best = (min(times[name]) for name in ("linkwork", "trimesh"))
            print(f"{path.name} best: {ours_best:.2f} s; trimesh {theirs_best / ours_best:.1f} times that")


if __name__ == "__main__":
    main()
