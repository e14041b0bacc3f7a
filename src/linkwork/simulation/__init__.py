"""Motion in time: methods of integration, the native loop that marches them, runs and recordings."""
