"""What the native functions hand each other: the record of a run, of a lane, and of a mechanism's memory."""

import enum

import numpy as np

EPSILON = 2.0**-52
SHORTEST = 16 * EPSILON  # step, relative to the time
ON_MESH = 1e-9  # a time this close to a fixed mesh, in steps, is on it


class Failure(enum.IntEnum):
    """Why an attempt failed."""

    NONE = 0
    ERROR = 1
    NOT_FINITE = 2
    SINGULAR = 3
    OPEN = 4  # loops could not be closed


class Task(enum.IntEnum):
    """What a lane is doing."""

    IDLE = 0  # no mechanism
    READY = 1  # at a base, before an attempt
    NATURAL = 2  # attempt of a step of the mesh
    END = 3  # attempt to reach the end time, where the natural step beyond it is not finite
    LAST = 4  # to the end time inside a natural step that was good: not judged again
    PASSED = 5  # a good attempt, before looking at what lies inside
    MOVED = 6  # a good natural step with nothing left to do inside
    PROBE = 7  # side step to where an event function may have dipped through zero
    LOCATE = 8  # side step in search of the time of an event
    SAMPLE = 9  # to a sample, by a side step or by the polynomial of the step


# What a mechanism remembers beside its state; all doubles, so that it is also an array (N, columns).
MEMO = np.dtype(
    [
        (name, np.float64)
        for name in (
            # first the times, which all begin as that of the start
            "t",  # of the base, the last committed point [s]
            "t0",  # fixed step: t = t0 + index h
            "t_final",  # time of y_final [s]
            "check_t",  # of the last look at progress
            "check_attempts",  # attempts until then
            "h",  # natural step [s]; 0: to be chosen
            "index",
            "begun",  # 1 once the start state was recorded
            "trend",  # logarithm (2) of the error of the last accepted step, against the tolerance; 0: none
            "held",  # 1 after a rejection: the next step must not grow
            "blocked",  # the end time beyond which the natural step from this base was not finite; NaN: none
            "implicit",  # 1 in implicit mode
            "hits",  # accepted steps at the border of stability, and
            "misses",  # steps away from it since the last
            "calm",  # implicit steps that an explicit method could have done
            "stiff",  # times that the motion was found stiff
            "switches",  # changes between explicit and implicit
            "accepted",
            "rejected",
            "evaluations",  # of the right-hand side
            "jacobians",
            "sample",  # next of the sample times
            "status",
            "event",  # which event occurred
            "worst",  # component with the largest error in the last attempt that kept h down; -1: none
            "largest",  # largest error estimate of an accepted step, relative to scale + |y|
            "sum",  # sum of those estimates
            "failure",  # why the last natural attempt failed, a `Failure`
            "dropped",  # the fewest rows of loops that were redundant at a base
            "margin",  # how firm the weakest of the other rows was where it was weakest, and
            "margin_t",  # when [s]
            "step_1",  # the last five steps taken, the latest first [s]
            "step_2",
            "step_3",
            "step_4",
            "step_5",
        )
    ]
)

LANE = np.dtype(
    [
        ("who", np.int64),  # mechanism; -1: none
        ("task", np.int64),
        ("goal", np.int64),  # the task that was judged: NATURAL, END or LAST
        ("failure", np.int64),  # of the attempt
        ("stiff", np.int64),  # whether the good step was at the border of stability
        ("dense", np.int64),  # whether there is a polynomial of the good natural step, and
        ("whole", np.float64),  # how long that step is
        ("waits", np.int64),  # whether it has no part in the attempt: polynomials of others are looked at
        ("step", np.float64),  # of the attempt under way
        ("passed", np.float64),  # step of the good attempt
        ("error", np.float64),  # of the attempt, relative to scale + |y|
        ("margin", np.float64),  # at the end of the good attempt: how firm the loops' weakest row is, and
        ("dropped", np.float64),  # how many are redundant
        ("spent", np.float64),  # evaluations not booked yet
        ("due", np.float64),  # time of the next sample; inf: there is none [s]
        ("probing", np.int64),  # event whose dip is looked at
        ("found", np.int64),  # event that was located; -1: none
        ("lo", np.float64),  # bracket of the event, in the step
        ("hi", np.float64),
        ("trials", np.int64),
        ("slow", np.int64),  # trials in a row that did not halve the bracket
        ("moved", np.int64),  # which end moved last: -1 low, 1 high
    ]
)

_PROGRAM = np.dtype([("run", np.int64), ("plan", np.int64), ("ports", np.int64), ("slots", np.int64, 12)])

# Arrays of the lanes, by length; component i of lane l is at i * lanes + l.
PER_LANE = (
    "t",  # of the base
    "reach",  # time at the end of the good attempt
    "time",  # of a stage
    "sick",  # NaN where a stage is not finite
    "error",  # largest of the estimate, relative to scale + |y|
    "lower",  # the same of the second estimate
    "dead",  # NaN where the right-hand side after a good attempt is not finite
    "change",  # for the test of stiffness: largest change, relative, of the right-hand side and
    "distance",  # of the state
    "open",  # largest gap of the loops
    "margin",  # pivot of the weakest of the loops' rows, relative to one that is dropped
    "dropped",  # how many rows are dropped
    "defect",  # of a step against the trapezoidal rule, relative to scale + |y|
)
PER_COMPONENT = (
    "scale",  # normal size of a component; inf for work
    "base",
    "stage",
    "marked",  # state of the marked stage
    "new",  # result of an attempt
    "kept",  # result of the good attempt, and
    "rate",  # the right-hand side there
    "located",  # state at an event
    "relative",  # one over scale + |y|
    "scratch",
    "other",  # more scratch
)
PER_EVENT = (
    "g_base",
    "g_kept",
    "g_trial",
    "slope_base",  # change in a step at the rate at the base, and
    "slope_kept",  # at the end
    "target",  # sign after the crossing looked for; 0: none
    "start",  # where inside the step the crossing can begin
    "low",  # values at the ends of the bracket
    "high",
)
_OTHERS = (
    "lane",  # (lanes,) records
    "h",  # (8,) steps of the lanes, again and again
    "k",  # (stages, stride) right-hand sides; two stages at least; with those for the polynomials
    "polynomial",  # (7, stride) coefficients of the polynomials of good natural steps, and
    "fresh",  # the same before they are sorted by lanes
    "estimate",  # (stride,) of errors, relative to scale + |y|
    "jacobian",  # (n, n): rows of q', v', W'; columns of q, v, t
    "factors",  # (n - 1, n - 1)
    "pivots",  # (n - 1,) integers
    "u",  # (stages, n) of the implicit method
    "direct",  # (5, n tangent_lanes): state, value, direction, derivative; t and dt
    "directions",  # (ne,) integers
    "gap",  # (rows, lanes) of the loops' equations
    "row_weights",  # (rows,)
    "inverse_pivots",  # (rows, lanes) of the loops' equations; 0: dropped
    "weak",  # (rows,)
    "quaternions",  # first rows of four numbers of length one, integers
    "since",  # (width + 1,) from which stage on, after the first, a sum for a stage or for the result runs
    "weights",  # (2, width + 1, width) of these sums, for positions; for velocities and work
    "dense_weights",  # (stages, 4) of the coefficients of the polynomial
    "error_weights",  # (stages, 2) of the two estimates
    "c",
    "rates_only",  # (stages,) 1 where only the rates of positions are evaluated; integers
    "ros_a",  # (stages, stages) of the implicit method
    "ros_c",
    "ros_alpha",
    "ros_gammas",
)
_MEMORY = ("y", "memo", "y_final", "record", "filled", "times", "bad_t", "bad_y", "side", "span", "weakest")
_COUNTS = (
    "nq",
    "nv",
    "n",
    "lanes",
    "size",  # n lanes
    "stride",  # bytes of an array of so many numbers, in whole lines
    "events",
    "rows",  # equations of loops
    "quaternion_count",
    "tangent_lanes",
    "many",  # mechanisms
    "queue",  # the next of them that waits for a lane
    "cap",  # samples that have room
    "sample_count",  # sample times
    "stages",
    "dense_stages",  # evaluations that the polynomial of a step takes; 0: there is none
    "width",  # weights of a sum
    "split",  # whether positions have weights of their own
    "errors",  # how many estimates
    "error_order",
    "mark",  # a stage at the end of the step, for the test of stiffness; -1: none
    "ros_stages",
    "ros_error_order",
    "switch",
    "every",  # record every step
    "differentiated",  # whether the Jacobian is that of the base
    "attention",  # whether an event or a full buffer waits for the caller
)
_NUMBERS = (
    "t_end",
    "tolerance",
    "inverse_tolerance",
    "fixed",  # the fixed step; 0: error control
    "h_max",
    "time_scale",
    "max_steps",
    "gain",  # powers of the error of the last step and
    "trend",  # of the one before, with which the next step goes
    "safety",  # factor of the next step
    "bound",  # of stability
    "gamma",
    "norm",  # of the Jacobian
    "factored",  # the step of the factors
)
PROGRAMS = ("motion", "rates", "event_functions", "tangent", "close_positions", "close_velocities")

# All that the native functions see: counts and addresses, numbers, programs.
RUN = np.dtype(
    [(name, np.int64) for name in (*_COUNTS, *PER_LANE, *PER_COMPONENT, *PER_EVENT, *_OTHERS, *_MEMORY)]
    + [(name, np.float64) for name in _NUMBERS]
    + [(name, _PROGRAM) for name in PROGRAMS]
)
