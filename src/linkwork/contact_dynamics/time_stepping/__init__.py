"""Steps of fixed size with contact: the laws of Signorini and Coulomb hold over each step."""
