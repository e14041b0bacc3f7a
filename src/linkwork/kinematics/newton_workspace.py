"""The arrays that native code works on."""

from typing import Any

import numpy as np

from linkwork.kinematics.continuation import MEMORY
from linkwork.kinematics.equation_numbering import Numbering
from linkwork.kinematics.equation_program import PORTS, walks
from linkwork.kinematics.newton import Workspace

Array = np.ndarray


def workspace(numbering: Numbering, data: Array, columns: Array, dense: bool) -> tuple[Workspace, Any]:
    """Return the arrays for equations with these data and scales of unknowns, and what they keep alive.

    Without `dense` there is no room for the matrix.
    """
    m, n, nq, bodies = numbering.m, numbering.n, numbering.nq, len(numbering.bodies)
    algebra, most = numbering.algebra, max(numbering.m, numbering.n)
    count = {"u": 3 * numbering.inputs, "ref": numbering.references, "q": nq, "v": n}
    count |= {"X": algebra.Frame.size * bodies, "phi": m, "phi_q": len(numbering.entry_rows)}
    count |= {"velocity": m, "acceleration": m, "located": numbering.references}
    arrays = {"data": data, **{word: np.zeros(max(size, 1))[:size] for word, size in count.items()}}
    walk = walks(algebra, bodies, numbering.records)
    seen = {word: array for word, array in arrays.items() if word not in ("data", "X")}
    made = Workspace(
        run=walk.run,
        positions=walk.positions,
        rates=walk.rates,
        ports=np.array([arrays[word].ctypes.data for word in PORTS], np.int64),
        bodies=bodies,
        coordinates=algebra.coordinates,
        free=algebra.freedoms,
        **seen,
        a=np.zeros(n),
        entry_rows=np.array(numbering.entry_rows, np.int64),
        entry_columns=np.array(numbering.entry_columns, np.int64),
        columns=columns,
        rows=np.ones(m),
        A=np.zeros((m, n) if dense else (0, 0)),
        b=np.zeros(m),
        x=np.zeros(n),
        order=np.zeros(most, np.int64),
        hidden=np.zeros(most),
        tangent=np.zeros(n),
        memory=np.zeros(MEMORY + 2 * numbering.inputs + nq),
        kept=np.zeros(most),
    )
    return made, (walk, arrays)
