"""Formulas as expressions: the graph, its derivatives, elementary functions, tangents."""
