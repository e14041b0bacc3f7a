"""A stepped run that goes through the times of its samples: with a progress bar, Ctrl-C and checkpoints."""

from collections.abc import Sequence
from math import inf

import numpy as np

from linkwork.errors import warn
from linkwork.recording.status import Status
from linkwork.simulation.checkpoint import CheckpointFile
from linkwork.simulation.failure import interruption
from linkwork.simulation.progress import Progress
from linkwork.simulation.step_clock import StepClock
from linkwork.simulation.stepped_run import SteppedRun

_PIECE = 64  # steps between two looks at the clock

Array = np.ndarray


def go_through(run: SteppedRun, times: Sequence[float], checkpoint: CheckpointFile | None = None) -> bool:
    """Go on to rising times, one after the other; they are the samples of the recording.

    Ctrl-C ends it where it is, as INTERRUPTED, and it returns False. With a checkpoint it goes on where that
    was written.
    """
    if checkpoint:
        _recall(run, checkpoint)
    if run.record and len(times) and times[0] > run.clock.t:
        run.record.begin()
    begun, piece = run.clock.t, _PIECE * run.setup.setting.chosen.step or inf
    try:
        with Progress(run.setup.model.name) as progress:
            for t in times:
                while t > run.clock.t and not run.stopped:
                    progress.update((run.clock.t - begun) / (times[-1] - begun))
                    end = min(t, run.clock.t + piece)
                    run.go_to(end, sampled=end == t)
                    if checkpoint and checkpoint.due:
                        _keep(run, checkpoint)
    except KeyboardInterrupt:
        _interrupt(run, checkpoint)
        return False
    if checkpoint and run.sides.memo("status")[0] == Status.DONE:
        _keep(run, checkpoint)
    run.clock = StepClock(run.clock.t)
    return True


def _interrupt(run: SteppedRun, checkpoint: CheckpointFile | None) -> None:
    """End where all mechanisms have been left."""
    ends = run.sides.memo("t_final").tolist()
    run.clock = StepClock(max(ends))
    if checkpoint:
        _keep(run, checkpoint)
    run.add_sample()
    run.sides.fail({k: interruption(t) for k, t in enumerate(ends) if not run.sides.failures[k]})


def _recall(run: SteppedRun, checkpoint: CheckpointFile) -> None:
    """Go on where this run was when it was kept; else keep it for the first time."""
    kept = checkpoint.read()
    if kept is None:
        checkpoint.open(*_so_far(run))
        return
    checkpoint.check(kept, _so_far(run)[0])
    arrays = dict(kept.memory)
    header = {"clock": arrays.pop("clock").tolist(), "stopped": False, "events": [kept.events]}
    with checkpoint.recalling():
        run.become(header, arrays)


def _so_far(run: SteppedRun) -> tuple[dict[str, Array], Array, list[tuple[float, str]]]:
    header, arrays = run.contents()
    return arrays | {"clock": np.array(header["clock"], float)}, np.zeros((0, 1)), run.sides.happened[0]


def _keep(run: SteppedRun, checkpoint: CheckpointFile) -> None:
    """Write the run so far to disk; if that fails the run goes on, with what was kept before."""
    try:
        checkpoint.write(*_so_far(run))
    except OSError as error:
        checkpoint.put_off()
        warn(f"checkpoint: an older one was kept: {error}")
