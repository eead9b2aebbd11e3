"""The information that predictions have of the true classes."""
