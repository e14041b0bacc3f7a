"""Algorithms on trees: one file each, named for what it computes."""
