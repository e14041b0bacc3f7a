"""Stops and friction of joints, and the memory in which native code follows them (`active_record.ACTIVE`)."""

import ctypes
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from linkwork.contact_dynamics.event_driven.active_record import OPEN, SLIDING, STICKING
from linkwork.contact_dynamics.problem.rigid_coordinates import RigidCoordinates
from linkwork.model.model import Model

Array = np.ndarray

_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Record(Protocol):
    """What arrays are noted in."""

    def set(self, **values: Any) -> None: ...
    def keep(self, name: str, array: Array) -> Array: ...
    def array(self, name: str, size: int, kind: type = float) -> Array: ...


class ActiveJoints:
    """Rows of joints in modes, `RigidCoordinates` with what they do."""

    def __init__(self, model: Model, record: Record) -> None:
        self.coordinates = x = RigidCoordinates(model)
        self.stops, rows = len(x.stops), len(x)
        bent = x.column < 0
        record.set(joints=rows, stops=self.stops, bent=int(bent.any()))
        record.keep("joint_rows", x.rows)
        record.keep("joint_gap", x.gap)
        record.keep("joint_sign", x.sign)
        record.keep("joint_limit", x.limit)
        self._position = record.keep("joint_position", np.where(bent[: self.stops], -1, x.position))
        self._bound = record.keep("joint_bound", np.concatenate([np.zeros(self.stops), x.bound]))
        self._q, self._v = record.array("joint_q", model.nq), record.array("joint_v", model.nv)
        for name in ("push", "answer"):
            record.array(f"joint_{name}", model.nv)
        for name in ("u", "force"):
            record.array(f"joint_{name}", rows)
        self._drift, self.slide, self._near, self._u_0 = (
            record.array(f"joint_{name}", rows) for name in ("drift", "slide", "near", "u_0")
        )
        self._gap_0, self.mode = (
            record.array("joint_gap_0", self.stops),
            record.array("joint_mode", rows, np.int64),
        )
        self._callback = _RUN(lambda *_: self._bend())
        record.set(bend=ctypes.cast(self._callback, ctypes.c_void_p).value)

    def __len__(self) -> int:
        return len(self.mode)

    def _bend(self) -> None:
        self.coordinates.place(self._q)
        self._drift[:] = self.coordinates.drift(self._q, self._v)

    def hold(self, held: Array, slide: Array, near: Array) -> None:
        """Let rows (rows,) be held from now on, or slide, 1 forwards, -1 backwards; `near` are forces."""
        self.mode[:] = np.where(held, STICKING, np.where(slide != 0.0, SLIDING, OPEN))
        self.slide[:], self._near[:] = slide, np.where(held, near, 0.0)

    def begin(self, q: Array, v: Array) -> None:
        """Let a step begin here."""
        self.coordinates.place(q)
        self._gap_0[:], self._u_0[:] = self.coordinates.gap, self.coordinates.rows @ v

    def memory(self) -> dict[str, Array]:
        """Return all that it remembers, by name."""
        return {f"joint_{name}": array.copy() for name, array in self._remembered.items()}

    def recall(self, memory: Mapping[str, Array]) -> None:
        """Be what `memory` gave."""
        for name, array in self._remembered.items():
            array[:] = memory[f"joint_{name}"]

    @property
    def _remembered(self) -> dict[str, Array]:
        return {
            "mode": self.mode,
            "slide": self.slide,
            "near": self._near,
            "gap_0": self._gap_0,
            "u_0": self._u_0,
        }
