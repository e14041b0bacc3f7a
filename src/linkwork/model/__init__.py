"""From the description to arrays: topology, kinds of joints, numbering, state."""
