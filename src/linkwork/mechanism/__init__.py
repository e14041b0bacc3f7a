"""The description: what the user says, as plain data."""
