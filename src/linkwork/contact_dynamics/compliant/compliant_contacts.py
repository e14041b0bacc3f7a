"""The compliant contacts of a mechanism, and the step by which native programs find their forces."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from linkwork.contact import shape_kinds as kinds
from linkwork.contact.broad_phase import pairs_of
from linkwork.contact.narrow_phase import find_contacts
from linkwork.contact.shape_table import GROUP, MASK, POINTS, work
from linkwork.contact.world_arrays import WorldArrays
from linkwork.contact_dynamics import laws
from linkwork.contact_dynamics.compliant.compliant_forces import add_contact_forces
from linkwork.contact_dynamics.compliant.contact_workspace import (
    MOST_ROWS,
    ContactWorkspace,
    contact_workspace,
)
from linkwork.contact_dynamics.compliant.law_fault import law_fault
from linkwork.contact_dynamics.compliant.sticking_friction import move_with_friction
from linkwork.contact_dynamics.detection import contact_plan as words
from linkwork.contact_dynamics.detection.colliding_bodies import meeting
from linkwork.contact_dynamics.detection.pair_numbers import PairTable
from linkwork.contact_dynamics.detection.pair_table import pair_table
from linkwork.contact_dynamics.detection.shapes_in_links import shapes_in_links
from linkwork.contact_dynamics.law_kernel import Law, LawKernel, law_kernel, name_of_law
from linkwork.dynamics.link_view import LinkLayout
from linkwork.mechanism.material import ContactNumbers
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import lifted
from linkwork.native import store
from linkwork.tree.tree import Tree
from linkwork.varied import real

_POINTS = {kinds.SPHERE: 1, kinds.CAPSULE: 2, kinds.TRACED: 1}  # that a shape touches with at most; others 4
_IN_PLANE = 2
_NEARLY = 1e-6  # a gap of what touches [m]

# void f(one, other, ...): hand both to the entry whose address is the first word of one of them
_CALL = """
define void @contacts_{name}(ptr %a0, ptr %a1) {{
  %words = alloca [3 x i64]
  %to0 = getelementptr i64, ptr %words, i64 1
  %to1 = getelementptr i64, ptr %words, i64 2
  store ptr %a0, ptr %to0
  store ptr %a1, ptr %to1
  %entry = load ptr, ptr %a{where}
  %status = call i32 %entry(ptr %words)
  ret void
}}
"""


class CompliantContacts:
    """The compliant contacts of a mechanism: shapes, which pairs have which law, and their numbers."""

    def __init__(self, world: WorldArrays, pairs: PairTable, given: Sequence[tuple[str, Law | None]]) -> None:
        """Take the contacts of a world; `given` are names and laws of the mechanism's contacts."""
        self.world, self.pairs = world, pairs
        self.kernels: list[LawKernel] = []
        self.said: list[tuple[str, str]] = []  # contact and law, by kernel
        rows: list[list[float]] = []
        known: dict[Any, int] = {}
        self.row = np.full(pairs.law.shape, -1, np.int64)
        for i, j in _pairs(pairs.law):
            where, law, numbers = _law_of_pair(pairs, given, i, j)
            if law is not None and _may_meet(world, pairs.kind, i, j):
                key = law, numbers
                if key not in known:
                    kernel = law_kernel(where, law, numbers._asdict())
                    known[key] = len(rows)
                    self.kernels.append(kernel)
                    self.said.append((where, name_of_law(law)))
                    rows.append(_row(numbers, kernel))
                self.row[i, j] = self.row[j, i] = known[key]
        self.numbers = np.array(rows).reshape(-1, words.LAW_NUMBERS)
        self._constants = [np.array(kernel.numbers) for kernel in self.kernels]
        addresses = [(k.address, x.ctypes.data) for k, x in zip(self.kernels, self._constants, strict=True)]
        self.laws = np.array(addresses, np.int64).reshape(-1, 2)
        self.margin = np.array([max((kernel.reach for kernel in self.kernels), default=0.0)])
        self.of_shape = _shape_numbers(world)

    def crowd(self, bodies: Sequence[str], poses: np.ndarray) -> str:
        """Say in words if more contacts touch than may stick at once, where bodies have these poses."""
        world = self.world.copy()
        for name, pose in zip(bodies, lifted(poses), strict=True):
            if name in world.number:
                world.move(name, pose)
        placed = world.shape_poses()
        found, _ = world.contacts(placed, world.pairs_within(placed, _NEARLY), _NEARLY, work(corners=4))
        if 2 * len(found) <= MOST_ROWS:
            return ""
        return f"{len(found)} contacts touch, of which {MOST_ROWS // 2} may stick at once: give step=1/60"

    def fault(self, bodies: Sequence[str], poses: np.ndarray, velocities: np.ndarray) -> tuple[str, str]:
        """Return the contact whose law gives no number, and in words that; both are "" if there is none.

        Bodies have these poses and velocities.
        """
        return law_fault(self, bodies, poses, velocities)

    @property
    def signature(self) -> tuple[Any, ...]:
        """What distinguishes these contacts from others, in any process."""
        table, laws = self.world.table, [(kernel.signature, kernel.numbers) for kernel in self.kernels]
        shapes = (
            self.world.owners,
            *(x.tobytes() for x in (self.world.local, table.kind, table.size, table.reach)),
        )
        others = self.world.excluded, table.index[:, [GROUP, MASK]], table.points, table.heights
        rows = self.row, self.numbers, self.pairs.kind, *others
        return shapes, laws, *(x.tobytes() for x in rows)

    @property
    def rigid(self) -> bool:
        """Whether some bodies that may meet have no law."""
        return any(
            self.row[i, j] < 0 and _may_meet(self.world, self.pairs.kind, i, j) for i, j in _pairs(self.row)
        )

    def code(
        self, tree: Tree, layout: LinkLayout, starts: np.ndarray, lanes: int, ports: Sequence[str]
    ) -> "ContactCode":
        """Return the step of a native program on a tree."""
        return ContactCode(self, tree, layout, starts, lanes, ports)


def compliant_contacts(mechanism: Mechanism) -> CompliantContacts | None:
    """Return the compliant contacts of a mechanism; None if there are none."""
    world = meeting(mechanism)
    if not len(world):
        return None
    given = [(f"contact {name!r}", contact.law) for name, contact in mechanism.contacts.items()]
    pairs = pair_table(mechanism, world)
    if all(_law_of_pair(pairs, given, i, j)[1] is None for i, j in _pairs(pairs.law)):
        return None
    found = CompliantContacts(world.arrays, pairs, given)
    return found if found.kernels else None


class ContactCode:
    """A step of a native program: its segment (kernel, record, count, step), the memory that it needs."""

    def __init__(
        self,
        contacts: CompliantContacts,
        tree: Tree,
        layout: LinkLayout,
        starts: np.ndarray,
        lanes: int,
        ports: Sequence[str],
    ) -> None:
        world = contacts.world
        meshes = np.isin(world.table.kind, (kinds.MESH, kinds.HEIGHT_FIELD)).any()
        memory = contact_workspace(len(world.owner), bool(meshes), len(tree.blocks))
        self.size = memory.size
        link = np.array([tree.body_links[name] for name in world.owners], np.int64)
        block = np.ascontiguousarray(starts[link], dtype=np.int64)
        local = shapes_in_links(tree, world)
        bodies = [seat.branch.body for seat in tree.seats]
        for one in (add_contact_forces, pairs_of, find_contacts):
            one.prepare()
        plan: dict[int, Any] = {
            words.ENTRY: store.address(add_contact_forces.symbol),
            words.LANES: lanes,
            words.FREEDOMS: tree.algebra.freedoms,
            words.WORK: ports.index("work"),
            words.EXTERNAL: ports.index("external"),
            words.POSE: layout.offsets["X_W"],
            words.VELOCITY: layout.offsets["v"],
            words.LINK: link,
            words.BLOCK: block,
            words.LOCAL: local,
            words.ACCELERATION: layout.offsets.get("a", -1),
            words.GRAVITY: np.array([*tree.gravity.tolist(), 0.0][:3]),
            words.LINKS: len(tree.blocks),
            words.TOTAL: np.array([sum(real(body.inertia.mass) for body in bodies)]),
            **_words_of_memory(memory),
            **_words_of_world(world),
            **_words_of_laws(contacts),
        }
        self._plan, self._keep = np.zeros(words.WORDS, np.int64), (contacts, plan)
        for word, value in plan.items():
            self._plan[word] = value.ctypes.data if isinstance(value, np.ndarray) else value

    def around(self, walker: int, plan: np.ndarray) -> tuple[int, np.ndarray]:
        """Return code and plan of the motion with friction that holds; `walker` runs that of the motion."""
        move_with_friction.prepare()
        entry = store.address(move_with_friction.symbol)
        return _calling(0), np.concatenate([[entry, walker, self._plan.ctypes.data], plan])

    @property
    def segment(self) -> tuple[int, int, int, int]:
        return _calling(1), self._plan.ctypes.data, 1, 0

    def put(self, place: int) -> None:
        """Say where in the work array its memory begins."""
        self._plan[words.ROOM] = place


def _words_of_memory(memory: ContactWorkspace) -> dict[int, Any]:
    """Return where in its memory the step keeps what."""
    return {
        words.ROOM_SIZE: memory.size,
        words.SLOTS: memory.slots,
        words.SLOT_COUNT: len(memory.slots),
        words.CALL: memory.call,
        words.CONTACT: memory.contact,
        words.POSES: memory.poses,
        words.PAIRS: memory.pairs,
        words.NUMBER: memory.number,
        words.LABEL: memory.label,
        words.TREE: memory.tree,
        words.NEAR: memory.near,
        words.DETECTION: memory.work,
        words.BUFFER: memory.buffer,
        words.PAIR_ROOM: memory.pair_room,
        words.PHASE: memory.phase,
        words.COUNTS: memory.counts,
        words.BASE: memory.base,
        words.ROWS: memory.rows,
        words.ROW_SHAPES: memory.row_shapes,
        words.PARTS: memory.parts,
        words.RADII: memory.radii,
        words.FORCES: memory.forces,
        words.SOLVER: memory.solver,
        words.MOST: memory.most,
        words.MASSES: memory.masses,
    }


def _words_of_world(world: WorldArrays) -> dict[int, Any]:
    """Return the shapes, and what finds their contacts."""
    return {
        words.FIND_PAIRS: store.address(pairs_of.symbol),
        words.FIND_CONTACTS: store.address(find_contacts.symbol),
        words.TABLE: world.table.at,
        words.TABLE_WORDS: len(world.table.at),
        words.SHAPES: len(world.owner),
        words.EXCLUDED: world.excluded,
        words.EXCLUDED_COUNT: len(world.excluded),
        words.OWNERS: len(world.bodies),
        words.STILL: world.still,
    }


def _words_of_laws(contacts: CompliantContacts) -> dict[int, Any]:
    """Return which shapes meet by which law, and the numbers of laws."""
    return {
        words.OF_SHAPE: contacts.of_shape,
        words.GROUP: contacts.pairs.kind,
        words.GROUPS: len(contacts.row),
        words.ROW: contacts.row,
        words.LAWS: contacts.laws,
        words.NUMBERS: contacts.numbers,
        words.MARGIN: contacts.margin,
        words.ASKS: int(any(kernel.needs_mass for kernel in contacts.kernels)),
    }


def law_of(numbers: ContactNumbers) -> Law | None:
    """Return the law of materials; none if they are rigid."""
    if numbers.modulus:
        return laws.hertz
    if not numbers.stiffness:
        return None
    return laws.hunt_crossley if numbers.dissipation else laws.linear


def _pairs(classes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield pairs of classes, each once."""
    return ((i, j) for i in range(len(classes)) for j in range(i + 1))


def _law_of_pair(
    pairs: PairTable, given: Sequence[tuple[str, Law | None]], i: int, j: int
) -> tuple[str, Law | None, ContactNumbers]:
    """Return which contact two classes have, its law, or that of the materials, and its numbers."""
    number = pairs.law[i, j]
    numbers = ContactNumbers(*pairs.numbers[i, j].tolist())
    where, law = given[number] if number >= 0 else ("contact", None)
    return where, law or law_of(numbers), numbers


def _may_meet(world: WorldArrays, kind: np.ndarray, i: int, j: int) -> bool:
    """Return whether any shapes of two classes may meet."""
    group, mask = world.table.index[:, GROUP], world.table.index[:, MASK]
    moves, others = world.owner >= world.still, np.flatnonzero(kind == j)
    for a in np.flatnonzero(kind == i):
        met = others[moves[others] | moves[a]]
        met = met[((group[met] & mask[a]) != 0) & ((mask[met] & group[a]) != 0)]
        met = met[world.owner[met] != world.owner[a]]
        low, high = np.minimum(world.owner[met], world.owner[a]), np.maximum(world.owner[met], world.owner[a])
        if not np.isin(low * len(world.bodies) + high, world.excluded).all():
            return True
    return False


def _row(numbers: ContactNumbers, kernel: LawKernel) -> list[float]:
    row = [0.0] * words.LAW_NUMBERS
    row[words.FRICTION], row[words.STATIC] = numbers.friction, numbers.static_friction
    row[words.REACH], row[words.FEELS] = kernel.reach, float(kernel.needs_mass)
    row[words.ROLLING], row[words.TORSIONAL] = numbers.rolling, numbers.torsional
    return row


def _shape_numbers(world: WorldArrays) -> np.ndarray:
    """Return, per shape, the share of a contact, the curvature and the size of its faces."""
    kind, size, reach = world.table.kind, world.table.size, world.table.reach
    corners = world.table.index[:, POINTS]
    made = np.zeros((len(kind), words.SHAPE_NUMBERS))
    for k, which in enumerate(kind.tolist()):
        plane = which == kinds.PLANE
        points = min(int(corners[k]), _IN_PLANE) if which == kinds.POLYGON else _POINTS.get(which, 4)
        made[k, words.SHARE] = 0.0 if plane else 1.0 / points
        made[k, words.CURVATURE] = _curvature(which, size[k].tolist(), points)
        half = np.sort(reach[k, 3:6])
        made[k, words.SIZE] = 1e300 if plane else 2.0 * np.sqrt(half[1] * half[2] / np.pi)
    return made


def _curvature(kind: int, size: Sequence[float], points: int) -> float:
    """Return the curvature of a ball, a disc, or the round of a capsule; 0 of all others [1/m]."""
    disc = kind == kinds.POLYGON and points == 1
    return 1.0 / size[0] if disc or kind in (kinds.SPHERE, kinds.CAPSULE) else 0.0


def _calling(where: int) -> int:
    """Return the address of a function that calls the entry that one of its arguments names."""
    name = store.digest("contacts", _CALL, where)
    store.load(name, lambda: (_CALL.format(name=name, where=where), {}))
    return store.address(f"contacts_{name}")
