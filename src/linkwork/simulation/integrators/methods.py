"""The methods of integration, by the names users give."""

from linkwork.simulation.integrators import (
    dormand_prince,
    euler,
    fehlberg,
    rosenbrock,
    runge_kutta_4,
    semi_implicit_euler,
)
from linkwork.simulation.integrators.tableau import Rosenbrock, Tableau

METHODS: dict[str, Tableau | Rosenbrock] = {
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
