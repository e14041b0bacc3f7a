"""Modules of an optional package that is not installed are not looked through for examples."""

from importlib.util import find_spec

_OF_MUJOCO = ["linkwork/formats/mjcf_bodies.py", "linkwork/formats/mjcf_forces.py"]
collect_ignore = [] if find_spec("mujoco") else _OF_MUJOCO
