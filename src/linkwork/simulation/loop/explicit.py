"""A step of an explicit Runge-Kutta method, for all lanes at once; errors relative to scale + |y|."""

from linkwork.simulation.compiled import doubles, integers, native
from linkwork.simulation.loop.evaluate import evaluate
from linkwork.simulation.loop.lanes import copy, lane_of, sum_rows, top_rows


@native
def _sum(run, out, row, part, first, last, moved):
    """Components first ... last of out <- a weighted sum of stages; if `moved`, base + h times that.

    Four terms a pass, and base and h with the last.
    """
    count = integers(run.count, row + 1)[row]
    index = integers(run.terms + 8 * row * run.width, count)
    rows, size = run.stages + 4, last - first
    weight = doubles(run.weights + 8 * (part * rows + row) * run.width, count)
    y, base, h = (
        doubles(out + 8 * first, size),
        doubles(run.base + 8 * first, size),
        doubles(run.h + 8 * first, size),
    )
    for m in range(0, count, 4):
        k0 = doubles(run.k + 8 * (index[m] * run.size + first), size)
        k1 = doubles(run.k + 8 * (index[m + 1] * run.size + first), size)
        k2 = doubles(run.k + 8 * (index[m + 2] * run.size + first), size)
        k3 = doubles(run.k + 8 * (index[m + 3] * run.size + first), size)
        w0, w1, w2, w3 = weight[m], weight[m + 1], weight[m + 2], weight[m + 3]
        ends = moved and m + 4 >= count
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
def _weigh(run, out, row, moved):
    """out <- the sum of this row of the tables, or if `moved` base + h times that."""
    if run.split:
        cut = run.nq * run.lanes
        _sum(run, out, row, 0, 0, cut, moved)
        _sum(run, out, row, 1, cut, run.size, moved)
    else:
        _sum(run, out, row, 0, 0, run.size, moved)


@native
def stage_state(run, j, out):
    """out, time <- where stage j evaluates the right-hand side."""
    _weigh(run, out, j, True)
    t, time, c = doubles(run.t, run.lanes), doubles(run.time, run.lanes), doubles(run.c, run.stages)
    for l in range(run.lanes):
        time[l] = t[l] + c[j] * lane_of(run, l).step


@native
def relative_errors(run, e):
    """estimate e and its largest <- relative to scale + |y|, y at the base or new, whichever is larger."""
    estimate = doubles(run.estimate + 8 * e * run.size, run.size)
    base, new, scale = doubles(run.base, run.size), doubles(run.new, run.size), doubles(run.scale, run.size)
    scratch = doubles(run.scratch, run.size)
    for i in range(run.size):
        estimate[i] = abs(estimate[i]) / (scale[i] + max(abs(base[i]), abs(new[i])))
        scratch[i] = estimate[i]
    top_rows(run, run.scratch, run.n, run.lower if e else run.error)


@native
def _find_sick(run):
    """sick <- NaN in lanes where a stage, the result or an estimate is not finite, else 0."""
    new, scratch = doubles(run.new, run.size), doubles(run.scratch, run.size)
    first, second = doubles(run.estimate, run.size), doubles(run.estimate + 8 * run.size, run.size)
    _weigh(run, run.scratch, run.stages + 3, False)
    for i in range(run.size):
        scratch[i] += 0.0 * (new[i] + first[i] + second[i])
    sum_rows(run, run.scratch, run.n, run.sick)


@native
def spread_steps(run):
    """h <- the steps of the lanes, for every component."""
    h = doubles(run.h, run.size)
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
    spread_steps(run)
    rates_only, h = integers(run.rates_only, run.stages), doubles(run.h, run.size)
    for j in range(1, run.stages):
        out = run.marked if j == run.mark else run.stage
        stage_state(run, j, out)
        program = run.rates if rates_only[j] else run.motion
        evaluate(run, program, run.time, out, run.k + 8 * j * run.size)
    _weigh(run, run.new, run.stages, True)
    for e in range(run.errors):
        estimate = doubles(run.estimate + 8 * e * run.size, run.size)
        _weigh(run, run.estimate + 8 * e * run.size, run.stages + 1 + e, False)
        for i in range(run.size):
            estimate[i] *= h[i]
        relative_errors(run, e)
    _find_sick(run)
