"""What is drawn of a mechanism that is not compiled, because drivers determine how it moves."""

from linkwork.mechanism.mechanism import Mechanism
from linkwork.view.drawing import Drawing, drawing_of_mechanism


def drawing_of_driven(mechanism: Mechanism) -> Drawing:
    """Return what is drawn of a mechanism that is not compiled: all its bodies, in their order."""
    return drawing_of_mechanism(mechanism, tuple(mechanism.bodies), _closing(mechanism))


def _closing(mechanism: Mechanism) -> set[str]:
    """Return the joints that close loops: those met between bodies that hang on the ground already."""
    waiting, reached, closing = list(mechanism.joints.values()), {"ground"}, set()
    while True:
        near = [joint for joint in waiting if reached & set(joint.ends)]
        if not near:
            return closing
        for joint in near:
            waiting.remove(joint)
            if set(joint.ends) <= reached:
                closing.add(joint.name)
            reached |= set(joint.ends)
