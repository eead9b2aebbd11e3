"""Parameter selection by divergence compared with selection by cross-validation."""

# The numerators of the ratios, over the seconds of the divergence.
RATIOS = {"ratio": "seconds_cv", "ratio_path": "seconds_path_cv"}
