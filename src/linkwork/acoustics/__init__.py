"""Sound of motions: bodies that are struck and rubbed ring, and a listener with two ears hears them."""
