"""The methods of integration, by the names users give; a new one is a file and a line here."""

from linkwork.simulation.integrators import (
    dormand_prince,
    euler,
    fehlberg,
    rosenbrock,
    runge_kutta_4,
    semi_implicit_euler,
)
from linkwork.simulation.integrators.tableau import StepMethod

METHODS: dict[str, StepMethod] = {
    method.name: method
    for method in (
        euler.METHOD,
        semi_implicit_euler.METHOD,
        runge_kutta_4.METHOD,
        fehlberg.METHOD,
        dormand_prince.METHOD,
        rosenbrock.METHOD,
    )
}

FOR_STIFF = rosenbrock.METHOD  # what a run goes over to where the motion is stiff


def methods_of_run(chosen: StepMethod) -> tuple[StepMethod, StepMethod]:
    """Return the explicit and the implicit method of a run: the one chosen, and one to change to."""
    return (fehlberg.METHOD, chosen) if chosen.implicit else (chosen, FOR_STIFF)
