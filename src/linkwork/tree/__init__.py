"""A mechanism as a tree of links: topology, kinds of joints, closed loops, loads, all as data."""
