"""Explicit Euler: y_new = y + h f(t, y). L. Euler, Institutionum calculi integralis I, 1768."""

from linkwork.simulation.integrators.tableau import Tableau

METHOD = Tableau(
    name="euler",
    title="explicit Euler",
    order=1,
    A=((),),
    b=(1.0,),
    c=(0.0,),
)
