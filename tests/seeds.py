"""Tests over random systems: the first few in the suite, the rest, which only repeat, in `make soak`."""

import pytest


def seeds(few: int, many: int) -> pytest.MarkDecorator:
    """Give a test `seeds`, a range of them."""
    rest = pytest.param(range(few, many), marks=pytest.mark.soak)
    return pytest.mark.parametrize("seeds", [range(few), rest], ids=["few", "many"])
