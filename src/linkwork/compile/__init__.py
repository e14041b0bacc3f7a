"""Mechanism -> Model: the stages joined, and all algorithms as methods on arrays.

A model is built up in layers: its arrays, the algorithms on trees, the mechanism's own forces, closed loops.
"""

from linkwork.compile.model import Model, compile_mechanism

__all__ = ["Model", "compile_mechanism"]
