"""Data sets: downloaded, prepared, scaled; from files, from packages, from distributions."""
