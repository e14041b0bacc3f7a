"""Compliant contacts: forces of contact laws, and their rows in steps."""
