"""What native code does with active contacts, as one entry: the programs of a run, and looks from Python."""

from linkwork.contact_dynamics.detection.detection import SHAPES
from linkwork.contact_dynamics.event_driven.active_record import active
from linkwork.contact_dynamics.event_driven.active_rows import fill_drift
from linkwork.contact_dynamics.event_driven.fixed_modes import close, look, move
from linkwork.contact_dynamics.event_driven.joint_modes import gap_of_stops, joints_act, look_at_joints
from linkwork.contact_dynamics.event_driven.mode_margins import force_margin, slip_margin, start_from
from linkwork.contact_dynamics.event_driven.swept_gap import swept_gap
from linkwork.contact_dynamics.problem.nodes import LAYOUT
from linkwork.native.numba_functions import call, doubles, entry, integers, native

MOTION, POSITIONS, VELOCITIES, EVENTS, LOOK = range(5)
# The ports of programs, by task; the first are those of the loop (`simulation/loop/programs.py`).
PORTS = {
    MOTION: ("t", "q", "inputs", "qd", "qdot", "qdd", "power", "inverse_pivot", "base"),
    POSITIONS: ("t", "q", "inputs", "gap_position", "qdd"),
    VELOCITIES: ("t", "q", "inputs", "qd", "gap_velocity", "qdd"),
    EVENTS: ("t", "q", "inputs", "qd", "shown", "base", "base_time"),
}
MARGINS = ("approach", "hold", "stop")  # the functions behind the user's

_FLAT, _TABLE = "float64[::1]", "float64[:, ::1]"


@native
def _copy(count, a, b):
    x, y = doubles(a), doubles(b)
    for i in range(count):
        y[i] = x[i]


@native
def _margins(r, tree, shapes, poses, J, F, added, mass, inverse, v, motion, speed, span):
    """Write the values of events: of the user's, and approach, hold and stop."""
    if r.events:
        call(r.shown, r.shown_plan, r.shown_table)
    gap = swept_gap(r, tree, shapes, poses, J, v, motion, speed, r.base_state, span)
    shown = doubles(r.values + 8 * r.events)
    if r.joints:
        look_at_joints(r, r.q, r.v, r.joint_gap, r.joint_u)
        gap = min(gap, gap_of_stops(r, span))
    shown[0], shown[1], shown[2] = gap + r.slack_gap, 1.0, 1.0
    if r.count == 0 and not joints_act(r):
        return
    move(r, tree, poses, J, F, added, mass, inverse)
    gone, same = r.lost > 0, r.jumped != 0
    for i in range(r.nq):
        same = same and doubles(r.q)[i] == doubles(r.q_jump)[i]
    shown[1] = -1.0 if gone or same else force_margin(r)
    shown[2] = slip_margin(r)


@native
def _load(r, task, port):
    """Take time, positions, velocities and inputs from the ports of a program."""
    _copy(1, port[0], r.t)
    _copy(r.nq, port[1], r.q)
    _copy(r.inputs, port[2], r.given)
    if task != POSITIONS:
        _copy(r.nv, port[3], r.v)


@native
def _write_motion(r, port):
    _copy(r.nq, r.qdot, port[4])
    a, free, change = doubles(port[5]), doubles(r.free), doubles(r.change)
    for i in range(r.nv):
        a[i] = free[i] + change[i]
    _copy(1, r.power, port[6])
    _copy(r.loops, r.pivots, port[7])
    doubles(port[7])[r.loops] = 1.0


@native
def _write_closing(r, gaps, change):
    _copy(r.loops, r.gaps, gaps)
    doubles(gaps)[r.loops] = r.worst
    _copy(r.nv, r.change, change)


@entry(
    None,
    *("int64", "int64", "int64", LAYOUT, SHAPES, "float64[:, :, ::1]", _TABLE, _TABLE),
    *(_FLAT, _FLAT, _FLAT, _FLAT, _TABLE, _FLAT),
)
def run_task(table, task, room, tree, shapes, poses, J, F, added, mass, inverse, v, motion, speed):
    """Do a task: as a program, whose ports are at `table`, or for Python, which has no table."""
    r, port, span = active(room), integers(table), 0.0
    if table:
        _load(r, task, port)
    if task == MOTION:
        if table:
            start_from(r, tree, poses, J, port[8])
        move(r, tree, poses, J, F, added, mass, inverse)
        if table:
            _write_motion(r, port)
    elif task == POSITIONS:
        close(r, tree, poses, J, F, added, mass, inverse, False)
        if table:
            _write_closing(r, port[3], port[4])
    elif task == VELOCITIES:
        close(r, tree, poses, J, F, added, mass, inverse, True)
        if table:
            _write_closing(r, port[4], port[5])
    elif task == EVENTS:
        if table:
            start_from(r, tree, poses, J, port[5])
            span = doubles(port[0])[0] - doubles(port[6])[0]
        _margins(r, tree, shapes, poses, J, F, added, mass, inverse, v, motion, speed, span)
        if table:
            _copy(r.events + 3, r.values, port[4])
    else:
        _copy(r.nq, r.q, r.rate_q)
        _copy(r.nv, r.v, r.rate_v)
        call(r.rates, r.rates_plan, r.rates_table)
        _copy(r.nq, r.rate, r.qdot)
        look(r, tree, poses, J, F, added, mass, inverse)
        fill_drift(r, tree, poses, J)
