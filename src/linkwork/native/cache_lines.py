"""Lines of eight doubles, a cache line each, as native parts load, combine and store them.

A loop over single numbers would ask, before it becomes one over vectors, how many there are and whether
arrays overlap, and do the rest one by one; for few coordinates that takes longer than the sums.
An operation on lines does the same to each number as to a single one: the same bits on every machine.

A line is two vectors of four: while instructions of 512 bits are under way, processors that have them compute
single numbers more slowly, and kernels of one mechanism are made of these.
"""

from typing import Any

from linkwork.native.numba_functions import Intrinsic

LINE = 8  # doubles
BYTES = 8 * LINE  # of a line


def _verb(name: str) -> Any:
    return Intrinsic("linkwork.native.numba_lines", name)


line_at = _verb("line_at")  # (address): the line there; an address is a multiple of a line's length
put_line = _verb("put_line")  # (address, line)
put_whole_line = _verb("put_whole_line")  # in one piece, for kernels of eight lanes, which load it so
number_at = _verb("number_at")  # (address): the double there, loaded by itself
all_equal = _verb("all_equal")  # (x): a line of the same number
fused = _verb("fused")  # (x, y, z): x y + z, rounded once; of lines or of numbers
magnitude = _verb("magnitude")  # (line): its absolute values
larger = _verb("larger")  # (x, y): the larger, number by number; y where either is not a number
# (line): with neighbours at this distance in each other's place
swapped_by_1, swapped_by_2, swapped_by_4 = (_verb(f"swapped_by_{k}") for k in (1, 2, 4))
