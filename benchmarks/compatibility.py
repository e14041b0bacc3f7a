"""Models of others: which are read, and how far their accelerations are from those of MuJoCo or Pinocchio.

    python benchmarks/compatibility.py [FOLDER ...]

Without folders: the models in the installed packages gymnasium, mujoco, dm_control, example-robot-data and
pybullet_data. Contacts, limits, friction and equalities are off on both sides; states are random.
In example-robot-data the boxes around meshes, as they lie on their links, are compared with Pinocchio too.
"""

import dataclasses
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.geometry.skin import Collision, MeshFile, Visual, skins

PACKAGES = ("gymnasium", "mujoco", "dm_control", "pybullet_data")


def folders() -> dict[str, Path]:
    """Return where packages keep their models."""
    found = {name: Path(spec.origin).parent for name in PACKAGES if (spec := find_spec(name)) and spec.origin}
    robots = [Path(entry) / "cmeel.prefix/share/example-robot-data/robots" for entry in sys.path]
    for folder in filter(Path.is_dir, robots):
        found["example-robot-data"] = folder
    return found


def bare(m: lw.Mechanism, others: list[str]) -> lw.Model:
    """Return a model without what the comparison leaves out."""
    for name in [*others, *m.contacts]:
        m.remove(name)
    for joint in m.joints.values():
        joint.limits, joint.friction = None, 0.0
    return m.compile()


def against_mujoco(path: Path) -> float:
    """Return the largest relative difference of accelerations from MuJoCo's."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    m = opened(path)
    if path.suffix == ".urdf":  # MuJoCo has the joints in another order
        known = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
        joints = [m.joints[name] for name in known]
    else:
        joints = [joint for joint in m.joints.values() if joint.nv][: model.njnt]
    names = [
        mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, k) or f"equality{k}" for k in range(model.neq)
    ]
    ours = bare(m, [name for name in names if name in m])
    if not model.nv:
        return 0.0
    data, rng, worst = mujoco.MjData(model), np.random.default_rng(0), 0.0
    for _ in range(3):
        data.qpos[:] = model.qpos0 + rng.normal(0.0, 0.3, model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:], data.ctrl[:] = rng.normal(size=model.nv), rng.normal(0.0, 0.3, model.nu)
        mujoco.mj_forward(model, data)
        positions, velocities, wanted = {}, {}, {}
        for j, joint in enumerate(joints):
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            x, y, a = data.qpos[q : q + joint.nq], data.qvel[v : v + joint.nv], data.qacc[v : v + joint.nv]
            if joint.nv == 6:
                turn = np.empty(9)
                mujoco.mju_quat2Mat(turn, x[3:])
                turn = turn.reshape(3, 3)
                y = np.r_[y[3:], turn.T @ y[:3]]
                a = np.r_[a[3:], turn.T @ a[:3] - np.cross(y[:3], y[3:])]
            positions[joint.name], velocities[joint.name] = (
                float(z[0]) if z.size == 1 else z for z in (x, y)
            )
            wanted[joint.name] = a
        state = ours.state(positions, velocities=velocities)
        actuators = [
            mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, k) or f"actuator{k}"
            for k in range(model.nu)
        ]
        inputs = {name: u for name, u in zip(actuators, data.ctrl.tolist()) if name in ours.inputs}
        found = ours.motion(dataclasses.replace(state, inputs=inputs))
        for name, a in wanted.items():
            error = np.abs(found[state.slices[name][1]] - a).max()
            worst = max(worst, float(error / (1.0 + np.abs(data.qacc).max())))
    return worst


def opened(path: Path) -> lw.Mechanism:
    """Return a robot; tensors that no body has, which others take, are kept if it is refused for them."""
    try:
        return lw.load(path)
    except lw.LinkworkError as problem:
        if "unphysical=True" not in str(problem):
            raise
        return lw.load(path, unphysical=True)


def against_pinocchio(path: Path) -> float:
    """Return the largest relative difference of forward dynamics from Pinocchio's."""
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(path))
    data, rng, worst = model.createData(), np.random.default_rng(0), 0.0
    still = np.zeros(model.nv)
    if not np.isfinite(pinocchio.aba(model, data, pinocchio.neutral(model), still, still)).all():
        raise ValueError("its accelerations are no numbers")
    ours = opened(path).compile()
    state = ours.state()
    for _ in range(3):
        q, v, tau = pinocchio.neutral(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
        a, b, c = state.q.copy(), np.zeros(ours.nv), np.zeros(ours.nv)
        for k in range(1, model.njoints):
            joint, name = model.joints[k], model.names[k]
            in_q, in_v = state.slices[name]
            here = slice(joint.idx_v, joint.idx_v + joint.nv)
            if joint.nv == 1:
                angle = 0.4 * rng.normal()
                q[joint.idx_q : joint.idx_q + joint.nq] = (
                    angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
                )
                a[in_q], b[in_v], c[in_v] = angle, v[here], tau[here]
            else:
                v[here] = tau[here] = 0.0
        wanted = pinocchio.aba(model, data, q, v, tau)
        found = ours.forward_dynamics(a, b, c)
        for k in range(1, model.njoints):
            joint = model.joints[k]
            if joint.nv == 1:
                error = abs(found[state.slices[model.names[k]][1]][0] - wanted[joint.idx_v])
                worst = max(worst, float(error / (1.0 + np.abs(wanted).max())))
    return worst


def meshes_elsewhere(path: Path) -> tuple[int, list[str]]:
    """Return how many meshes of a robot there are, and those that Pinocchio has at another place."""
    import pinocchio

    m, model = opened(path), pinocchio.buildModelFromUrdf(str(path))
    count, elsewhere = 0, []
    kinds = (("visuals", pinocchio.VISUAL, Visual), ("collisions", pinocchio.COLLISION, Collision))
    for word, kind, ours in kinds:
        geometry = pinocchio.buildGeomFromUrdf(
            model, str(path), kind, package_dirs=list(map(str, path.parents))
        )
        theirs: dict[str, list[Any]] = {}
        for thing in geometry.geometryObjects:
            theirs.setdefault(thing.name.rpartition("_")[0], []).append(thing)
        for link in theirs.keys() & m.bodies.keys():
            worn = skins(getattr(m.bodies[link], word), ours)
            frame = model.frames[model.getFrameId(link)].placement
            for skin, thing in zip(worn, theirs[link], strict=True):
                if not isinstance(skin.shape, MeshFile) or not hasattr(thing.geometry, "vertices"):
                    continue
                place, points = frame.inverse() * thing.placement, np.asarray(thing.geometry.vertices())
                points = points @ place.rotation.T + place.translation
                expected = np.array([points.min(axis=0), points.max(axis=0)])
                found = np.array(lw.load(skin.shape).bounds)
                count += 1
                if np.abs(found - expected).max() > 1e-4 * np.ptp(expected, axis=0).max():
                    elsewhere.append(f"{link}: {skin.shape.filename}")
    return count, elsewhere


def compared(path: Path) -> tuple[float | None, str]:
    """Return the error, None if there is none to tell of, and what is to be said of a file."""
    peers = {"MuJoCo": against_mujoco} if path.suffix == ".xml" else PEERS
    reasons = []
    for name, against in peers.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                error = against(path)
            return error, f"{error:9.1e}" + (f" from {name}" if reasons else "")
        except lw.LinkworkError as problem:
            return np.inf, f"refused: {' '.join(str(problem).split())[-140:]}"
        except Exception as problem:  # of the peer: it does not read this file, or knows other names
            reasons.append(f"{name}: {' '.join(str(problem).split())[:80]}")
    return None, f"{loaded(path)}; no comparison: {'; '.join(reasons)}"


def loaded(path: Path) -> str:
    """Say whether a file is read that no peer reads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened(path)
    except lw.LinkworkError as problem:
        return f"refused: {' '.join(str(problem).split())[-140:]}"
    return "read"


PEERS = {"Pinocchio": against_pinocchio, "MuJoCo": against_mujoco}  # of URDF, the second if the first cannot


def main() -> None:
    where = {word: Path(word) for word in sys.argv[1:]} or folders()
    lines = []
    for package, folder in where.items():
        for suffix in (".urdf", ".xml"):
            errors, meshes = [], 0
            for path in sorted(folder.rglob(f"*{suffix}")):
                error, text = compared(path)
                errors += [] if error is None else [error]
                print(f"{path.relative_to(folder)!s:60} {text}", flush=True)
                if package == "example-robot-data" and error is not None and error < 1e-9:
                    count, elsewhere = meshes_elsewhere(path)
                    meshes += count
                    print(*(f"    elsewhere: {mesh}" for mesh in elsewhere), sep="\n", end="")
            if errors:
                good = sum(error < 1e-9 for error in errors)
                share = 100.0 * good / len(errors)
                lines.append(
                    f"{package:20} {suffix:5} {good:5} of {len(errors):5} agree to 1e-9, {share:.1f} %"
                    + (f"; {meshes} meshes" if meshes else "")
                )
    print("\nof those that MuJoCo (.xml), or Pinocchio or MuJoCo (.urdf) read:", *lines, sep="\n")


if __name__ == "__main__":
    main()
