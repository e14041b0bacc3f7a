"""Forces of rigid stops, and of friction that sticks, are forces of their joints in recordings."""

import pytest

import linkwork as lw

G = 9.81
STEPS = [None, 1 / 60]


def arm(**options):
    m = lw.Mechanism("arm")
    beam = m.add(lw.Body("beam", lw.Box(1.0, 0.1, 0.1), mass=2.0, position=(0.5, 0, 0)))
    m.add(lw.Revolute("pin", m.ground, beam, at=(0, 0, 0), axis=(0, 1, 0), **options))
    return m


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "options", [{"limits": (-1, 0), "stop": "rigid"}, {"friction": 30.0, "friction_speed": 0}]
)
def test_what_holds_an_arm_is_the_force_of_its_joint(options, step):
    run = lw.simulate(arm(**options), 0.2, step=step)
    assert run["pin"].force == pytest.approx(-2.0 * G * 0.5)  # the axis is y: gravity turns the arm on
    assert run["pin"].acceleration == pytest.approx(0.0, abs=1e-12)
    assert run["pin"].reaction.force[-1] == pytest.approx([0.0, 0.0, 2.0 * G])


@pytest.mark.parametrize("step", STEPS)
def test_friction_that_slides_is_the_force_of_its_joint(step):
    run = lw.simulate(arm(friction=3.0, friction_speed=0), 0.2, step=step)
    assert run["pin"].force[1:] == pytest.approx(-3.0)
    inertia = 2.0 * (1.0**2 + 0.1**2) / 12 + 2.0 * 0.25
    assert run["pin"].acceleration[0] == pytest.approx((2.0 * G * 0.5 - 3.0) / inertia)


@pytest.mark.parametrize("step", STEPS)
def test_a_stop_bears_what_lies_on_the_arm(step):
    m = arm(limits=(-1, 0), stop="rigid")
    m.add(lw.Body("box", lw.Box(0.1, 0.1, 0.1), mass=3.0, position=(0.8, 0, 0.1)))
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 0.2, step=step)
    assert run["pin"].force[-1] == pytest.approx(-G * (2.0 * 0.5 + 3.0 * 0.8), rel=1e-6)
    assert run["box"].contact_force[-1] == pytest.approx([0.0, 0.0, 3.0 * G], abs=1e-5)
