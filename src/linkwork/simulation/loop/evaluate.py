"""Calls of the programs: equations of motion and event functions, for all lanes at once."""

from linkwork.native.numba_functions import call, integers, native, native_within


@native_within
def evaluate(run, program, t, y, k):
    """k <- f(t, y) for all lanes; all by address."""
    table, q, v = integers(program.table), 8 * run.nq * run.lanes, 8 * run.nv * run.lanes
    table[program.t], table[program.q], table[program.qd] = t, y, y + q
    table[program.qdot], table[program.qdd], table[program.power] = k, k + q, k + q + v
    call(program.run, program.plan, program.table)


@native
def evaluate_events(run, t, y, g):
    """g <- event functions of (t, y) for all lanes; all by address."""
    program = run.event_functions
    table = integers(program.table)
    table[program.t], table[program.q], table[program.qd] = t, y, y + 8 * run.nq * run.lanes
    table[program.shown] = g
    call(program.run, program.plan, program.table)
