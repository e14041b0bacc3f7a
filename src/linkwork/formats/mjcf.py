"""Models of MuJoCo (MJCF), compiled by MuJoCo itself: defaults, includes and inertia as it sees them.

Needs the extra `linkwork[mjcf]`. Soft constraints of MuJoCo become exact ones; what has no counterpart is
listed by name in a warning.
"""

from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import FormatError, LinkworkError, warn
from linkwork.formats.file_format import FileFormat, Reading
from linkwork.formats.markup import LARGEST, Element
from linkwork.formats.mjcf_bodies import Bodies, MjcfNames, rotation
from linkwork.formats.mjcf_files import checked_model
from linkwork.formats.mjcf_forces import Forces
from linkwork.formats.mjcf_model import compiled
from linkwork.formats.mjcf_out import save_mjcf
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.mechanism import Mechanism

_BOUNDED = ("body_mass", "body_inertia", "body_pos", "geom_size", "jnt_range", "gravity")


def load_mjcf(path: Path, largest: int = 0) -> Mechanism:
    """Read a model; bodies and joints have the names they have there, coordinates are those of MuJoCo.

    Compiling it may take as much time and memory as its size warrants, or that of one of `largest` bytes.
    """
    root, size = checked_model(path)
    model = compiled(path, max(size, largest))
    try:
        return _mechanism(path, root, model)
    except LinkworkError:
        raise
    except ValueError as problem:  # of a material, a joint, a shape, which MuJoCo allows
        raise FormatError(f"{path}: {problem}") from None


def _mechanism(path: Path, root: Element, model: Any) -> Mechanism:
    left_out: list[str] = []
    _check_numbers(path, model)
    gravity = (0.0, 0.0, 0.0) if model.without_gravity else model.gravity.tolist()
    mechanism = Mechanism(root.attributes.get("model") or path.stem, gravity)
    names = MjcfNames(model)
    parts = Bodies(model, mechanism, names, left_out)
    Forces(parts, names, left_out)
    _contact(model, parts, names)
    _states(model, parts)
    for word, count in (("flex", model.nflex), ("skin", model.nskin), ("plugin", model.nplugin)):
        if count:
            left_out.append(f"{count} of {word}")
    if model.nmocap:
        left_out.append("mocap bodies, which stand still")
    if model.body_gravcomp.any():
        left_out.append("gravcomp of bodies")
    if left_out:
        warn(f"{path}: left out: {', '.join(dict.fromkeys(left_out))}")
    return mechanism


def _check_numbers(path: Path, model: Any) -> None:
    """Refuse what is not finite, and masses, sizes and places beyond all bounds."""
    for name, array in vars(model).items():
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            most = LARGEST if name in _BOUNDED else np.finfo(float).max
            wrong = np.argwhere(~(np.abs(array) <= most))
            if len(wrong):
                place = tuple(wrong[0].tolist())
                raise FormatError(
                    f"{path}: {name}[{', '.join(map(str, place))}] is {array[place]:g}, as MuJoCo has it; "
                    f"give a number{f' up to {most:g}' if name in _BOUNDED else ' that is finite'}"
                )


def _contact(model: Any, parts: Any, names: Any) -> None:
    """Let bodies meet as MuJoCo does: all that contype and conaffinity allow, but for excluded pairs."""
    if not any(body.collisions for body in parts.bodies):
        return
    pairs = [(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature.tolist()]
    pairs = [(a, b) for a, b in pairs if a != b and a < len(parts.bodies) and b < len(parts.bodies)]
    without = [(parts.bodies[a], parts.bodies[b]) for a, b in dict.fromkeys(pairs)]
    parts.mechanism.add(Contact(names.free("contact"), without=without))


def _states(model: Any, parts: Any) -> None:
    """Keep keyframes as states."""
    for k in range(model.nkey):
        positions, velocities = {}, {}
        for j, joint in enumerate(parts.joints):
            q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            positions[joint.name] = _numbers(model.key_qpos[k, q : q + joint.nq])
            speed = model.key_qvel[k, v : v + joint.nv]
            if joint.nv == 6:  # MuJoCo has the velocity along the axes of the world, and first
                turn = rotation(model.key_qpos[k, q + 3 : q + 7])
                speed = np.r_[speed[3:], turn.T @ speed[:3]]
            if speed.any():
                velocities[joint.name] = _numbers(speed)
        name = parts.names.take("key", k, f"key{k}")
        parts.mechanism.states[name] = positions | ({"velocities": velocities} if velocities else {})


def _numbers(values: Any) -> Any:
    return float(values[0]) if len(values) == 1 else values.tolist()


def _read(path: Path, reading: Reading) -> Mechanism:
    return load_mjcf(path, reading.largest or 0)


FORMAT = FileFormat(suffix=".mjcf", holds="mechanism", read=_read, write=save_mjcf, takes=("largest",))
