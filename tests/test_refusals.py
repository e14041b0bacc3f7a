"""Wrong values, by public name: each is refused by name and value, warned of, or shown to be right.

Every name of `lw.__all__` is in the tables (`refused_*.py`). A new one without an entry fails the test.
"""

import pytest
import refused_attributes
import refused_calculations
import refused_connections
import refused_contacts
import refused_descriptions
import refused_first_steps
import refused_functions
import refused_scenes

import linkwork as lw

ERRORS = (  # take any text
    "AssemblyError FormatError LinkworkError MeshError ModelError NumericalError SimulationError TraceError"
)
ROOMS = (
    refused_descriptions,
    refused_connections,
    refused_contacts,
    refused_calculations,
    refused_functions,
    refused_first_steps,
    refused_scenes,
    refused_attributes,
)
ENTRIES = [entry for room in ROOMS for table in room.TABLES for entry in table()]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.name} {entry.what}")
def test_a_wrong_value_is_refused_warned_of_or_right(entry):
    entry.run()


def test_every_public_name_has_entries():
    named = {entry.name for entry in ENTRIES}
    assert {*lw.__all__} - {*ERRORS.split()} - named == set(), "add them to the tables"
    assert named <= {*lw.__all__}
    assert len(ENTRIES) >= 300
