"""Measurements other than scores: one folder per experiment, with its measurement, table and figures."""
