"""From what the user has to what is shown."""

from typing import Any

import numpy as np

from linkwork.errors import FormatError, LinkworkError
from linkwork.geometry import Solid, Visual
from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Fixed
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import lifted
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.recording.recording import Recording
from linkwork.scene.scene import Scene
from linkwork.view.drawing import Drawing, drawing
from linkwork.view.driven_drawing import drawing_of_driven
from linkwork.view.edit_observer import Edits
from linkwork.view.pose_panel import PosedViewer
from linkwork.view.stored_drawing import bare, restored
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Still, moment, recorded
from linkwork.view.viewer import Viewer


def viewer_of(thing: Any, state: Any, *, live: bool, host: str, port: int | None, expose: bool) -> Viewer:
    """Return a page of a recording, a motion, a model or a mechanism."""
    where: dict[str, Any] = {"host": host, "port": port, "expose": expose}
    if isinstance(thing, Scene):
        from linkwork.view.scene_viewer import SceneViewer

        return SceneViewer(thing, **where) if live else Viewer(subject_of(thing.recording), **where)
    if isinstance(thing, Solid):
        thing = _standing(thing)
    if isinstance(thing, Mechanism):
        if thing.drivers and not live:
            from linkwork.view.driver_panel import DrivenViewer

            if state is not None:
                raise LinkworkError(f"show: {thing.name!r} has drivers, which say where it is; give no state")
            return DrivenViewer(thing, edits=Edits(thing), **where)
        where["edits"] = Edits(thing)
        try:
            thing = thing.compile()
        except BaseException:
            where["edits"].stop()
            raise
    if isinstance(thing, Model):
        start = start_of(thing, state)
        if live:
            from linkwork.view.live_panel import LiveViewer

            return LiveViewer(thing, start, **where)
        return PosedViewer(thing, start, **where)
    subject = subject_of(thing)
    if state is not None or live:
        raise LinkworkError(
            "what has moved is shown as it did; give a model to show a state of, or to run live"
        )
    return Viewer(subject, **where)


def subject_of(thing: Any) -> Subject:
    """Return what is looked at when something is shown, drawn or filmed; say if it cannot be."""
    if isinstance(thing, Solid):
        thing = _standing(thing)
    if isinstance(thing, Mechanism) and thing.drivers:
        from linkwork.view.driven_pose import Driving

        return Driving(thing).subject
    if isinstance(thing, Mechanism):
        thing = thing.compile()
    if isinstance(thing, Model):
        return Subject(drawing(thing), Still(moment(thing, start_of(thing, None).q)), thing)
    if not isinstance(thing, Recording):
        raise LinkworkError(
            f"show: cannot show a {type(thing).__name__}; give a Mechanism, a Model, a Recording "
            "(of a batch: runs[7]) or a shape"
        )
    if not len(thing):
        raise LinkworkError(f"show: {thing!r} has no samples")
    run = thing.drawn
    return Subject(drawing_of(run), recorded(run), run.model, run)


def _standing(shape: Solid) -> Mechanism:
    """Return a shape, such as a mesh from a file, as a body that stands."""
    name = str(getattr(shape, "name", "")) or type(shape).__name__.lower()
    m = Mechanism(name)
    body = m.add(Body(name if name not in ("ground", "stand") else "shape", visuals=[Visual(shape=shape)]))
    m.add(Fixed("stand", m.ground, body))
    return m


def moving_subject_of(thing: Any) -> Subject:
    """Return what is looked at of something that has moved: a recording or a motion."""
    if isinstance(thing, Mechanism | Model):
        raise LinkworkError(f"a {type(thing).__name__} does not move by itself; give a Recording")
    return subject_of(thing)


def drawing_of(run: Any) -> Drawing:
    """Return what is drawn of a recording: as its model says, or its file."""
    if isinstance(run.model, Model):
        names = run.model.body_names
        return drawing(run.model, passed=lambda name: lifted(run.derived("poses")[:, names.index(name)]))
    if run.model is not None:
        return drawing_of_driven(run.mechanism)
    header, arrays = run.appearance
    name = run.report.mechanism
    if header is None:
        return bare(name, run.layout, lifted(run.derived("poses")))
    try:
        return restored(header, arrays, run.layout.bodies)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise FormatError(f"{name}: what the file says of how it looks is damaged: {error}") from None


def start_of(model: Model, state: Any) -> State:
    """Return the state to show: given as one, as positions, or as drawn."""
    if state is None:
        return State(model.assemble(model.q_drawn), np.zeros(model.nv))
    if isinstance(state, State):
        return state
    if hasattr(state, "final"):
        return state.final
    q = np.asarray(state, float)
    if q.shape != (model.nq,) or not np.isfinite(q).all():
        raise ValueError(f"show: q has shape {q.shape}; give {model.nq} finite numbers, or model.state(...)")
    return State(q, np.zeros(model.nv))
