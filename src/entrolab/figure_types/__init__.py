"""Types of figures."""
