"""What is looked at: a drawing, where it is over time, and what is known of its curves and forces.

A recording, a model at rest or running, and a motion of kinematics are subjects alike: pages, films and
pictures know nothing else of them. What is shown of forces and gaps is what the recording says, or the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.recording.channels import LiveChannels
from linkwork.recording.contact_quantities import DEPTH, FORCE, POINT
from linkwork.recording.curve import Trace
from linkwork.recording.interpolation import Instant
from linkwork.recording.layout import Layout
from linkwork.recording.recording import Recording
from linkwork.view.drawing import Drawing, lifted_motions
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.trajectory import Moment, Trajectory

Array = np.ndarray

_AT_ONCE = 100_000  # bodies times samples of which all is derived at the first question
_WHOLE = ("energy", "kinetic_energy", "potential_energy")


class _Sample(Instant):
    """A sample of a recording: what is derived of it is derived of all samples at once, and kept there."""

    def derived(self, quantity: str) -> Array:
        run, k = self.__dict__["whole"]
        return run.derived(quantity)[k]


def _sample(run: Recording, k: int) -> Instant:
    """Return a sample; of a long recording it is derived alone, without the rest."""
    found = run.sample(k)
    if len(run) * len(run.layout.bodies) > _AT_ONCE:
        return found
    sample = _Sample.__new__(_Sample)
    sample.__dict__.update(found.__dict__, whole=(run, k))
    return sample


class Subject:
    """Something that can be shown: with a recording, with a model, or as drawn, without either."""

    def __init__(
        self, drawing: Drawing, trajectory: Trajectory, model: Any = None, run: Recording | None = None
    ) -> None:
        self.drawing, self.trajectory, self.model, self.run = drawing, trajectory, model, run
        self._live = None if model is None else LiveChannels(model)
        self._marks = {mark.name: mark for mark in drawing.joints}
        self._numbers = {name: k for k, name in enumerate(drawing.bodies)} | {"ground": -1}
        self._seen: tuple[Moment, bool, Instant] | None = None
        self.meshes: dict[str, list[tuple[str, str, str, str]]] = {}  # what is known of meshes, by body
        self.exact = False  # whether moments between the samples of a run are asked for, too
        self._words: tuple[Layout, dict[str, list[str]], dict[str, None]] | None = None

    # curves

    @property
    def channels(self) -> Sequence[str]:
        """The names of what can be plotted."""
        return () if self.run is None else tuple(self._known_words(self.run.layout)[1])

    def has(self, channel: str) -> bool:
        """Return whether there is something to be plotted of this name."""
        return self.run is not None and channel in self._known_words(self.run.layout)[1]

    def words_of(self, name: str) -> list[str]:
        """Return what is known over time of an element, or "" for a channel of the whole."""
        known = self._live if self.run is None else self.run
        return [] if known is None else self._known_words(known.layout)[0].get(name, [])

    def _known_words(self, layout: Layout) -> tuple[dict[str, list[str]], dict[str, None]]:
        """Return words by element, and names of channels."""
        if self._words is None or self._words[0] is not layout:
            found: dict[str, list[str]] = {each: [""] for each in _WHOLE}
            for element, words in _words(layout):
                found.setdefault(element, []).extend(words)
            self._words = layout, found, dict.fromkeys(_channels(layout))
        return self._words[1:]

    def curves(self, names: Sequence[str]) -> tuple[Array, list[Trace]]:
        """Return times, and the curves of channels, in the order of time."""
        if self.run is None:
            return self.trajectory.times, []
        time, traces = self.run.time, self.run.traces(*names) if names else []
        if (np.diff(time) >= 0.0).all():
            return time, traces
        time, order = np.unique(time, return_index=True)
        return time, [replace(trace, values=trace.values[order]) for trace in traces]

    # forces

    def instant(self, moment: Moment) -> Instant:
        """Return all that is known at a moment: of the recording, or its nearest sample; or of the model."""
        if self._seen is not None and self._seen[0] is moment and self._seen[1] == self.exact:
            return self._seen[2]
        if self.run is not None and moment.sample is not None:
            found = self._between(self.run, moment) or _sample(self.run, moment.sample)
        elif self._live is not None and moment.q is not None and moment.v is not None:
            state = np.array(moment.t), moment.q, moment.v
            found = Instant(self._live, *state, np.array(np.nan), np.array(True))
        else:
            raise LinkworkError("not available here: there is no motion that determines it")
        self._seen = moment, self.exact, found
        return found

    def _between(self, run: Recording, moment: Moment) -> Instant | None:
        """Return what is known at a moment between samples, if that is asked for and can be."""
        if not self.exact or run.model is None or run.time[moment.sample] == moment.t:
            return None
        try:
            return run.at(moment.t)
        except (LinkworkError, ValueError):  # times that do not grow
            return None

    def reactions(self, moment: Moment) -> Mapping[str, Array]:
        """Return the torque and force (6,) of joints on their children, at the joints, in world axes."""
        now = self.instant(moment)
        return dict(zip(now.layout.joints, lifted_motions(now.derived("reactions")), strict=True))

    def applied(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        """Return points (N, 3), and torques and forces (N, 6) that act there, in world axes, without gravity.

        Of loads on bodies the net, at the centre of mass; of drives and drivers of joints at the joint, on
        the child, or on the parent if the child is ground; of drivers of bodies at the body's origin.
        """
        now = self.instant(moment)
        layout, on = now.layout, {each.name: each.on for each in self.drawing.connections}
        joints = [name for name in layout.joints if name not in layout.constraints]
        acting: list[tuple[tuple[int, Array, float], Array]] = [
            ((body, center, 1.0), row)
            for body, (center, row) in enumerate(
                zip(self.drawing.centers, now.derived("load_wrenches"), strict=True)
            )
        ]
        acting += [(self._on(name), row) for name, row in zip(joints, now.derived("drive_wrenches"))]
        if layout.drivers:
            places = [self._on(self._driven(on[name][0])) for name in layout.drivers]
            acting += list(zip(places, now.derived("driver_wrenches"), strict=True))
        acting = [(place, row) for place, row in acting if row.any()]
        points = [poses.positions[body] + poses.rotations[body] @ at for (body, at, _), _ in acting]
        wrenches = [sign * lifted_motions(row) for (_, _, sign), row in acting]
        return np.array(points).reshape(-1, 3), np.array(wrenches).reshape(-1, 6)

    @property
    def touching(self) -> bool:
        """Whether bodies meet, so that there are contacts."""
        known = self._live if self.run is None else self.run
        return known is not None and known.layout.touching

    def contacts(self, moment: Moment) -> tuple[Array, Array]:
        """Return points (N, 3) of contacts, and the forces (N, 3) on the second body of each."""
        rows = self.instant(moment).derived("contacts")
        rows = rows[np.isfinite(rows[:, DEPTH])]
        return rows[:, POINT : POINT + 3], rows[:, FORCE : FORCE + 3]

    def _on(self, name: str) -> tuple[int, Array, float]:
        """Return on which body a drive of this joint or body is shown, where on it, and with which sign."""
        if name not in self._marks:
            return self._numbers[name], np.zeros(3), 1.0
        mark = self._marks[name]
        if mark.child == "ground":
            return self._numbers[mark.parent], mark.on_parent[:, 3], -1.0
        return self._numbers[mark.child], mark.on_child[:, 3], 1.0

    def _driven(self, what: str) -> str:
        """Return the joint or body of what a driver drives: "A", "A[1]" or "rocker.angle"."""
        names = what, what.rpartition("[")[0], what.rpartition(".")[0]
        return next(name for name in names if name in self._marks or name in self._numbers)

    def gaps(self, moment: Moment) -> Mapping[str, float]:
        """Return by how much joints and constraints that close loops are open [m, rad]."""
        now = self.instant(moment)
        return dict(zip(now.layout.closing, now.derived("gaps").tolist(), strict=True))


def _channels(layout: Layout) -> list[str]:
    return [*(f"{name}.{word}" for name, words in _words(layout) for word in words), *_WHOLE]


def _words(layout: Layout) -> list[tuple[str, Sequence[str]]]:
    """Return what can be plotted of drivers, joints, constraints, loads and bodies, by name."""
    words: list[tuple[str, Sequence[str]]] = [
        (name, ("position", "force", "power")) for name in layout.drivers
    ]
    for name, (_, part) in layout.joints.items():
        if name not in layout.constraints:
            moving = ("position", "velocity", "acceleration", "force") if part.stop > part.start else ()
            words.append((name, (*moving, "reaction.force", "reaction.torque")))
    words += [(name, ("position", "velocity")) for name in layout.curves]
    words += [(name, ("force",)) for name in layout.constraints if name not in layout.drivers]
    words += [(name, ("force",)) for name in layout.loads]
    angle = ("angle",) if layout.space == "plane" else ()
    touched = ("contact_force",) if layout.touching else ()
    words += [(name, (*angle, "position", "velocity", "acceleration", *touched)) for name in layout.bodies]
    return words
