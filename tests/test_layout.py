"""tests/ mirrors src/linkwork/: files of tests are named for modules, or for subjects listed here."""

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "linkwork"

# What goes across the modules of a room, by room: "" are those across rooms.
SUBJECTS = {
    "": "contact_examples creatures every_parameter examples extension gallery_sounds layout refusals "
    "threads unsafe_calls contract",
    "algebra": "spatial_and_planar",
    "cli": "commands",
    "contact": "coal continuous_manifolds exact_depths next_to_touching",
    "contact_dynamics": "accuracy compliant_contact compliant_steps counted_impacts impacts_of_bodies "
    "known_motions moreau_jean rolling_bodies rubbing_machines rubbing_motions scenes stepping "
    "textbook_motions",
    "dynamics": "adams arguments batches invariance joint_forces lagrange laws loads long_chain loops motion "
    "naive printed_answers refused robots seeded_bugs tangent trees twins user_joint",
    "formats": "bounds corpus fuzzing mechanism_json_refused mechanism_shapes odd_bodies odd_meshes "
    "round_trips urdf_refused",
    "geometry": "shapes solids",
    "kinematics": "three_ways",
    "mechanic": "hostile_messages mechanic_browser",
    "mechanism": "drawing locate",
    "native": "long_life",
    "recording": "damaged_files forces_of_stops words",
    "scene": "busy_scene",
    "simulation": "accuracy adams batches constraints curves curves_in_runs faults inputs loops orders "
    "physics squeezer",
    "view": "browser gallery_pages pages show",
}
FILES = sorted(TESTS.rglob("test_*.py"))


def modules(room: str) -> set[str]:
    found = (SOURCE / room).rglob("*.py") if room else SOURCE.glob("*.py")
    return {path.stem for path in found}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_a_file_of_tests_is_named_for_a_module_or_a_subject(path):
    room, name = path.parent.relative_to(TESTS).as_posix().replace(".", ""), path.stem.removeprefix("test_")
    assert (SOURCE / room).is_dir()
    assert name in modules(room) | set(SUBJECTS.get(room, "").split())
    assert path.read_text().startswith('"""')


def test_a_subject_has_its_file_and_is_no_module():
    for room, subjects in SUBJECTS.items():
        for name in subjects.split():
            assert (TESTS / room / f"test_{name}.py").exists(), (room, name)
            assert name not in modules(room), (room, name)


def test_every_room_has_tests():
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert {path.parent.name for path in FILES} - {"tests"} == rooms - {"examples"}  # these: test_gallery.py


def test_a_module_has_one_name_of_its_own():
    names = [path.stem for path in SOURCE.rglob("*.py") if path.stem != "__init__"]
    assert sorted({name for name in names if names.count(name) > 1}) == []
