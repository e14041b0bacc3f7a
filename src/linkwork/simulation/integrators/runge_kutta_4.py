"""The classical Runge-Kutta method of order 4. W. Kutta, Zeitschrift fuer Mathematik und Physik 46, 1901."""

from linkwork.simulation.integrators.tableau import Tableau

METHOD = Tableau(
    name="rk4",
    title="classical Runge-Kutta 4",
    order=4,
    A=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    c=(0.0, 1 / 2, 1 / 2, 1.0),
)
