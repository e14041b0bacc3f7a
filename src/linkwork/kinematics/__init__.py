"""Kinematics: assembly and motion of mechanisms by Newton-Raphson on the coordinates of their bodies.

`lw.kinematics(mechanism, times)` is the function users call, and this folder has the same name. Python binds
the name of a folder to its module wherever one of its files is imported first; so the module can be called.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.kinematics.kinematic_recording import KinematicRecording
    from linkwork.mechanism.mechanism import Mechanism


class _Kinematics(ModuleType):
    """The module, which is also the function `linkwork.kinematics.motion.kinematics`."""

    def __call__(self, mechanism: "Mechanism", times: Any, **options: Any) -> "KinematicRecording":
        from linkwork.kinematics.motion import kinematics

        return kinematics(mechanism, times, **options)


sys.modules[__name__].__class__ = _Kinematics
