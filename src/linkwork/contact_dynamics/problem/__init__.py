"""The problem of contacts at one place: nodes, rows of contacts and joints, friction cones, islands."""
