"""The bodies of a scene as they meet: a recording of a scene knows bodies, each by itself, and static shapes.

Bodies that a joint holds together may overlap, which is no blow: pairs that do so when the recording begins
are left out.
"""

from typing import Any

from linkwork.contact.colliders import Colliders
from linkwork.mechanism.contact import Contact
from linkwork.recording.recording import Recording

METHOD = "steps of a scene"  # as its report has it
_OVERLAP = 1e-4  # of bodies that are joined [m]


def is_of_scene(run: Any) -> bool:
    """Whether a recording is that of a scene."""
    return isinstance(run, Recording) and run.report.method == METHOD


def meeting_model(run: Recording) -> Any:
    """Return the model of a scene's bodies, with contact."""
    mechanism = run.mechanism.copy()
    shapes = tuple(mechanism.ground.visuals)
    mechanism.ground.visuals = ()
    for shape in shapes:
        mechanism.ground.add(shape)
    world = Colliders.of(mechanism)
    world.place(run.model.poses(run.q[0]))
    found = world.contacts()
    joined = {pair for pair, depth in zip(found.bodies, found.depth, strict=True) if depth > _OVERLAP}
    mechanism.add(Contact("contact", without=sorted(joined)))
    return mechanism.compile(floating=True)
