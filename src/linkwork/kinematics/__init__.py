"""Kinematics: assembly and motion of mechanisms by Newton-Raphson on the coordinates of their bodies.

`lw.kinematics(mechanism, times)` is the function users call, and this folder has the same name. Python binds
the name of a folder to its module wherever one of its files is imported first; so the module can be called.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.kinematics.assembly import Posture
    from linkwork.kinematics.kinematic_recording import KinematicRecording
    from linkwork.mechanism.mechanism import Mechanism


def assemble(mechanism: "Mechanism", branch: Any = None, t: float = 0.0) -> "Posture":
    """Draw a mechanism as it fits: see `linkwork.kinematics.assembly.assemble`."""
    from linkwork.kinematics import assembly

    return assembly.assemble(mechanism, branch, t)


def plot(mechanism: "Mechanism", axes: Any = None, **options: Any) -> Any:
    """Draw a mechanism with matplotlib: see `linkwork.kinematics.planar_plot.plot`."""
    from linkwork.kinematics import planar_plot

    return planar_plot.plot(mechanism, axes, **options)


class _Kinematics(ModuleType):
    """The module, which is also the function `linkwork.kinematics.motion.kinematics`."""

    def __call__(self, mechanism: "Mechanism", times: Any, **options: Any) -> "KinematicRecording":
        from linkwork.kinematics.motion import kinematics

        return kinematics(mechanism, times, **options)


sys.modules[__name__].__class__ = _Kinematics
