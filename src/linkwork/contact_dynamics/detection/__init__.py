"""Where shapes on links touch: pairs that may, detection, and what native code knows of them."""
