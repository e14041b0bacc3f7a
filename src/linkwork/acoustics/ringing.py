"""The loops over samples of sound: forces of blows, modes that ring, and how an ear hears what moves."""

import numpy as np

from linkwork.native.numba_functions import entry

_LINE = "float64[::1]"


@entry(None, _LINE, _LINE, _LINE, _LINE, "float64", _LINE)
def strike(begin, length, impulse, weight, rate, force):
    """Add blows to a force [N s a sample]: half sines of some length [s], whole areas of which are impulses.

    The share of a blow up to the part x of it is (1 - cos(pi x)) / 2.
    """
    for k in range(len(begin)):
        first, samples = begin[k] * rate, length[k] * rate
        done = 0.0
        for n in range(max(int(np.ceil(first)), 0), len(force)):
            x = min((n + 1 - first) / samples, 1.0)
            share = 0.5 * (1.0 - np.cos(np.pi * x))
            force[n] += weight[k] * impulse[k] * (share - done)
            done = share
            if x >= 1.0:
                break


@entry(None, _LINE, "float64", "float64", "float64", "float64", _LINE)
def ring(force, frequency, decay, gain, rate, out):
    """Add a mode: y'' + 2 d y' + (w^2 + d^2) y = force, as its exact impulse response exp(-d t) sin(w t)."""
    r, angle = np.exp(-decay / rate), 2.0 * np.pi * frequency / rate
    a, b, c = 2.0 * r * np.cos(angle), r * r, gain * r * np.sin(angle)
    y1 = y2 = x1 = 0.0
    for n in range(len(out)):
        y = a * y1 - b * y2 + c * x1
        out[n] += y
        y2, y1, x1 = y1, y, force[n]


@entry(None, _LINE, _LINE, _LINE, "float64")
def roughen(noise, corner, out, rate):
    """Write noise (n,), as loud as it is given, that has little above a frequency (n,) [Hz].

    A low pass of one pole with a corner f takes as much of the power of white noise as lies below
    pi f / 2; what is heard is kept as loud.
    """
    y = 0.0
    for n in range(len(out)):
        p = np.exp(-2.0 * np.pi * min(max(corner[n], 1.0), 0.4 * rate) / rate)
        y = p * y + (1.0 - p) * noise[n]
        out[n] = y * np.sqrt((1.0 + p) / (1.0 - p))


@entry(None, _LINE, "float64", "float64", _LINE, _LINE)
def split(signal, corner, rate, low, high):
    """Split a signal at a corner [Hz] into what a head does not shade and what it does."""
    p, y = np.exp(-2.0 * np.pi * corner / rate), 0.0
    for n in range(len(signal)):
        y = p * y + (1.0 - p) * signal[n]
        low[n], high[n] = y, signal[n] - y


@entry(None, _LINE, _LINE, _LINE, _LINE, _LINE, "float64", "int64", _LINE)
def hear(low, high, arrival, near, shade, every, first, out):
    """Add what arrives at an ear from a body that moves.

    `arrival` (G,) says which sample of `out`, as a real number, the sound of every `every`-th sample reaches,
    `near` the factor of its pressure and `shade` that of its high part. Between two of these, arrival is
    linear. A sample of `out` between the arrivals of two samples of sound lies on a cubic through four.
    """
    n, k = len(low), 0
    last = min(int(np.ceil(arrival[len(arrival) - 1])), len(out))
    for m in range(max(int(np.ceil(arrival[0])), 0), last):
        while k + 2 < len(arrival) and arrival[k + 1] <= m:
            k += 1
        width = arrival[k + 1] - arrival[k]
        x = (m - arrival[k]) / width if width > 0.0 else 0.0
        s = (k + x) * every - first
        i = int(np.floor(s))
        if i < 1 or i + 2 >= n:
            continue
        u = s - i
        gain = near[k] + x * (near[k + 1] - near[k])
        bright = shade[k] + x * (shade[k + 1] - shade[k])
        a = low[i - 1] + bright * high[i - 1]
        b = low[i] + bright * high[i]
        c = low[i + 1] + bright * high[i + 1]
        d = low[i + 2] + bright * high[i + 2]
        y = b + 0.5 * u * (c - a + u * (2.0 * a - 5.0 * b + 4.0 * c - d + u * (3.0 * (b - c) + d - a)))
        out[m] += gain * y
