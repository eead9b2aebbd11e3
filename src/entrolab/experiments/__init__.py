"""Measurements other than scores, by the scripts that tables name."""
