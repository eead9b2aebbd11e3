"""Choosing parameters by divergence beside choosing them by cross-validation."""

# What is divided by the seconds of the divergence.
RATIOS = {"ratio": "seconds_cv", "ratio_path": "seconds_path_cv"}
