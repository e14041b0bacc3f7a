"""Semi-implicit (symplectic) Euler: v_new = v + h a(q, v), then q_new = q + h q'(q, v_new).

Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006, section I.1.2. As a partitioned method: the
first stage gives the accelerations, the second, at the new velocities, the rates of the positions.
"""

from linkwork.simulation.integrators.tableau import Tableau

METHOD = Tableau(
    name="semi-implicit",
    title="semi-implicit Euler",
    order=1,
    A=((), (0.0,)),
    b=(0.0, 1.0),
    c=(0.0, 0.0),
    A_velocity=((), (1.0,)),
    b_velocity=(1.0, 0.0),
    rates=(1,),
)
