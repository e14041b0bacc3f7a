"""The motion of a driven mechanism: through given times, from one to the next."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.kinematics.assembly import reached
from linkwork.kinematics.driver_count import check_drivers
from linkwork.kinematics.equation_system import System, system_of
from linkwork.kinematics.kinematic_recording import KinematicRecording
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.state import State
from linkwork.real_numbers import real_array, shown
from linkwork.recording.channels import LiveChannels
from linkwork.spelling import checked_keywords, require

Array = np.ndarray


@checked_keywords
def kinematics(
    mechanism: Mechanism, times: Any, *, start: Any = None, inputs: Mapping[str, float] | None = None
) -> KinematicRecording:
    """Return the motion of a mechanism whose drivers follow their laws, at given times.

    It begins in the assembly nearest to the drawing, or at `start`, the end of a motion (`motion.final`),
    and goes on continuously: it never changes to another way in which the mechanism can be assembled.
    `inputs` are values by name: those that laws of drivers read say how it moves, those that loads and joints
    read count for the forces of the drivers and the reactions.
    """
    require("kinematics: mechanism", mechanism, Mechanism, "a Mechanism")
    require("kinematics: inputs", {} if inputs is None else inputs, Mapping, "values by name")
    at = np.atleast_1d(real_array("kinematics: times", times))
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all():
        raise ValueError(f"kinematics: times {shown(times)}; give finite numbers [s], in one row")
    system = system_of(mechanism.copy(), inputs=inputs)
    given = start.q if isinstance(start, State) else start
    q = system.assemble() if given is None else real_array("kinematics: start", given)
    if q.shape != (system.nq,) or not np.isfinite(q).all():
        raise ValueError(
            f"kinematics: start of shape {q.shape}; give a posture, or the {system.nq} finite numbers of "
            "motion.final"
        )
    check_drivers(system, q)
    drives = np.zeros((len(at), len(system.laws), 3))
    for k, law in enumerate(system.laws):
        drives[:, k] = law.at(at)
    system.place(reached(system, q, drives[0, :, 0]))
    return marched(LiveChannels(system), at, drives)


def marched(channels: LiveChannels, times: Array, drives: Array) -> KinematicRecording:
    """Go through all times from where the system of the channels is."""
    system: System = channels.model
    start = system.turned_near(system.driven_values(system.w.q), drives[0, :, 0])
    count = len(times)
    q, v, a = np.zeros((count, system.nq)), np.zeros((count, system.n)), np.zeros((count, system.n))
    done = system.march(drives, q, v, a, start)
    motion = KinematicRecording(channels, times[:done], q[:done], v[:done], a[:done])
    if done < count:
        raise _stuck(system, motion, float(times[done]), drives[done, :, 0])
    return motion


def _stuck(system: System, motion: KinematicRecording, time: float, goal: Array) -> AssemblyError:
    last = system.w.q.copy()
    system.w.u[::3] = goal
    system.close(last, np.ones(system.m))
    where = f" at t = {time:.6g} s{system.driven_text(goal)}"
    error = AssemblyError(system.open_text(system.w.q.copy(), where=where))
    error.motion, error.final = motion, State(last, np.zeros(system.n), time)
    return error
