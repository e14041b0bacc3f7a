"""The memory in which native code finds contacts of a model, laid out once: every run, and lane, has its own.

It lies in one piece of doubles. First come the words by which the parts of collision detection know where
their arrays are (`Tree.at`, `Near.at`, ...), then the arrays. `slots` say what these words are: an offset in
the piece, of an array, or a plain number.
"""

from typing import NamedTuple

import numpy as np

from linkwork.contact.broad_phase import near, tree
from linkwork.contact.shape_table import buffer, work
from linkwork.contact_dynamics.law_kernel import CONTACT_WORDS
from linkwork.native.cache_lines import LINE

CHUNK = 64  # pairs that are looked at together
MOST_OF_PAIR = 32  # contacts: four in each of eight directions
CALL_WORDS = 24  # of a call of an entry
ROW_NUMBERS = 8  # of a row of unknown friction
MOST_ROWS = 320  # of friction that may hold: 64 contacts with resistance to rolling and turning, 160 without
_FEW = 100  # shapes of which all pairs have room
_NEAR_EACH = 64  # pairs of a shape that have room otherwise
_RAW, _RAW_OF_MESHES = 256, 4096  # contacts of a pair before they are thinned out


class ContactWorkspace(NamedTuple):
    """Where things are in the memory of a lane, counted in doubles from its beginning."""

    tree: int
    near: int
    work: int
    buffer: int
    call: int  # words of a call
    contact: int  # what a law is given, and gives
    poses: int  # (shapes, 3, 4)
    pairs: int  # (pair_room, 2)
    number: int  # of the buffer
    label: int
    phase: int  # see `compliant_forces`
    counts: int
    base: int
    rows: int
    row_shapes: int
    parts: int
    radii: int
    forces: int
    solver: int
    masses: int
    most: int  # rows
    pair_room: int
    size: int
    slots: np.ndarray  # (n, 3) word, 1 if it is an address, and the offset or number


def contact_workspace(shapes: int, meshes: bool, links: int) -> ContactWorkspace:
    """Lay out the memory for n shapes on some links, with meshes among them or not."""
    pair_room = max(shapes * (shapes - 1) // 2, 1) if shapes <= _FEW else _NEAR_EACH * shapes
    parts = {
        "tree": tree(shapes),
        "near": near(shapes, pair_room),
        "work": work(_RAW_OF_MESHES if meshes else _RAW, corners=4),
        "buffer": buffer(CHUNK * MOST_OF_PAIR),
    }
    places: dict[str, int] = {}
    slots: list[tuple[int, int, int]] = []
    end = 0

    def take(size: int) -> int:
        nonlocal end
        place, end = end, end + -(-size // LINE) * LINE
        return place

    for name, part in parts.items():
        places[name] = take(len(part.at))
    fields = {"number": 0, "label": 0}
    for name, part in parts.items():
        for k, thing in enumerate(part[:-1]):
            is_array = isinstance(thing, np.ndarray)
            value = take(thing.size) if is_array else int(thing)
            slots.append((places[name] + k, int(is_array), value))
            if name == "buffer" and part._fields[k] in fields:
                fields[part._fields[k]] = value
    most = min(MOST_ROWS, 5 * 4 * pair_room + 5)
    sizes = _sizes(shapes, links, most, pair_room)
    others = {name: take(size) for name, size in sizes.items()}
    return ContactWorkspace(
        **places,
        **others,
        **fields,
        most=most,
        pair_room=pair_room,
        size=end,
        slots=np.array(slots, np.int64),
    )


def _sizes(shapes: int, links: int, most: int, pair_room: int) -> dict[str, int]:
    """Return the sizes of what lies behind the workspaces of collision detection, in order."""
    return {
        "phase": 2,
        "counts": 3,
        "base": 6 * links,
        "rows": ROW_NUMBERS * most,
        "row_shapes": 2 * most,
        "parts": 2 * most,
        "radii": most,
        "forces": most,
        "solver": 2 * most * most + 6 * most,
        "masses": most,
        "call": CALL_WORDS,
        "contact": CONTACT_WORDS,
        "poses": 12 * shapes,
        "pairs": 2 * pair_room,
    }
