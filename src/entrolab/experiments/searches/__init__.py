"""Choosing parameters by divergence beside choosing them by cross-validation."""
