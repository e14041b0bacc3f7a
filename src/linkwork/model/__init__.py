"""The Model: what the machine needs of a mechanism, and the functions of it and a state."""
