"""The registry of programs: what a problem accepts, and what it says of the rest."""

import dataclasses

import pytest
from simulation.right_hand_sides import motion, pendulum

from linkwork.simulation.loop.programs import PROGRAMS
from linkwork.simulation.loop.records import RUN
from linkwork.simulation.problem import Problem


def test_the_record_of_a_run_has_every_program_with_its_ports():
    fields = RUN.fields
    assert fields is not None
    for name, ports in PROGRAMS.items():
        assert fields[name][0].names == ("run", "plan", "table", *ports)


def test_programs_that_do_not_fit_are_refused():
    swing = motion(pendulum)
    with pytest.raises(ValueError, match="program 'drive' is not one of a run; available are motion, rates"):
        Problem(nq=1, nv=1, programs={"motion": swing, "drive": swing})
    with pytest.raises(ValueError, match="needs the program 'motion'"):
        Problem(nq=1, nv=1, programs={"rates": swing})
    lame = dataclasses.replace(swing, ports={name: k for name, k in swing.ports.items() if name != "power"})
    with pytest.raises(ValueError, match="program 'motion' has no port 'power'"):
        Problem(nq=1, nv=1, programs={"motion": lame})
