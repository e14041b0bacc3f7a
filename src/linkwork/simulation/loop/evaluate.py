"""Calls of the programs: equations of motion and event functions, for all lanes at once."""

from linkwork.native.numba_functions import call, integers, native, native_within


@native_within
def evaluate(run, program, t, y, k):
    """k <- f(t, y) for all lanes; all by address."""
    ports, slots = integers(program.ports), program.slots
    q, v = 8 * run.nq * run.lanes, 8 * run.nv * run.lanes
    ports[slots[0]], ports[slots[1]], ports[slots[2]] = t, y, y + q
    ports[slots[3]], ports[slots[4]], ports[slots[5]] = k, k + q, k + q + v
    call(program.run, program.plan, program.ports)


@native
def evaluate_events(run, t, y, g):
    """g <- event functions of (t, y) for all lanes; all by address."""
    program = run.event_functions
    ports, slots = integers(program.ports), program.slots
    ports[slots[0]], ports[slots[1]], ports[slots[2]] = t, y, y + 8 * run.nq * run.lanes
    ports[slots[3]] = g
    call(program.run, program.plan, program.ports)
