"""Active contacts of a model, and the memory in which native code follows them (`active_record.ACTIVE`)."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwork.contact.narrow_phase import find_contacts
from linkwork.contact.shape_table import buffer, work
from linkwork.contact_dynamics.detection.detection import detect
from linkwork.contact_dynamics.event_driven.active_joints import ActiveJoints
from linkwork.contact_dynamics.event_driven.active_record import ACTIVE, NUMBERS
from linkwork.contact_dynamics.event_driven.contact_tasks import LOOK, run_task
from linkwork.contact_dynamics.event_driven.touching import Surfaces, Touching
from linkwork.contact_dynamics.problem.least_norm import room_for
from linkwork.dynamics import loop_closure, position_rates
from linkwork.dynamics.kernel import Kernel

Array = np.ndarray

NEAR = 0.05  # of the size: how far from a contact the stages of a step may lead
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_PER_CONTACT: Mapping[str, tuple[int, type]] = {
    "label": (4, np.int64),
    "link": (2, np.int64),
    "mode": (3, np.int64),
    "port": (1, np.int64),
    "bound": (3, float),
    "reference": (9, float),
    "direction": (6, float),
    "near": (6, float),
    "normals": (6, float),
    "force": (6, float),
    **dict.fromkeys(("base", "now", "beside"), (NUMBERS, float)),
}

_REMEMBERED = ("label", "link", "mode", "bound", "reference", "near", "base", "normals")
_REMEMBERED_NUMBERS = ("slack_gap", "slack_force", "largest", "jumped")


class Looked(NamedTuple):
    """What contacts are like at some positions and velocities."""

    rows: Array  # (n, 3 or 6, nv)
    u: Array  # (n, 3 or 6) relative velocities [m/s, rad/s]
    drift: Array  # (n, 3 or 6) relative accelerations where velocity coordinates are held


class ActiveContacts:
    """Contacts that native code follows; for one thread at a time.

    Its arrays are attributes by name; `active_record` says what they are.
    """

    label: Array
    link: Array
    mode: Array
    bound: Array
    reference: Array
    near: Array
    normals: Array
    force: Array
    base: Array
    now: Array

    def __init__(self, surfaces: Surfaces, wide: int) -> None:
        model, self.surfaces, self.wide = surfaces.model, surfaces, wide
        self.model, self.size = model, min(float(model.size), 1.0)
        self.record, self._keep = np.zeros(1, ACTIVE), dict[str, Any]()
        self.loops = len(model.weak_pivots) if model.loop_names else 0
        shapes = surfaces.detection.shapes
        nq, nv, n = model.nq, model.nv, len(shapes.link)
        self.set(count=0, wide=wide, flat=surfaces.flat, nq=nq, nv=nv, links=len(surfaces.poses), shapes=n)
        self.set(loops=self.loops, size=self.size, reach_of_steps=NEAR * self.size, thin=surfaces.thin)
        self.t, self.power = self.array("t", 1), self.array("power", 1)
        self.q, self.v, self.qdot, self.free = (
            self.array(x, m) for x, m in zip(("q", "v", "qdot", "free"), (nq, nv, nq, nv))
        )
        self.gaps, self.pivots = self.array("gaps", self.loops), self.array("pivots", self.loops)
        for name in ("rate_q", "rate", "q_jump", "q_0", "q_1", "f_0", "f_1"):
            self.array(name, nq)
        for name in ("rate_v", "unit", "change"):
            self.array(name, nv)
        for name in ("reach", "speed", "speed_0"):
            self.array(name, n)
        self.base_state, self.change = self.array("base_state", nq + nv), self._keep["change"]
        self.values, self.q_jump = self.array("values", 3), self._keep["q_jump"]
        self.array("given", 0)
        self.array("opening", self.loops)
        self.array("three", 3 * max(nv, 1))
        self.array("shape_poses", 12 * n)
        self.array("pair", 2, np.int64)
        self.keep("where", surfaces.where)
        self.keep("X", surfaces.X)
        self.keep("link_of", shapes.link)
        self.keep("local", shapes.local)
        self.joints = ActiveJoints(model, self)
        self._bind_kernels()
        self._prepare_detection()
        self.room = -1
        self.make_room(8)

    # memory

    def set(self, **values: Any) -> None:
        """Write numbers of the record."""
        for name, value in values.items():
            self.record[0][name] = value

    def get(self, name: str) -> Any:
        """Return a number of the record."""
        return self.record[0][name]

    def keep(self, name: str, array: Array) -> Array:
        """Let the record know an array."""
        self._keep[name] = array
        self.set(**{name: array.ctypes.data})
        return array

    def array(self, name: str, size: int, kind: type = float) -> Array:
        """Make an array that the record knows."""
        return self.keep(name, np.zeros(max(size, 1), kind)[:size])

    def make_room(self, count: int) -> None:
        """Have room for this many contacts, without keeping any."""
        if count <= self.room:
            return
        self.room, wide, nv = count, self.wide, self.model.nv
        for name, (columns, kind) in _PER_CONTACT.items():
            setattr(self, name, self.array(name, count * columns, kind).reshape(count, columns))
        self.rows = self.array("rows", count * wide * nv).reshape(count, wide, nv)
        self.array("rows_beside", count * wide * nv)
        self.u, self.drift, _ = (
            self.array(x, count * wide).reshape(count, wide) for x in ("u", "drift", "ahead")
        )
        most = count * wide + self.loops + len(self.joints)
        for name in ("held", "pushed", "answer"):
            self.array(name, most * nv)
        self.array("which", most, np.int64)
        self.array("matrix", most * most)
        for name in ("right", "x"):
            self.array(name, most)
        doubles, integers = room_for(most)
        self.array("room", doubles)
        self.array("more", integers, np.int64)

    def _bind(self, name: str, kernel: Kernel, *arrays: Array) -> None:
        function, plan, ports = kernel.bind(*arrays)
        code = ctypes.cast(function, ctypes.c_void_p).value
        self._keep[f"{name}()"] = function, ports, kernel
        self.set(**{name: code, f"{name}_plan": plan, f"{name}_table": ports.ctypes.data})

    def _bind_kernels(self) -> None:
        model, surfaces, kept = self.model, self.surfaces, self._keep
        unknowns = bool(model.link_tree.unknowns)
        rates = model.kernel_of(position_rates.WITH_UNKNOWNS if unknowns else position_rates.ALGORITHM)
        self._bind("columns", surfaces.columns, surfaces.where, surfaces.X, surfaces.J, surfaces.F)
        self._bind("rates", rates, kept["rate_q"], kept["rate_v"], kept["rate"])
        if self.loops:
            openings = model.kernel_of(loop_closure.ROW_VELOCITIES)
            self._bind("openings", openings, surfaces.where, kept["unit"], kept["opening"])

    # collision detection

    def _prepare_detection(self) -> None:
        self._callback = _RUN(lambda *_: self._grow())
        self.set(grow=ctypes.cast(self._callback, ctypes.c_void_p).value, find=find_contacts.address)
        self.set(detect=detect.address)
        self._work, self._points = work(), 64
        self.keep("find_buffer", np.zeros(4, np.int64))
        self.keep("detect_found", np.zeros(5, np.int64))
        surfaces = self.surfaces
        self.array("kind", len(surfaces.detection.shapes.link), np.int64)
        if surfaces.soft is not None:
            kind, soft = surfaces.soft
            self.keep("kind", np.ascontiguousarray(kind, np.int64))
            self.keep("soft", np.ascontiguousarray(soft, np.int64))
            self.set(classes=len(soft))
        self.keep("quaternions", np.array([*self.model.quaternions, 0], np.int64))
        self.set(quaternion_count=len(self.model.quaternions))
        self._find_with(64)
        self._version = -1
        self.renew()

    def _find_with(self, room: int) -> None:
        """Have room for this many contacts of a pair."""
        table, pair = self.surfaces.detection.table, self._keep["pair"].reshape(1, 2)
        poses = self._keep["shape_poses"].reshape(-1, 3, 4)
        self._found = buffer(room)
        near = NEAR * self.size
        words = find_contacts.words(table.at, poses, pair, self._work.at, self._found.at, near)
        self.keep("find_words", words)
        self._keep["find_buffer"][:] = _where(self._found.number, self._found.label, self._found.count, room)

    def renew(self) -> None:
        """Follow collision detection, whose arrays may be larger ones by now."""
        detection = self.surfaces.detection
        if detection.version == self._version:
            return
        self._version = detection.version
        arguments = detection.arguments(self.surfaces.poses, self._keep["reach"])
        self.keep("detect_words", detect.words(*arguments))
        found = detection.found
        rooms = len(detection.pairs), found.room
        self._keep["detect_found"][:] = _where(found.number, found.label, detection.counts, *rooms)
        self.array("taken", found.room, np.int64)

    def _grow(self) -> None:
        if self._found.count[1] > self._found.room:
            self._find_with(2 * int(self._found.count[1]))
        self.surfaces.detection.grow()
        self.renew()

    # contacts

    @property
    def count(self) -> int:
        """How many contacts there are."""
        return int(self.get("count"))

    def take(self, touching: Touching) -> None:
        """Follow these contacts from now on, beginning where they are: they have just been found."""
        n = len(touching.gap)
        self.make_room(n)
        self.set(count=n, jumped=0)
        self.label[:n], self.link[:n] = touching.label, touching.link
        R = self.surfaces.detection.poses[touching.label[:, :2], :, :3]
        self.normals[:n] = np.einsum("nsij,ni->nsj", R, touching.axes[:, 0]).reshape(n, 6)
        self.base[:n] = np.column_stack([touching.place, touching.axes.reshape(n, 9), touching.gap])

    def touching(self, which: str = "base") -> Touching:
        """Return the contacts, at the base or as they were last looked at."""
        n, numbers = self.count, getattr(self, which)[: self.count].copy()
        place, axes, gap = numbers[:, :3], numbers[:, 3:12].reshape(n, 3, 3), numbers[:, 12]
        return Touching(self.label[:n].copy(), self.link[:n].copy(), place, axes, gap)

    def memory(self) -> dict[str, Array]:
        """Return all that it remembers, by name."""
        n = self.count
        found = {name: getattr(self, name)[:n].copy() for name in _REMEMBERED}
        numbers = np.array([float(self.get(name)) for name in _REMEMBERED_NUMBERS])
        return (
            found
            | self.joints.memory()
            | {
                "base_state": self.base_state.copy(),
                "q_jump": self.q_jump.copy(),
                "numbers": numbers,
            }
        )

    def recall(self, memory: Mapping[str, Array]) -> None:
        """Be what `memory` gave."""
        n = len(memory["label"])
        self.make_room(n)
        self.set(count=n, **dict(zip(_REMEMBERED_NUMBERS, memory["numbers"].tolist(), strict=True)))
        for name in _REMEMBERED:
            getattr(self, name)[:n] = memory[name]
        self.joints.recall(memory)
        self.base_state[:], self.q_jump[:] = memory["base_state"], memory["q_jump"]

    def arguments(self, task: int, table: int = 0) -> tuple[Any, ...]:
        """Return what `run_task` takes."""
        s, kept = self.surfaces, self._keep
        return (
            *(table, task, self.record.ctypes.data, s.layout, s.detection.shapes, s.poses, s.J, s.F),
            *(s.added, s.mass, s.inverse, kept["rate_v"], s.detection.motion, kept["speed"]),
        )

    def do(self, task: int) -> None:
        """Run a task at the positions and velocities in `q` and `v`."""
        self.renew()
        run_task(*self.arguments(task))

    def look(self, q: Array, v: Array, touching: Touching) -> Looked:
        """Return what contacts at q are like when the model moves at v; inertia is that at q afterwards."""
        self.take(touching)
        self.q[:], self.v[:] = q, v
        self.do(LOOK)
        n = self.count
        return Looked(self.rows[:n].copy(), self.u[:n].copy(), self.drift[:n].copy())


def _where(*things: Any) -> Sequence[int]:
    return [x.ctypes.data if isinstance(x, np.ndarray) else x for x in things]
