"""What every test may use, and what is said when a test cannot run here."""

import gc
import os
import signal
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import hypothesis
import numpy as np
import pytest
from browser_tab import browser, tab, without_network  # noqa: F401 (one browser for all folders)
from poisoned import PoisonedEmpty

from linkwork.native.index_checks import CHECKED

VALIDATION = Path(__file__).resolve().parents[2] / "shared" / "validation"
CHROMIUM = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
IN_CI = os.environ.get("CI", "").lower() == "true"

# The first call of a kernel may compile it: no example has a deadline. CI tries the same examples every time.
hypothesis.settings.register_profile("linkwork", deadline=None, derandomize=IN_CI)
hypothesis.settings.load_profile("linkwork")


# A worker keeps hundreds of thousands of objects alive: looking through all of them again and again took 8 %
# of the time of tests/recording.
gc.freeze()
gc.set_threshold(20_000, 20, 20)

if CHECKED:
    np.empty = PoisonedEmpty()  # what is read before it is written shows


def missing() -> dict[str, str]:
    """Say, by marker, why the tests that carry it cannot run here."""
    reasons = {}
    peers = {"pin": "pinocchio", "mujoco": "mujoco", "coal": "coal"}
    absent = [package for package, module in peers.items() if find_spec(module) is None]
    if absent:
        reasons["peers"] = f"not installed: {', '.join(absent)} (`make peers` installs them)"
    if why := _no_browser():
        reasons["browser"] = why
    if absent := [shell for shell in ("zsh", "fish") if which(shell) is None]:
        reasons["shells"] = f"not installed: {', '.join(absent)} (apt-get install zsh fish)"
    if not VALIDATION.is_dir():
        reasons["reference"] = "the reference data (../shared/validation) is not there"
    return reasons


def _no_browser() -> str:
    """Say what is missing to look at pages."""
    if find_spec("playwright") is None:
        return "playwright is not installed (`make test` installs it)"
    if CHROMIUM is None:
        return "no Chromium (apt-get install chromium)"
    return ""


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a file of 300 bytes is written more slowly than it is read."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def pytest_configure(config: pytest.Config) -> None:
    """Hear Ctrl-C, and refuse to start in CI when tests would be skipped for want of something."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell are deaf
    if IN_CI and (reasons := missing()):
        told = "; ".join(f"tests marked {marker!r}: {reason}" for marker, reason in reasons.items())
        raise pytest.UsageError(f"CI=true and not every test can run: {told}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, the tests that need what is not here."""
    for marker, reason in missing().items():
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def validation() -> Path:
    """The folder of reference results; for tests marked `reference`."""
    return VALIDATION


@pytest.fixture(scope="session")
def robots() -> Path:
    """The folder of robot descriptions of the package example-robot-data."""
    files = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return Path(str(files))
