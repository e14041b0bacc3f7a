"""Methods of integration: one file each, a table of coefficients and where it was published."""
