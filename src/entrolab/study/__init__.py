"""Definitions and checks of the configuration files: studies, catalogs of data sets, claims and settings."""
