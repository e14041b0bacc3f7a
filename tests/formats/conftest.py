"""What the tests of files share."""

import pytest

from linkwork.formats import load


@pytest.fixture
def read(tmp_path):
    """Load a robot from its text."""

    def read_text(text: str | bytes, **options):
        path = tmp_path / "robot.urdf"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path, **options)

    return read_text
