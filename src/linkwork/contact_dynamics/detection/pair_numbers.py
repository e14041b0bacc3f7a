"""The numbers of contacts of pairs of shapes, as loops read them; `pair_table` makes them."""

from typing import Any, NamedTuple

# Columns of `PairTable.numbers`, in the order of `ContactNumbers`.
FRICTION, STATIC_FRICTION, RESTITUTION, ROLLING, TORSIONAL, STIFFNESS, MODULUS, DAMPING, DISSIPATION = range(
    9
)


class PairTable(NamedTuple):
    """What the contacts of all pairs of shapes are like: that of i and j is [kind[i], kind[j]]."""

    kind: Any  # (nshape,) class of each shape
    numbers: Any  # (nclass, nclass, 9) friction ... dissipation; STIFFNESS and MODULUS 0: rigid
    law: Any  # (nclass, nclass) which of the mechanism's contacts has the law; -1: that of the material


def resisting(table: PairTable, soft: Any = None) -> bool:
    """Return whether something resists spinning or rolling; `soft` (nclass, nclass) pairs do not count."""
    turning = table.numbers[:, :, [ROLLING, TORSIONAL]].any(axis=2)
    return bool((turning if soft is None else turning & ~soft).any())
