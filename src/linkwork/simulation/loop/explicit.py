"""A step of an explicit Runge-Kutta method, for all lanes at once; errors relative to scale + |y|."""

from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.lanes import copy, lane_of, sum_rows, top_rows
from linkwork.trace.compiled import doubles, integers, native


@native
def _sum(run, out, row, part, first, last):
    """Components first ... last of out <- base + h times a weighted sum of stages; for estimates the sum.

    Four terms a pass, and base and h with the last.
    """
    count = integers(run.count)[row]
    index = integers(run.terms + 8 * row * run.width)
    rows, size = run.stages + 4, last - first
    weight = doubles(run.weights + 8 * (part * rows + row) * run.width)
    y, base, h = (doubles(out + 8 * first), doubles(run.base + 8 * first), doubles(run.h + 8 * first))
    for m in range(0, count, 4):
        k0 = doubles(run.k + 8 * (index[m] * run.size + first))
        k1 = doubles(run.k + 8 * (index[m + 1] * run.size + first))
        k2 = doubles(run.k + 8 * (index[m + 2] * run.size + first))
        k3 = doubles(run.k + 8 * (index[m + 3] * run.size + first))
        w0, w1, w2, w3 = weight[m], weight[m + 1], weight[m + 2], weight[m + 3]
        ends = row <= run.stages and m + 4 >= count
        if m == 0 and not ends:
            for i in range(size):
                y[i] = w0 * k0[i] + w1 * k1[i] + w2 * k2[i] + w3 * k3[i]
        elif m == 0:
            for i in range(size):
                y[i] = base[i] + h[i] * (w0 * k0[i] + w1 * k1[i] + w2 * k2[i] + w3 * k3[i])
        elif not ends:
            for i in range(size):
                y[i] += w0 * k0[i] + w1 * k1[i] + w2 * k2[i] + w3 * k3[i]
        else:
            for i in range(size):
                y[i] = base[i] + h[i] * (y[i] + (w0 * k0[i] + w1 * k1[i] + w2 * k2[i] + w3 * k3[i]))


@native
def _weigh(run, out, row):
    """out <- what this row of the tables says, for positions and for velocities where they differ."""
    cut = run.nq * run.lanes
    for part in range(1 + run.split):
        _sum(run, out, row, part, part * cut, cut if part < run.split else run.size)


@native
def stage_state(run, j, out):
    """out, time <- where stage j evaluates the right-hand side."""
    _weigh(run, out, j)
    t, time, c = doubles(run.t), doubles(run.time), doubles(run.c)
    for l in range(run.lanes):
        time[l] = t[l] + c[j] * lane_of(run, l).step


@native
def relative_errors(run, address, top):
    """An estimate and its largest <- relative to scale + |y|, y at the base or new, whichever is larger."""
    estimate = doubles(address)
    base, new, scale = doubles(run.base), doubles(run.new), doubles(run.scale)
    scratch = doubles(run.scratch)
    for i in range(run.size):
        estimate[i] = abs(estimate[i]) / (scale[i] + max(abs(base[i]), abs(new[i])))
        scratch[i] = estimate[i]
    top_rows(run, run.scratch, run.n, top)


@native
def _find_sick(run):
    """sick <- NaN in lanes where a stage, the result or an estimate is not finite, else 0."""
    new, scratch = doubles(run.new), doubles(run.scratch)
    first, second = doubles(run.estimate), doubles(run.estimate + 8 * run.size)
    _weigh(run, run.scratch, run.stages + 3)
    for i in range(run.size):
        scratch[i] += 0.0 * (new[i] + first[i] + second[i])
    sum_rows(run, run.scratch, run.n, run.sick)


@native
def spread_steps(run):
    """h <- the steps of the lanes, for every component."""
    h = doubles(run.h)
    for l in range(run.lanes):
        h[l] = lane_of(run, l).step
    done = run.lanes
    while done < run.size:
        more = min(done, run.size - done)
        copy(run.h + 8 * done, run.h, more)
        done += more


@native
def explicit_step(run):
    """new, estimate, sick <- a step of every lane."""
    rates_only, h = integers(run.rates_only), doubles(run.h)
    for j in range(1, run.stages):
        out = run.marked if j == run.mark else run.stage
        stage_state(run, j, out)
        program = run.rates if rates_only[j] else run.motion
        evaluate(run, program, run.time, out, run.k + 8 * j * run.size)
    _weigh(run, run.new, run.stages)
    for e in range(run.errors):
        address = run.estimate + 8 * e * run.size
        _weigh(run, address, run.stages + 1 + e)
        estimate = doubles(address)
        for i in range(run.size):
            estimate[i] *= h[i]
        relative_errors(run, address, run.lower if e else run.error)
    _find_sick(run)
