"""From what the user has to what is shown."""

from typing import Any

import numpy as np

from linkwork.compile import Model
from linkwork.errors import FormatError, LinkworkError
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.state import State
from linkwork.view.drawing import Drawing, drawing, lifted
from linkwork.view.motion import Recorded
from linkwork.view.posing import PosedViewer
from linkwork.view.stored import bare, restored
from linkwork.view.viewer import Viewer


def viewer_of(thing: Any, state: Any, *, live: bool, host: str, port: int | None, expose: bool) -> Viewer:
    """Return a page of a recording, a model or a mechanism."""
    where: dict[str, Any] = {"host": host, "port": port, "expose": expose}
    if isinstance(thing, Mechanism):
        thing = thing.compile()
    if isinstance(thing, Model):
        start = start_of(thing, state)
        if live:
            from linkwork.view.live import LiveViewer

            return LiveViewer(thing, start, **where)
        return PosedViewer(thing, start, **where)
    run = recording_of(thing)
    if state is not None or live:
        raise LinkworkError("a recording is shown as it is; give a model to show a state of, or to run live")
    return Viewer(drawing_of(run), Recorded(run), model=run.model, run=run, **where)


def recording_of(thing: Any) -> Any:
    """Return a recording with samples, or say what is wrong."""
    from linkwork.simulation.recording import Recording

    if not isinstance(thing, Recording):
        raise LinkworkError(
            f"show: cannot show a {type(thing).__name__}; give a Mechanism, a Model or a Recording "
            "(of a batch: runs[7])"
        )
    if not len(thing):
        raise LinkworkError(f"show: the recording of {thing.report.mechanism!r} has no samples")
    return thing


def drawing_of(run: Any) -> Drawing:
    """Return what is drawn of a recording: as its model says, or its file."""
    if run.model is not None:
        return drawing(run.model)
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
