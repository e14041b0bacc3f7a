"""A process that lets MuJoCo compile one model and writes its numbers to standard output.

`mjcf_model` starts it, with JSON of `path`, `folder`, `sys_path` and `seconds` on its command line. The
answer is a line of JSON, which has words and the kinds and shapes of arrays, and then the arrays themselves.
Nothing of Linkwork is imported here.
"""

import json
import signal
import sys
from typing import Any

# Arrays of MuJoCo's model whose names begin so are what a mechanism is made of.
ARRAYS = ("body_", "jnt_", "dof_", "geom_", "site_", "mesh_vert", "mesh_face", "hfield_", "mat_rgba", "eq_")
ARRAYS += ("tendon_", "wrap_", "actuator_", "exclude_", "key_", "name_", "qpos")
DERIVED = ("acc0", "weight0", "length0", "M0")  # at the pose of the drawing, for MuJoCo's solver
OPTIONS = ("gravity", "wind", "density", "viscosity")
# Arrays of numbers that stand for words, as their enumeration has them.
WORDS = {
    "jnt_type": "mjtJoint",
    "geom_type": "mjtGeom",
    "eq_type": "mjtEq",
    "eq_objtype": "mjtObj",
    "wrap_type": "mjtWrap",
    "actuator_trntype": "mjtTrn",
    "actuator_dyntype": "mjtDyn",
    "actuator_gaintype": "mjtGain",
    "actuator_biastype": "mjtBias",
}


def main() -> None:
    """Compile a model and write it, or what MuJoCo says is wrong."""
    asked = json.loads(sys.argv[1])
    sys.path[:] = asked["sys_path"]
    _bound_crashes()
    try:
        import mujoco

        if hasattr(signal, "setitimer"):  # of processor time, at whose end the process ends
            signal.setitimer(signal.ITIMER_PROF, asked["seconds"])
        words, arrays = _numbers(mujoco, _compiled(mujoco, asked["path"], asked["folder"]))
    except Exception as problem:
        words, arrays = {"problem": " ".join(str(problem).split())[:500]}, {}
    said = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    sys.stdout.buffer.write(json.dumps({"words": words, "arrays": said}).encode() + b"\n")
    for array in arrays.values():
        sys.stdout.buffer.write(array.tobytes())


def _bound_crashes() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _compiled(mujoco: Any, path: str, folder: str) -> Any:
    if path.lower().endswith(".xml"):
        spec = mujoco.MjSpec.from_file(path)
    else:  # MuJoCo knows its files by that suffix
        with open(path, encoding="utf-8") as file:
            spec = mujoco.MjSpec.from_string(file.read())
        spec.modelfiledir = folder
    return spec.compile()


def _numbers(mujoco: Any, model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the counts and words of a model, and its arrays."""
    import numpy as np

    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    words: dict[str, Any] = {}
    arrays = {"xpos": data.xpos, "xmat": data.xmat, "names": np.frombuffer(model.names, np.uint8)}
    arrays |= {name: np.asarray(getattr(model.opt, name), float) for name in OPTIONS}
    for name in dir(model):
        if name in WORDS:
            kind = getattr(mujoco, WORDS[name])
            words[name] = [kind(number).name for number in getattr(model, name).tolist()]
        elif name.startswith(ARRAYS) and not name.endswith(DERIVED):
            arrays[name] = getattr(model, name)
        elif name.startswith("n") and isinstance(count := getattr(model, name), int):
            words[name] = count
    no_gravity = int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    words["without_gravity"] = bool(int(model.opt.disableflags) & no_gravity)
    return words, arrays


if __name__ == "__main__":
    main()
