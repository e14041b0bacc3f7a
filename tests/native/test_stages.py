"""Programs: stages follow one another, take their numbers from values, skip, and ask."""

import numpy as np

from linkwork.contact_dynamics.time_stepping.step_loops import (
    ask_if,
    begin_impulses,
    copy_two,
    is_quick,
    unless_touched,
)
from linkwork.native.stages import Program, Some, Value

COUNT, FLAG, FOUND, TIME = range(4)
NONE = np.zeros(0)


def test_rows_and_numbers_are_those_of_the_values_when_a_stage_begins() -> None:
    program, table = Program(4), np.ones((4, 3))
    program.loop(begin_impulses, 1, Some(table, COUNT))
    program.loop(is_quick, np.array([1.0]), np.array([3.0]), Value(TIME), 1.0, result=FOUND)
    for count, time, quick in ((3, 1.0, 0), (2, 2.0, 1)):
        program.values[COUNT], program.numbers[TIME], table[:] = count, time, 1.0
        program.run()
        assert table[:, 0].tolist() == [1.0, *[0.0] * (count - 1), *[1.0] * (4 - count)]
        assert program.values[FOUND] == quick


def test_a_stage_skips_to_its_label_and_asks_python() -> None:
    program, asked = Program(4), list[str]()
    free, v, other = np.array([2.0]), np.zeros(1), np.zeros(1)
    program.loop(ask_if, Value(FLAG), ask=lambda: asked.append("flag"))
    program.loop(unless_touched, Value(COUNT), 0, free, v, NONE, skip="end")
    program.python(lambda: asked.append("touched"))
    program.label("end")
    program.loop(copy_two, v, NONE, other, NONE)
    program.run()
    assert (asked, other.tolist()) == ([], [2.0])
    program.values[[COUNT, FLAG]] = 1
    program.run()
    assert asked == ["flag", "touched"]


def test_what_is_asked_may_bind_all_stages_anew_and_say_where_to_go_on() -> None:
    program, done = Program(4), list[int]()

    def bind(size: int) -> None:
        array = np.ones(size)
        program.clear()
        program.python(lambda: grow() if size < 4 else None)
        program.label("go on")
        program.python(lambda: done.append(len(array)))

    def grow() -> str:
        bind(8)
        return "go on"

    bind(2)
    program.run()
    assert done == [8]
