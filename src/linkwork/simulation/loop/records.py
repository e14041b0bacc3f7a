"""What lies where in the memory of a run: names, shapes, units.

Native functions hand each other one record, RUN. It holds counts and settings, the programs, and the
addresses of all arrays. These are doubles unless said, (..., lanes): component i of lane l is at
i * lanes + l. A state is y = (q, v, W): positions [rad, m; quaternions have no unit], velocities
[rad/s, m/s], work of applied forces [J].
"""

import enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.simulation.loop.programs import PROGRAMS, program_record

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

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
    DISTURBED = 5  # other rows of loops were redundant at a stage than at the base


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


# ---- Counts and settings, in RUN itself ----

_COUNTS = (
    "nq",  # positions
    "nv",  # velocities
    "n",  # nq + nv + 1, components of a state
    "lanes",  # mechanisms side by side: 1, 2, 4 or 8
    "size",  # n lanes
    "stride",  # bytes of an array of `size` numbers, in whole cache lines
    "events",  # event functions
    "rows",  # equations of closed loops; 0 also where wrenches restore them
    "quaternion_count",
    "input_count",
    "constant_count",  # numbers that mechanisms have of their own: see `constants`; 0: they are all alike
    "tangent_lanes",  # directions that the tangent takes at once
    "many",  # mechanisms of the run, N
    "queue",  # the next of them that waits for a lane
    "cap",  # samples per mechanism that have room
    "sample_count",  # sample times
    "every",  # 1: record every step
    "switch",  # 1: go over to the implicit method where the motion is stiff
    "central",  # 1: differences for the Jacobian are central
    "differentiated",  # 1: the Jacobian is that of the base
    "attention",  # 1: an event or a full buffer waits for the caller
    # of the explicit method's tables
    "stages",
    "dense_stages",  # evaluations that the polynomial of a step takes; 0: there is none
    "width",  # weights of a sum over stages
    "split",  # 1: positions have weights of their own
    "mark",  # a stage at the end of the step, for the test of stiffness; -1: none
    # of the implicit method's
    "ros_stages",
)
_NUMBERS = (
    "t_end",  # [s]
    "tolerance",  # of the error of a step, relative to scale + |y|
    "inverse_tolerance",
    "fixed",  # the fixed step [s]; 0: error control
    "h_max",  # the longest step [s]
    "time_scale",  # times below count as this when it is asked whether a step is too short [s]
    "max_steps",
    "patience",  # attempts after which it is asked whether there is progress
    "bound",  # h |lambda| at the border of the explicit method's stability
    "gamma",  # of the implicit method
    "norm",  # of the Jacobian [1/s]
    "factored",  # the step that the factors are for [s]
)

# ---- A method, as step control sees it; [0] is the explicit one of a run, [1] the implicit one ----

METHOD = np.dtype(
    [
        ("evaluations", np.int64),  # of a step, beside that at its base
        ("dense_stages", np.int64),  # evaluations that the polynomial takes; 0: samples are side steps
        ("estimates", np.int64),  # of the error; 0: for fixed steps only
        ("error_order", np.int64),  # the estimate shrinks with this power of the step
        ("gain", np.float64),  # powers of the error of the last step and
        ("trend", np.float64),  # of the one before, with which the next step goes
        ("safety", np.float64),  # factor of the next step
    ]
)

# ---- A mechanism: N of each, kept from call to call ----


class Memory(NamedTuple):
    """All that the N mechanisms of a run are and remember, from call to call."""

    y: Array  # (N, n) state at the base
    memo: NDArray[np.void]  # (N,) records MEMO
    y_final: Array  # (N, n) state at the end, at an event, or the last good one
    record: Array  # (N, cap, 1 + n) samples: t, y
    filled: Integers  # (N,) samples recorded
    bad_t: Array  # (N,) where the right-hand side was not finite: the time [s], and
    bad_y: Array  # (N, n) the state
    side: Array  # (N, events) of zero, on which each event function is; 0: at zero since the start
    band: Array  # (N, events) about zero within which that is not its sign, see `event_sides.py`
    span: Array  # (N, events) the largest magnitude it had
    weakest: Array  # (N, n) state in which the equations of loops held least
    inputs: Array  # (N, input_count) values of the inputs of laws
    constants: Array  # (N, constant_count) of programs; then as the lanes' scale, row_weights and weak


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
            "earlier",  # attempts that no longer count against max_steps: those of steps before the last
            "sample",  # next of the sample times
            "status",
            "event",  # which event occurred
            "acted",  # event, from 1 on, whose action made the base; negative: and left it at zero; 0: none
            "again",  # 1: the event that occurred did so at the base, where its action had left it at zero
            "pace",  # largest rate of its function in the step in which it occurred [1/s], and
            "bend",  # how fast that changed [1/s^2]
            "passing",  # its rate where it occurred, before anything acted [1/s]
            "worst",  # component with the largest error in the last attempt that kept h down; -1: none
            "largest",  # largest error estimate of an accepted step, relative to scale + |y|
            "sum",  # sum of those estimates
            "failure",  # why the last natural attempt failed, a `Failure`
            "dropped",  # the fewest rows of loops that were redundant at a base
            "margin",  # pivot of the weakest of the others, relative to a redundant one, where smallest,
            "margin_t",  # and when [s]
            "step_1",  # the last five steps taken, the latest first [s]
            "step_2",
            "step_3",
            "step_4",
            "step_5",
        )
    ]
)

# ---- A lane: records, and arrays by name and shape; scratch memory that no run needs again ----

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
        ("error", np.float64),  # of the attempt, relative to scale + |y|, and
        ("excess", np.float64),  # relative to what is tolerated
        ("dropped", np.float64),  # rows of the loops that are redundant at the last evaluation of the natural
        ("firmness", np.float64),  # attempt; pivot of the weakest of the others, relative to a redundant one
        ("margin", np.float64),  # the smallest of these in the attempt,
        ("margin_t", np.float64),  # and when [s]
        ("spent", np.float64),  # evaluations not booked yet
        ("due", np.float64),  # time of the next sample; inf: there is none [s]
        ("probing", np.int64),  # event whose dip is looked at
        ("found", np.int64),  # event that was located; -1: none
        ("clear", np.int64),  # whether none was before the end, in a natural step that leads beyond
        ("lo", np.float64),  # bracket of the event, in the step
        ("hi", np.float64),
        ("trials", np.int64),
        ("slow", np.int64),  # trials in a row that did not halve the bracket
        ("moved", np.int64),  # which end moved last: -1 low, 1 high
        ("low_weight", np.float64),  # of the values at the ends, in the choice of the next trial
        ("high_weight", np.float64),
    ]
)

# Shapes are in the counts above and in these: line, 8 numbers, in which lanes repeat; padded, `size` in whole
# lines; all_stages, those of polynomials included; coefficients, of polynomials, fresh_coefficients, the same
# for several lanes; square = n and m = n - 1, where there is a Jacobian, else both are 0.
ARRAYS = {
    "lane": ("lanes", "lane_words"),  # records LANE
    "given": ("input_count", "lanes"),  # values of the inputs; all programs read them here,
    "given_along": ("input_count", "tangent_lanes"),  # and the tangent here
    "own": ("constant_count", "lanes"),  # constants, if mechanisms have their own
    # (line,)
    "t": ("line",),  # of the base [s]
    "reach": ("line",),  # time at the end of the good attempt [s]
    "time": ("line",),  # of a stage [s]
    "h": ("line",),  # steps [s]
    "sick": ("line",),  # NaN where a stage is not finite
    "error": ("line",),  # largest of the estimate, relative to scale + |y|
    "lower": ("line",),  # the same of the second estimate
    "dead": ("line",),  # NaN where the right-hand side after a good attempt is not finite
    "change": ("line",),  # for the test of stiffness: largest change, relative, of the right-hand side and
    "distance": ("line",),  # of the state
    "open": ("line",),  # largest gap of the loops, times its weight
    "dropped": ("line",),  # rows of the loops that are redundant at the base
    "firmness": ("line",),  # pivot of the weakest of the others there, relative to a redundant one
    "changed": ("line",),  # 1 where others are redundant at a stage, or at the end, of the natural attempt
    "defect": ("line",),  # of a step against the trapezoidal rule, relative to scale + |y|
    # states and their rates
    "base": ("padded",),  # state at the base
    "stage": ("padded",),
    "marked": ("padded",),  # state of the marked stage
    "new": ("padded",),  # result of an attempt
    "kept": ("padded",),  # result of the good attempt, and
    "rate": ("padded",),  # the right-hand side there
    "located": ("padded",),  # state at an event
    "frail": ("padded",),  # state of the natural attempt in which the loops' weakest row is weakest
    "relative": ("padded",),  # one over scale + |y|
    "estimate": ("padded",),  # of errors, relative to scale + |y|
    "scratch": ("padded",),
    "other": ("padded",),  # more scratch
    "k": ("all_stages", "padded"),  # right-hand sides of the stages; two at least
    "polynomial": ("coefficients", "padded"),  # coefficients of the polynomials of good natural steps, and
    "fresh": ("fresh_coefficients", "padded"),  # the same before they are sorted by lanes
    # event functions
    "g_base": ("events", "lanes"),
    "g_kept": ("events", "lanes"),
    "g_trial": ("events", "lanes"),
    "slope_base": ("events", "lanes"),  # rates along the motion at the base, and [1/s]
    "slope_kept": ("events", "lanes"),  # at the end
    "target": ("events", "lanes"),  # sign after the crossing looked for; 0: none
    "start": ("events", "lanes"),  # where inside the step the crossing can begin
    "low": ("events", "lanes"),  # values at the ends of the bracket
    "high": ("events", "lanes"),
    # closed loops
    "gap": ("rows", "lanes"),  # [m, rad] or their rates
    "inverse_pivots": ("rows", "lanes"),  # of the loops' equations at the last evaluation; 0: redundant
    # the implicit method
    "jacobian": ("square", "n"),  # (n, n): rows of q', v', W'; columns of q, v, t
    "factors": ("m", "m"),
    "pivots": ("m",),  # integers
    "u": ("ros_stages", "n"),
    "direct": (5, "n", "tangent_lanes"),  # state, value, direction, derivative; t and dt
}

# ---- Constants of a run ----

_CONSTANTS = (
    "times",  # (sample_count,) sample times [s]
    "methods",  # (2,) records METHOD
    "ones",  # (line,) the rate of time
    "scale",  # (padded,) normal size of a component; inf for work
    "directions",  # (events,) crossings that count: -1 falling, 1 rising, 0 both; integers
    "row_weights",  # (rows, lanes) of the gaps, one over their normal size
    "weak",  # (rows, lanes) pivots below which a row is dropped
    "quaternions",  # (quaternion_count,) first components of four numbers of length one; integers
    "since",  # (width + 1,) from which stage on, after the first, a sum for a stage or for the result runs
    "weights",  # (2, width + 1, width) of these sums, for positions; for velocities and work
    "dense_weights",  # (stages, 4) of the coefficients of the polynomial
    "error_weights",  # (stages, 2) of the two estimates
    "c",  # (all_stages,) times of the stages, in steps
    "rates_only",  # (stages,) 1 where only the rates of positions are evaluated; integers
    "ros_a",  # (ros_stages, ros_stages) of the implicit method
    "ros_c",  # (ros_stages, ros_stages)
    "ros_alpha",  # (ros_stages,)
    "ros_gammas",  # (ros_stages,)
)

RUN = np.dtype(
    [(name, np.int64) for name in (*_COUNTS, *ARRAYS, *_CONSTANTS, *Memory._fields)]
    + [(name, np.float64) for name in _NUMBERS]
    + [(name, program_record(name)) for name in PROGRAMS]
)
