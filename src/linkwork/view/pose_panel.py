"""A mechanism that stands, and can be put into other positions by sliders; its loops stay closed."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.carry import carry
from linkwork.model.state import State
from linkwork.view.drawing import Drawing, drawing
from linkwork.view.slider_folder import SliderFolder, within
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Still, moment
from linkwork.view.viewer import Viewer

Array = np.ndarray

_JOINTS = 200  # that get a slider
_PARTS = 500  # of the way of a slider


class PosedViewer(Viewer):
    """A page of a model at rest."""

    room = 1.25  # its way is not known beforehand
    timed = False

    def __init__(self, model: Any, state: State, **where: Any) -> None:
        self._model, self._q = model, np.array(state.q)
        still = Still(moment(model, state.q, state.v, state.t))
        super().__init__(Subject(drawing(model), still, model), **where)

    def remade(self, mechanism: Mechanism) -> tuple[Any, Array, Drawing]:
        """Return the model of an edited mechanism, where it stands, and its drawing."""
        model, state = carry(self._model, State(self._q, np.zeros(self._model.nv)), mechanism)
        return model, state.q, drawing(model)

    def show_edited(self, made: tuple[Any, Array, Drawing]) -> None:
        self._model, self._q, picture = made
        self.show_subject(Subject(picture, Still(moment(self._model, self._q)), self._model))

    def hands(self, gui: Any) -> SliderFolder:
        sliders, folder, joints = {}, SliderFolder(gui, "Joints"), self._model.mechanism.joints
        for name, label, low, high in _ranges(self._model):
            here = self._q[self._model.slices[name][0]][0]
            of = (
                {name, *(body.name for body in joints[name].bodies)} - {"ground"}
                if name in joints
                else {name}
            )
            slider = folder.add(label, low, high, here, of, _PARTS)
            slider.on_update(
                lambda event, name=name, slider=slider: event.client and self.pose(name, slider.value)
            )
            sliders[name] = slider
        self.sliders = sliders
        return folder

    def pose(self, joint: str, value: float) -> None:
        """Put a joint to a coordinate [rad, m]; the others follow as little as they can."""
        model = self._model
        q = self._q.copy()
        q[model.slices[joint][0]] = value
        try:
            q = model.assemble(q, hold=[joint])
        except AssemblyError as error:
            self.show_message(str(error))
            return
        with self._lock:
            self.show_message("")
            self._q, self.subject.trajectory = q, Still(moment(model, q))
            self._stale = True
            for name, slider in self.sliders.items():
                here = within(q[model.slices[name][0]][0], slider.min, slider.max)
                if slider.value != here:
                    slider.value = here


def _ranges(model: Any) -> Iterable[tuple[str, str, float, float]]:
    """Return joint, label and range of the first joints of one coordinate."""
    single = [name for name in model.joint_names if model.joints[name].nv == model.joints[name].nq == 1]
    for name in single[:_JOINTS]:
        number = model.slices[name][1].start
        turns = model.coordinate_units[number] == "rad"
        most = 3.14 if turns else float(f"{0.5 * model.size:.1g}")
        low, high = (
            limit if np.isfinite(limit) else side * most
            for limit, side in zip(model.limits[number], (-1, 1), strict=True)
        )
        yield name, f"{name} [{'rad' if turns else 'm'}]", float(low), float(max(high, low + 1e-6))
