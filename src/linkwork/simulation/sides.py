"""What takes mechanisms through time: the native loop, or steps with contact."""

from typing import Any

import numpy as np

from linkwork.simulation.contact_sides import ContactSides
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.options import AUTO
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
    """Return what takes N mechanisms through time: SideBySide, or ContactSides with the same methods."""
    if setting.system.model.contact_names and setting.chosen.step:
        _check_options(setting)
        if variants:
            raise ValueError("vary= is not for runs with contact yet; leave it out")
        return ContactSides(setting, y, t, inputs, watch, threads)
    return SideBySide(setting, y, t, inputs, watch, threads, alone=alone, variants=variants)


def _check_options(setting: RunSettings) -> None:
    """Refuse options that steps with contact do not follow."""
    words = setting.words
    if words.method != AUTO:
        raise ValueError(f"method {words.method!r} with contact and step=; leave it out, or leave step= out")
    if words.loops != PROJECTED:
        raise ValueError(f"loops {words.loops!r} with contact and step=; leave it out: loops are kept closed")
