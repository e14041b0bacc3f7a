"""The words of SDF: one that is misspelt would silently be another robot; what is not read is listed.

http://sdformat.org/spec, versions 1.4 to 1.12. Elements that are not listed are of no concern here and not
looked into: they draw, measure, or tune a solver.
"""

from dataclasses import dataclass

from linkwork.errors import unknown, warn
from linkwork.formats.markup import SHOWN, Element
from linkwork.formats.sdf_frames import is_true


@dataclass(frozen=True)
class SdfWords:
    """What may stand in an element: what is read, or moves nothing; and what would, and is left out."""

    read: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    if_true: tuple[str, ...] = ()  # left out, if they say true
    if_false: tuple[str, ...] = ()


_DRAWN = ("sensor", "projector", "audio_sink", "audio_source", "battery", "light", "particle_emitter")
_AXIS = ("xyz", "use_parent_model_frame", "initial_position")
WORDS = {
    "world": SdfWords(
        ("gravity", "model", "physics", "scene", "gui", "light", "audio", "atmosphere", "magnetic_field")
        + ("spherical_coordinates", "include", "joint", "frame"),
        ("actor", "wind", "state", "population", "road", "plugin"),
    ),
    "model": SdfWords(
        ("pose", "static", "self_collide", "allow_auto_disable", "frame", "link", "joint", "model")
        + ("include",),
        ("plugin", "gripper", "model_state"),
        ("enable_wind",),
    ),
    "link": SdfWords(
        ("pose", "inertial", "collision", "visual", "self_collide", "must_be_base_link", "frame"),
        ("velocity_decay", "plugin", "contact", *_DRAWN),
        ("kinematic", "enable_wind"),
        ("gravity",),
    ),
    "inertial": SdfWords(
        ("pose", "mass", "inertia", "frame", "density", "auto_inertia_params"), ("fluid_added_mass",)
    ),
    "inertia": SdfWords(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "collision": SdfWords(
        ("pose", "geometry", "surface", "laser_retro", "max_contacts", "density", "auto_inertia_params")
        + ("frame", "material")  # the last is not SDF, but kuka_with_gripper2.sdf of pybullet_data has it
    ),
    "visual": SdfWords(
        ("pose", "geometry", "material", "cast_shadows", "laser_retro", "transparency", "visibility_flags")
        + ("meta", "plugin", "frame")
    ),
    "geometry": SdfWords(
        ("box", "sphere", "cylinder", "capsule", "cone", "ellipsoid", "plane", "mesh", "empty", "heightmap")
        + ("image", "polyline")
    ),
    "box": SdfWords(("size",)),
    "sphere": SdfWords(("radius",)),
    **dict.fromkeys(("cylinder", "capsule", "cone"), SdfWords(("radius", "length"))),
    "ellipsoid": SdfWords(("radii",)),
    "plane": SdfWords(("normal", "size")),
    "mesh": SdfWords(("uri", "scale"), ("submesh", "convex_decomposition")),
    "joint": SdfWords(
        ("pose", "parent", "child", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "frame")
        + ("physics", "gearbox_ratio", "gearbox_reference_body"),
        ("sensor", "plugin"),
    ),
    "axis": SdfWords((*_AXIS, "dynamics", "limit", "mimic")),
    "axis2": SdfWords((*_AXIS, "dynamics", "limit"), ("mimic",)),
    "dynamics": SdfWords(("damping", "friction", "spring_reference", "spring_stiffness")),
    "limit": SdfWords(("lower", "upper", "effort", "velocity", "stiffness", "dissipation")),
    "mimic": SdfWords(("multiplier", "offset", "reference")),
}


def check_words(root: Element) -> None:
    """Refuse unknown words in worlds, models and what they hold; warn, once, of what is left out."""
    left_out: dict[str, int] = {}  # what -> the line of the first
    todo = [element for element in root.children if element.tag in ("world", "model")]
    left_out.update({f"<{one.tag}>": one.line for one in root.children if one.tag in ("actor", "light")})
    for element in todo:  # grows while it is walked
        words = WORDS.get(element.tag)
        if words is None:
            continue
        for child in element.children:
            tag = child.tag
            said = is_true(child) if tag in (*words.if_true, *words.if_false) else None
            moves = tag in words.if_true if said else said is not None and tag in words.if_false
            if moves or tag in words.left_out:
                left_out.setdefault(f"<{tag}> of <{element.tag}>", child.line)
            elif said is None and tag in words.read:
                todo.append(child)
            elif said is None and ":" not in tag:  # with a colon it is of another language
                known = (*words.read, *words.left_out, *words.if_true, *words.if_false)
                raise child.error(unknown("element", tag[:SHOWN], known))
    if left_out:
        listed = ", ".join(f"{what} (line {line})" for what, line in left_out.items())
        warn(f"{root.file}: left out: {listed}")
