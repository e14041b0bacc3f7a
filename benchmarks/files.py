"""How fast files are read: meshes against trimesh, robots against yourdfpy and Pinocchio, in the same run.

    python benchmarks/files.py [MB]

Processor time, best of three, interleaved. Meshes are read, checked, welded and weighed; trimesh merges
vertices and says whether the mesh is watertight, but it does not look for crossings, which we do. Robots of
2,000 links are read, without meshes; Pinocchio makes a model of them, which nobody else does.
"""

import json
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
    return [stl, obj, *write_more(folder, few, sides)]


def write_more(folder: Path, points: np.ndarray, faces: np.ndarray) -> list[Path]:
    """Write a mesh as STL and PLY in words, as PLY and GLB in bytes, and as COLLADA."""
    count, size = len(points), len(faces)
    corners = points[faces].tolist()
    facets = (
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x:e} {y:e} {z:e}\n" for x, y, z in face)
        + "endloop\nendfacet\n"
        for face in corners
    )
    (folder / "words.stl").write_text(f"solid torus\n{''.join(facets)}endsolid torus\n")
    header = (
        f"ply\nformat {{}} 1.0\nelement vertex {count}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {size}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = [f"{x!r} {y!r} {z!r}" for x, y, z in points.tolist()] + [
        f"3 {a} {b} {c}" for a, b, c in faces.tolist()
    ]
    (folder / "words.ply").write_text(header.format("ascii") + "\n".join(rows))
    records = np.zeros(size, np.dtype([("n", "u1"), ("k", "<i4", 3)]))
    records["n"], records["k"] = 3, faces
    data = points.astype("<f4").tobytes()
    (folder / "torus.ply").write_bytes(
        header.format("binary_little_endian").encode() + data + records.tobytes()
    )
    indices = faces.astype("<u4").tobytes()
    scene = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3 * size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(data)},
            {"buffer": 0, "byteOffset": len(data), "byteLength": len(indices)},
        ],
        "buffers": [{"byteLength": len(data) + len(indices)}],
    }
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    body = data + indices
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
    (folder / "torus.glb").write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    numbers = " ".join(map(repr, points.ravel().tolist()))
    (folder / "torus.dae").write_text(
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>'
        '<unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>'
        '<source id="s">'
        f'<float_array id="f" count="{3 * count}">{numbers}</float_array><technique_common>'
        f'<accessor source="#f" count="{count}" stride="3"><param name="X" type="float"/><param name="Y" '
        'type="float"/><param name="Z" type="float"/></accessor></technique_common></source>'
        '<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>'
        f'<triangles count="{size}"><input semantic="VERTEX" source="#v" offset="0"/>'
        f"<p>{' '.join(map(str, faces.ravel().tolist()))}</p></triangles></mesh></geometry>"
        '</library_geometries><library_visual_scenes><visual_scene id="w"><node id="n">'
        '<instance_geometry url="#g"/></node></visual_scene>'
        '</library_visual_scenes><scene><instance_visual_scene url="#w"/></scene></COLLADA>'
    )
    names = ("words.stl", "words.ply", "torus.ply", "torus.glb", "torus.dae")
    return [folder / name for name in names]


def write_robot(folder: Path, links: int) -> Path:
    """Write a tree of links, three on each, with shapes and limits."""
    moments = 'ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"'
    body = (
        f'<inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="1"/><inertia {moments}/></inertial>'
        '<visual><geometry><box size="0.1 0.1 0.2"/></geometry></visual>'
        '<collision><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision>'
    )
    parts = [f'<link name="link{k}">{body}</link>' for k in range(links)]
    parts += [
        f'<joint name="joint{k}" type="revolute"><parent link="link{(k - 1) // 3}"/><child link="link{k}"/>'
        '<origin xyz="0 0 0.2" rpy="0 0.1 0"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="10" velocity="2"/></joint>'
        for k in range(1, links)
    ]
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="tree">{"".join(parts)}</robot>')
    lw.load(path).save(folder / "robot.json")
    return path


def robots(folder: Path, links: int = 2000) -> None:
    """Print how long a robot takes, from URDF here and elsewhere, and from our own form."""
    import pinocchio
    import yourdfpy

    path = write_robot(folder, links)
    readers = {
        "linkwork": lambda path: len(lw.load(path).bodies),
        "yourdfpy": lambda path: len(yourdfpy.URDF.load(str(path)).link_map),
        "pinocchio": lambda path: pinocchio.buildModelFromUrdf(str(path)).nv + 1,
        "linkwork, .json": lambda path: len(lw.load(path.with_suffix(".json")).bodies),
        "linkwork, .json, and compile": lambda path: lw.load(path.with_suffix(".json")).compile().nv + 1,
    }
    times: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(3):
        for name, work in readers.items():
            taken, value = timed(work, path)
            assert value == links
            times[name].append(taken)
    for name, taken in times.items():
        file = path.with_suffix(".json" if "json" in name else ".urdf")
        print(f"{file.name} of {links} links, {file.stat().st_size / 1e6:.1f} MB: {name} {min(taken):.2f} s")


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
        robots(Path(folder))


if __name__ == "__main__":
    main()
