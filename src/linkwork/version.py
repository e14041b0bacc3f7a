"""The version of Linkwork."""

__version__ = "0.1.0"
