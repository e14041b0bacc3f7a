"""A run to an accuracy with rigid stops and dry friction of joints: smooth pieces, events in between."""

from linkwork.simulation.contact_settings import ContactSettings
from linkwork.simulation.joint_settings import JointSettings
from linkwork.simulation.rigid_contact_run import ContactRun
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.single_run import OneRun


class JointRun(ContactRun):
    """A run of one mechanism whose joints are rigid at their stops, or have friction that sticks."""

    _setting: JointSettings  # type: ignore[assignment]

    def _advance(self, pace: object) -> bool:
        going = OneRun._advance(self, pace)  # type: ignore[arg-type]
        if (error := self._setting.programs.error) is not None:
            raise error
        return going


def kind_of_run(setting: RunSettings) -> type[OneRun]:
    """Return the class of runs with a setting."""
    if isinstance(setting, JointSettings):
        return JointRun
    return ContactRun if isinstance(setting, ContactSettings) else OneRun
