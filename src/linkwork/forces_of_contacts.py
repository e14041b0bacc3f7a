"""Where a model finds the forces of its compliant contacts, which are made in a room above it.

The package hands it in (`linkwork/__init__.py`), so that models know nothing of how contacts are solved.
"""

from collections.abc import Callable
from typing import Any

Find = Callable[[], Callable[[Any], Any]]  # returns the function of a mechanism, which is imported then

_given: list[Find] = []


def hand_in(find: Find) -> None:
    """Say where the function is that makes compliant contacts of a mechanism."""
    _given[:] = [find]


def compliant_contacts(mechanism: Any) -> Any:
    """Return the compliant contacts of a mechanism; None if there are none."""
    return _given[0]()(mechanism)
