"""What came out of a run: samples over time by name, derived quantities, plots, files."""
