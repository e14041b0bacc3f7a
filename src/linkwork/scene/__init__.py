"""Scenes: many mechanisms that live together and change while they run."""
