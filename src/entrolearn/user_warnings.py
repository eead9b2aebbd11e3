"""Warnings that point to the line of the user's call."""

import sys
import warnings

__all__ = ["warn_user"]

# Packages whose frames are skipped: this one, and those through which scikit-learn calls it.
INNER = {"contextlib", "entrolearn", "joblib", "sklearn"}


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the innermost line outside of the packages `INNER`."""
    level, frame = 1, sys._getframe()
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in INNER:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
