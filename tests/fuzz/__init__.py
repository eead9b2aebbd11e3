"""The fuzz: cases are drawn in `cases`, held to the laws in `laws`; `python -m fuzz` runs for hours."""
