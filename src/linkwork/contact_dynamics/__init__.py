"""Contact forces: what bodies that touch do to each other."""
