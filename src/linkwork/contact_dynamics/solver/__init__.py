"""Solutions of problems of contacts: sweeps, Newton's methods, factorisations, impacts."""
