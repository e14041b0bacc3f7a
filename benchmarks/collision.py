"""Collision detection against the peers, ratios of one run: convex pairs, meshes, threads, trees, a pile of
boxes.

    python benchmarks/collision.py [convex] [meshes] [threads] [tree] [pile]

Needs coal, python-fcl and pybullet (`make peers`). One core, but for the threads. Convex pairs: ours from
inside the compiled loop, coal's from Python, on the same random poses; both find contact points, normals and
depths.
"""

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
# coal has no stubs; those of SciPy do not know all it takes

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.contact.flatten import pieces_of, table_of
from linkwork.contact.narrow_phase import contacts_of_pairs
from linkwork.contact.obb_tree import tree_of
from linkwork.contact.shape_table import buffer, work
from linkwork.peer_speed import best_of

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contact"))
from coal_shapes import CONVEX, icosphere, in_coal, poses

CONFIGURATIONS = 2000
ROUNDS = 15


def convex() -> None:
    """Every pair of convex shapes and the half-space, random poses, most of which touch."""
    import coal

    print(f"convex pairs, {CONFIGURATIONS} random poses [us a pair]           coal   ours  ratio (goal 3x)")
    turns, places = poses(CONFIGURATIONS, seed=1)
    shapes = {**CONVEX, "plane": lw.Plane()}
    for one, other in combinations_with_replacement(shapes, 2):
        if other == one == "plane":
            continue
        a, b = shapes[one], shapes[other]
        pieces = pieces_of(a) * CONFIGURATIONS + pieces_of(b) * CONFIGURATIONS
        order = np.arange(CONFIGURATIONS)
        table = table_of(pieces, [0] * len(pieces), [1] * len(pieces), [-1] * len(pieces))
        rows = np.concatenate([turns, places[..., None]], axis=3)
        where = np.ascontiguousarray(np.concatenate([rows[:, 0], rows[:, 1]]))
        pairs = np.column_stack([order, order + CONFIGURATIONS])
        room, found = work(), buffer(8 * CONFIGURATIONS)

        (peer_a, at_a), (peer_b, at_b) = in_coal(a), in_coal(b)
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.enable_contact = True
        frames = [
            (coal.Transform3s(R[0], p[0] + R[0] @ at_a), coal.Transform3s(R[1], p[1] + R[1] @ at_b))
            for R, p in zip(turns, places, strict=False)
        ]

        def theirs(peer_a=peer_a, peer_b=peer_b, frames=frames, request=request, result=result) -> None:
            for at, there in frames:
                result.clear()
                coal.collide(peer_a, at, peer_b, there, request, result)

        def ours(table=table, where=where, pairs=pairs, room=room, found=found) -> None:
            contacts_of_pairs(table, where, pairs, room, found, 0.0)

        times = best_of({"coal": theirs, "ours": ours}, ROUNDS, 0.0)
        us = {name: t / CONFIGURATIONS * 1e6 for name, t in times.items()}
        print(f"  {one:10} {other:32} {us['coal']:12.2f} {us['ours']:6.2f} {us['coal'] / us['ours']:6.1f}x")


def _mesh_pair(gap: float, faces: int = 4):
    """Return a table of two icospheres and their poses, so far apart."""
    mesh = icosphere(faces)
    table = table_of([*pieces_of(mesh), *pieces_of(mesh)], [0, 1], [1, 1], [-1, -1])
    turn = Rotation.random(random_state=3).as_matrix()
    there = np.array([0.3, 0.5, 0.8]) / np.linalg.norm([0.3, 0.5, 0.8]) * gap
    where = np.array([np.c_[np.eye(3), np.zeros(3)], np.c_[turn, there]])
    return mesh, table, where, turn, there


def meshes() -> None:
    """Two icospheres of 5,120 triangles: all triangles that touch, with contact points."""
    import coal
    import fcl

    print("two meshes of 5,120 triangles [us]             coal     fcl    ours   ratios (goal 2x)")
    for name, gap in (("deep", 1.0), ("light", 1.98), ("near miss", 2.02)):
        mesh, table, where, turn, there = _mesh_pair(gap)
        room, found, pair = work(), buffer(256), np.array([[0, 1]])
        peers = [in_coal(mesh)[0], in_coal(mesh)[0]]
        request = coal.CollisionRequest()
        request.enable_contact, request.num_max_contacts = True, 100_000
        frames = coal.Transform3s(np.eye(3), np.zeros(3)), coal.Transform3s(turn, there)
        objects = []
        for frame in (fcl.Transform(np.eye(3), np.zeros(3)), fcl.Transform(turn, there)):
            model = fcl.BVHModel()
            model.beginModel(len(mesh.vertices), len(mesh.faces))
            model.addSubModel(mesh.vertices, mesh.faces)
            model.endModel()
            objects.append(fcl.CollisionObject(model, frame))

        def by_coal(peers=peers, frames=frames, request=request) -> None:
            result = coal.CollisionResult()
            coal.collide(peers[0], frames[0], peers[1], frames[1], request, result)

        def by_fcl(objects=objects) -> None:
            request = fcl.CollisionRequest(num_max_contacts=100_000, enable_contact=True)
            fcl.collide(*objects, request, fcl.CollisionResult())

        def ours(table=table, where=where, pair=pair, room=room, found=found) -> None:
            contacts_of_pairs(table, where, pair, room, found, 0.0)

        t = best_of({"coal": by_coal, "fcl": by_fcl, "ours": ours}, 9, 0.02)
        ratios = ", ".join(f"{t[peer] / t['ours']:.1f}x" for peer in ("coal", "fcl"))
        print(f"  {name:40} {t['coal'] * 1e6:8.1f}{t['fcl'] * 1e6:8.1f}{t['ours'] * 1e6:8.1f}   {ratios}")


def threads() -> None:
    """The same mesh query many times, on one thread and on two."""
    _, table, where, _, _ = _mesh_pair(1.0)
    pairs = np.tile([[0, 1]], (200, 1))
    rooms, found = [work(), work()], [buffer(20_000), buffer(20_000)]

    def half(k: int) -> float:
        began = time.thread_time()
        contacts_of_pairs(table, where, pairs, rooms[k], found[k], 0.0)
        return time.thread_time() - began

    used = {"one": np.inf, "two": np.inf}

    def one() -> None:
        used["one"] = min(used["one"], half(0) + half(1))

    with ThreadPoolExecutor(2) as pool:

        def two() -> None:
            used["two"] = min(used["two"], sum(pool.map(half, range(2))))

        t = best_of({"one": one, "two": two}, 5 * ROUNDS, 0.0, time.perf_counter)
    print(f"400 mesh queries: one thread {t['one'] * 1e3:.2f} ms, two {t['two'] * 1e3:.2f} ms, ", end="")
    print(f"{t['one'] / t['two']:.2f}x (goal 1.9x); ", end="")
    print(f"by processor time, where both cores are free, {2 * used['one'] / used['two']:.2f}x")


def tree() -> None:
    """The tree of 100,000 triangles."""
    import coal

    rng = np.random.default_rng(0)
    mesh = icosphere(6)
    faces = np.concatenate([mesh.faces, mesh.faces[:18_080]])
    vertices = np.ascontiguousarray(mesh.vertices * rng.uniform(0.99, 1.01, (len(mesh.vertices), 1)))

    def by_coal() -> None:
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(faces), len(vertices))
        model.addVertices(vertices)
        model.addTriangles(faces)
        model.endModel()

    t = best_of({"ours": lambda: tree_of(vertices, faces), "coal": by_coal}, 3, 0.0)
    print(f"tree of {len(faces)} triangles: {t['ours']:.3f} s (goal 1 s); coal {t['coal']:.3f} s")


def settled_pile(count: int = 1000, seconds: float = 4.0):
    """Drop boxes in PyBullet until they lie still; return the client and poses (position, quaternion x y z
    w)."""
    import pybullet as p

    rng = np.random.default_rng(0)
    p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81)
    p.setPhysicsEngineParameter(numSolverIterations=30)
    p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
    for x, y, wide, deep in (
        (2.0, 0, 0.1, 2.2),
        (-2.0, 0, 0.1, 2.2),
        (0, 2.0, 2.2, 0.1),
        (0, -2.0, 2.2, 0.1),
    ):
        wall = p.createCollisionShape(p.GEOM_BOX, halfExtents=[wide, deep, 4.0])
        p.createMultiBody(0, wall, basePosition=[x, y, 4.0])
    box = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.15, 0.15, 0.15])
    side = 9
    for k in range(count):
        layer, place = divmod(k, side * side)
        i, j = divmod(place, side)
        at = np.array([0.42 * (i - side // 2), 0.42 * (j - side // 2), 0.3 + 0.45 * layer])
        turn = Rotation.random(random_state=k).as_quat()
        p.createMultiBody(1.0, box, basePosition=at + rng.uniform(-0.03, 0.03, 3), baseOrientation=turn)
    for _ in range(int(seconds * 240)):
        p.stepSimulation()
    return p, [p.getBasePositionAndOrientation(5 + k) for k in range(count)]


def pile() -> None:
    """Broad phase and contact points of a settled pile of 1,000 boxes, against PyBullet on the same pile."""
    p, places = settled_pile()
    world = lw.Colliders()
    world.add("floor", lw.Plane())
    for k, (x, y, wide, deep) in enumerate(
        ((2.0, 0, 0.2, 4.4), (-2.0, 0, 0.2, 4.4), (0, 2.0, 4.4, 0.2), (0, -2.0, 4.4, 0.2))
    ):
        world.add(f"wall {k}", lw.Box(wide, deep, 8.0), position=(x, y, 4.0), fixed=True)
    box = lw.Box(0.3, 0.3, 0.3)
    for k, (position, turn) in enumerate(places):
        world.add(f"box {k}", box, position=position, rotation=np.roll(turn, 1))
    built, _ = world._ready()
    room, found = work(), buffer(50_000)

    def ours() -> None:
        built.move("floor", built.bodies[built.number["floor"]])
        where = built.shape_poses()
        pairs = built.pairs_within(where, 0.0)
        contacts_of_pairs(built.table, where, pairs, room, found, 0.0)

    t = best_of({"pybullet": p.performCollisionDetection, "ours": ours}, 15, 0.05)
    began = time.perf_counter()
    pairs = built.pairs_within(built.shape_poses(), 0.0)
    broad = time.perf_counter() - began
    theirs = f"pybullet {t['pybullet'] * 1e3:.2f} ms ({len(p.getContactPoints())} points)"
    points = f"{found.count[0]} points of {len(pairs)} pairs, broad phase {broad * 1e3:.2f}"
    ratio = f"{t['pybullet'] / t['ours']:.1f}x (goal 2x)"
    print(f"pile of {len(places)} boxes: {theirs}, ours {t['ours'] * 1e3:.2f} ms ({points}), {ratio}")
    p.disconnect()


if __name__ == "__main__":
    for name in sys.argv[1:] or ("convex", "meshes", "threads", "tree", "pile"):
        globals()[name]()
