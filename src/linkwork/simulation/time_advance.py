"""What takes mechanisms through time: the native loop, or steps with contact."""

from typing import Any

import numpy as np

from linkwork.simulation.contact_pieces import ContactPieces
from linkwork.simulation.contact_side_by_side import ContactSides
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.options import AUTO, MOREAU_JEAN
from linkwork.simulation.restoring import PROJECTED
from linkwork.simulation.run_settings import RunSettings
from linkwork.simulation.side_by_side import SideBySide
from linkwork.simulation.variant_groups import Variants

Array = np.ndarray


def sides_of(
    setting: RunSettings,
    y: Array,
    t: float,
    inputs: Array,
    watch: LawWatch,
    threads: int,
    alone: bool,
    variants: Variants | None = None,
) -> Any:
    """Return what takes N mechanisms through time: SideBySide, or what has the same methods."""
    if goes_by_contact_steps(setting):
        _check_options(setting)
        return ContactSides(setting, y, t, inputs, watch, threads, variants)
    if setting.with_contact:
        return ContactPieces(setting, y, t, inputs, watch, threads, alone=alone, variants=variants)
    return SideBySide(setting, y, t, inputs, watch, threads, alone=alone, variants=variants)


def goes_by_contact_steps(setting: RunSettings) -> bool:
    """Whether a run goes by steps in which contacts, stops and friction are solved for."""
    model = setting.system.model
    return bool(setting.chosen.step) and (bool(model.contact_names) or model.is_rigid)


def _check_options(setting: RunSettings) -> None:
    """Refuse options that steps with contact do not follow."""
    words = setting.words
    if words.method not in (AUTO, MOREAU_JEAN):
        raise ValueError(
            f"method {words.method!r} with contact and step=; leave it out, or leave step= out, "
            f"or give {MOREAU_JEAN!r}"
        )
    if words.loops != PROJECTED:
        raise ValueError(f"loops {words.loops!r} with contact and step=; leave it out: loops are kept closed")
    for joint in setting.system.model.joints.values():
        speed = joint.friction_speed
        if speed is not None and not joint.friction_sticks(rigid=True) and np.any(joint.friction):
            raise ValueError(
                f"joint {joint.name!r}: friction_speed {speed!r} with contact or rigid stops, and step=; "
                "leave it out, or give 0: friction sticks in such steps"
            )
