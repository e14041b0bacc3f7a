"""The projection onto the cone is the nearest point, and its derivative the slope of it."""

import numpy as np

from linkwork.contact_dynamics.problem.friction_cone import derivative, projected
from linkwork.native.numba_functions import entry

_TABLE, _FLAT = "float64[:, ::1]", "float64[::1]"


@entry(None, _FLAT, _TABLE, _TABLE)
def all_projected(mu, x, out):
    for k in range(len(mu)):
        out[k, 0], out[k, 1], out[k, 2] = projected(0, mu[k], 0.0, x[k, 0], x[k, 1], x[k, 2])


@entry(None, _FLAT, _TABLE, _TABLE)
def all_derivatives(mu, x, out):
    for k in range(len(mu)):
        d = derivative(0, mu[k], 0.0, x[k, 0], x[k, 1], x[k, 2])
        for i in range(6):
            out[k, i] = d[i]


def points(count):
    generator = np.random.default_rng(3)
    return generator.uniform(0.0, 2.0, count), generator.normal(size=(count, 3))


def projection(mu, x):
    out = np.zeros_like(x)
    all_projected(mu, x, out)
    return out


def test_nothing_in_the_cone_is_nearer():
    mu, x = points(2000)
    p = projection(mu, x)
    assert (np.hypot(p[:, 1], p[:, 2]) <= mu * p[:, 0] * (1 + 1e-14) + 1e-15).all()
    # By Moreau: x - p is in the polar cone, and normal to p.
    rest = x - p
    assert (rest[:, 0] + mu * np.hypot(rest[:, 1], rest[:, 2]) <= 1e-14).all()
    assert np.abs((rest * p).sum(axis=1)).max() < 1e-14


def test_the_derivative_is_the_slope():
    mu, x = points(2000)
    found = np.zeros((len(mu), 6))
    all_derivatives(mu, x, found)
    e = 1e-7
    for column, places in enumerate(((0, 1, 2), (1, 3, 4), (2, 4, 5))):
        step = e * np.eye(3)[column]
        slope = (projection(mu, x + step) - projection(mu, x - step)) / (2 * e)
        far = np.abs(found[:, places] - slope).max(axis=1) > 1e-6
        assert far.mean() < 1e-3  # those within a step of the edge of a sector
