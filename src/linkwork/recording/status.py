"""How a run stands, or how it ended."""

import enum


class Status(enum.IntEnum):
    """The state of one mechanism's run; `MESSAGES` has the words for the user."""

    RUNNING = 0
    DONE = 1
    EVENT = 2
    BUFFER_FULL = 3
    STIFF = 4
    NOT_FINITE = 5
    STEP_UNDERFLOW = 6
    STEP_TOO_LARGE = 7
    TOO_MUCH_WORK = 8
    SINGULAR_JACOBIAN = 9
    LAW_RAISED = 10
    EVENT_STORM = 11
    INTERRUPTED = 12
    LOOPS_OPEN = 13
    LAW_CHANGED = 14


MESSAGES: dict[Status, str] = {
    Status.RUNNING: "the run has not come to its end yet",
    Status.DONE: "the end time was reached",
    Status.EVENT: "an event occurred",
    Status.BUFFER_FULL: "the memory for samples is full and wants to be emptied",
    Status.STIFF: "the motion is stiff: an explicit method is held back by stability, not by accuracy",
    Status.NOT_FINITE: "the accelerations are not finite",
    Status.STEP_UNDERFLOW: "the step needed for the accuracy asked has become smaller than time can resolve",
    Status.STEP_TOO_LARGE: "the fixed step is too large for this motion",
    Status.TOO_MUCH_WORK: "the run takes more steps than allowed, or makes next to no progress",
    Status.SINGULAR_JACOBIAN: "the linear equations of the implicit method are singular at every step size",
    Status.LAW_RAISED: "a law raised an error",
    Status.EVENT_STORM: "an event occurs again and again without the time going on",
    Status.INTERRUPTED: "the run was interrupted",
    Status.LOOPS_OPEN: "closed loops cannot be kept closed, however small the step",
    Status.LAW_CHANGED: "a law became another while the run went on",
}
