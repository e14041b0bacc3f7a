"""Runge-Kutta-Fehlberg 4(5), advanced with the weights of order 5 (local extrapolation).

E. Fehlberg, NASA TR R-315, 1969; Hairer, Norsett, Wanner, Solving ODEs I, 1993, section II.4.
"""

from linkwork.simulation.integrators.tableau import Tableau

METHOD = Tableau(
    name="rkf45",
    title="Runge-Kutta-Fehlberg 4(5)",
    order=5,
    A=(
        (),
        (1 / 4,),
        (3 / 32, 9 / 32),
        (1932 / 2197, -7200 / 2197, 7296 / 2197),
        (439 / 216, -8.0, 3680 / 513, -845 / 4104),
        (-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40),
    ),
    b=(16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55),
    c=(0.0, 1 / 4, 3 / 8, 12 / 13, 1.0, 1 / 2),
    errors=((1 / 360, 0.0, -128 / 4275, -2197 / 75240, 1 / 50, 2 / 55),),
    error_order=5,
    caution=100.0,
    stiff_bound=3.3,
)
