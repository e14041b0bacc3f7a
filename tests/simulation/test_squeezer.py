"""Andrews' squeezing mechanism: seven bodies in the plane, three loops, a spring, a constant torque.

Numbers and the answer at 0.03 s are those of Hairer and Wanner, *Solving Ordinary Differential Equations II*,
section VII.7, and of the IVP test set (Mazzia and Magherini 2008), problem "Andrews' squeezing mechanism".
"""

import pytest

import linkwork as lw

ANSWER = {
    "beta": 1.581077119629904e1,
    "theta": -1.575637105984298e1,
    "gamma": 4.082224013073101e-2,
    "phi": -5.347301163226948e-1,
    "delta": 5.244099658805304e-1,
    "omega": 5.347301163226948e-1,
    "epsilon": 1.048080741042263e0,
}


@pytest.fixture(scope="module")
def squeezer() -> lw.Model:
    a, b, c = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # points of ground
    d, e, rr, ss, u, zf, zt = 28e-3, 2e-2, 7e-3, 35e-3, 4e-2, 2e-2, 4e-2  # lengths of the bars
    m = lw.Mechanism("squeezer", space="plane", gravity=(0, 0))

    def bar(name, mass, centre, inertia):
        return m.add(lw.Body(name, lw.Inertia(mass, centre, inertia)))

    k1 = bar("K1", 0.04325, (92e-5, 0), 2.194e-6)
    k2 = bar("K2", 0.00365, (-115e-4, 0), 4.410e-7)
    k3 = bar("K3", 0.02373, (1874e-5, 1043e-5), 5.255e-6)
    k4 = bar("K4", 0.00706, (0, 1421e-5 - e), 5.667e-7)
    k5 = bar("K5", 0.07050, (2308e-5, 916e-5), 1.169e-5)
    k6 = bar("K6", 0.00706, (zf - 1421e-5, 0), 5.667e-7)
    k7 = bar("K7", 0.05498, (1228e-5, 449e-5), 1.912e-5)
    for name, parent, child, on_parent, on_child in (
        ("beta", m.ground, k1, (0, 0), (0, 0)),
        ("theta", k1, k2, (rr, 0), (0, 0)),
        ("gamma", m.ground, k3, b, (0, 0)),
        ("delta", m.ground, k5, a, (0, 0)),
        ("phi", k5, k4, (zt, 0), (0, 0)),
        ("epsilon", m.ground, k7, a, (0, 0)),
        ("omega", k7, k6, (0, -u), (0, 0)),
        ("on K3", k2, k3, (-d, 0), (0, -ss)),
        ("on K4", k2, k4, (-d, 0), (0, -e)),
        ("on K6", k2, k6, (-d, 0), (zf, 0)),
    ):
        m.add(lw.Revolute(name, parent, child, on_parent=on_parent, on_child=on_child))
    spring = {"on_parent": c, "on_child": (2e-2, -18e-3), "stiffness": 4530.0, "rest": 7785e-5}
    m.add(lw.Spring("spring", m.ground, k3, **spring))
    m.add(lw.Motor("motor", "beta", 33e-3))
    return m.compile()


def test_it_ends_where_it_was_published_to_end(squeezer):
    start = squeezer.state(
        beta=-0.0617138900142764496,
        theta=0.0,
        gamma=0.455279819163070380,
        phi=0.222668390165885884,
        delta=0.487364979543842550,
        omega=-0.222668390165885884,
        epsilon=1.23054744454982119,
    )
    run = lw.simulate(squeezer, 0.03, start)
    for name, angle in ANSWER.items():  # finer accuracies agree, and differ by 1.1e-9
        assert run[name].position[-1] == pytest.approx(angle, rel=0, abs=2e-9), name
    assert "8(5,3)" in run.report.method  # a spring's law is smooth
