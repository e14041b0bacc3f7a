"""The words of URDF: a misspelt attribute or element would silently be another robot, so it is refused."""

from dataclasses import dataclass

from linkwork.errors import unknown, warn
from linkwork.formats.markup import SHOWN, Element


@dataclass(frozen=True)
class ElementWords:
    """What may stand in an element; `foreign` is not URDF but occurs in published robots."""

    attributes: tuple[str, ...] = ()
    children: tuple[str, ...] | None = ()  # None: checked by the reader of the element
    foreign: tuple[str, ...] = ()


# wiki.ros.org/urdf/XML and urdfdom; `foreign` are what the 69 files of example-robot-data 6.0, and those
# of pybullet_data, have besides.
# Elements that are not listed (calibration, ...) are of no concern here and not looked into.
WORDS = {
    "link": ElementWords(
        ("name",),
        ("inertial", "visual", "collision", "contact"),
        ("type", "collision_checking", "concave", "gravity", "kinematic", "origin", "self_filter", "surface"),
    ),
    "contact": ElementWords(  # as PyBullet reads it
        (),
        (
            "lateral_friction",
            "rolling_friction",
            "spinning_friction",
            "restitution",
            "stiffness",
            "damping",
        ),
        ("contact_cfm", "contact_erp", "contact_processing_threshold", "friction_anchor", "inertia_scaling"),
    ),
    **dict.fromkeys(("lateral_friction", "rolling_friction", "spinning_friction"), ElementWords(("value",))),
    **dict.fromkeys(("restitution", "stiffness", "damping"), ElementWords(("value",))),
    "joint": ElementWords(
        ("name", "type"),
        (
            "origin",
            "parent",
            "child",
            "axis",
            "limit",
            "dynamics",
            "mimic",
            "calibration",
            "safety_controller",
        ),
        ("dont_collapse", "joint_properties"),
    ),
    "inertial": ElementWords((), ("origin", "mass", "inertia")),
    "mass": ElementWords(("value",)),
    "inertia": ElementWords(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "visual": ElementWords(("name",), ("origin", "geometry", "material")),
    "collision": ElementWords(
        ("name",), ("origin", "geometry", "material", "verbose"), ("concave", "group", "mask")
    ),
    "geometry": ElementWords((), None, ("name",)),
    "box": ElementWords(("size",)),
    "sphere": ElementWords(("radius",)),
    "cylinder": ElementWords(("radius", "length")),
    "capsule": ElementWords(("radius", "length")),
    "plane": ElementWords(("normal",)),
    "mesh": ElementWords(("filename", "scale")),
    "material": ElementWords(("name",), ("color", "texture"), ("specular",)),
    "color": ElementWords(("rgba",)),
    "texture": ElementWords(("filename",)),
    "origin": ElementWords(("xyz", "rpy")),
    "parent": ElementWords(("link",)),
    "child": ElementWords(("link",)),
    "axis": ElementWords(("xyz",), (), ("rpy",)),
    "limit": ElementWords(
        ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
        (),
        ("command_effort", "current", "gear_velocity", "twist"),
    ),
    "dynamics": ElementWords(("damping", "friction"), (), ("D", "K", "mu_coulomb", "mu_viscous")),
    "mimic": ElementWords(("joint", "multiplier", "offset")),
}


def check_words(robot: Element) -> None:
    """Refuse unknown words in links, joints and materials; warn, once, of those that are left out."""
    left_out: dict[str, int] = {}  # what -> the line of the first
    todo = [element for element in robot.children if element.tag in ("link", "joint", "material")]
    for element in todo:  # grows while it is walked
        words = WORDS.get(element.tag)
        if words is None:
            continue
        for name in element.attributes:
            if name in words.foreign:
                left_out.setdefault(f"{name}= of <{element.tag}>", element.line)
            elif name not in words.attributes and ":" not in name:  # with a colon it is of another language
                raise element.error(unknown("attribute", name[:SHOWN], words.attributes))
        for child in element.children:
            if child.tag in words.foreign:
                left_out.setdefault(f"<{child.tag}> of <{element.tag}>", child.line)
            elif words.children is None or child.tag in words.children:
                todo.append(child)
            elif child.tag.startswith("xacro:"):
                raise child.error("this is not URDF; run xacro on the file first")
            elif ":" not in child.tag:
                raise child.error(unknown("element", child.tag[:SHOWN], words.children))
    if left_out:
        listed = ", ".join(f"{what} (line {line})" for what, line in left_out.items())
        warn(f"{robot.file}: left out, as it is not URDF: {listed}")
