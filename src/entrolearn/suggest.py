"""Suggestions for misspelt names in error messages."""

import difflib
from collections.abc import Iterable

#: Former names of parameters, and of their values -> those that took their place in some learner.
#: docs/names.md has the present names.
RENAMED: dict[str, tuple[str, ...]] = {
    "C": ("alpha",),
    "alpha": ("order",),
    "coef0": ("kernel_params",),
    "degree": ("kernel_params",),
    "feature_range": ("bounds",),
    "gamma": ("unit_scale", "alpha"),
    "gaussian": ("rbf",),
    "keep_sums": ("store_sums",),
    "landmarks": ("n_landmarks",),
    "max_iterations": ("max_iter",),
    "order": ("entropy",),
    "patience": ("n_iter_no_change",),
    "per_landmark_sigma": ("per_landmark_gamma",),
    "polynomial": ("poly",),
    "pool_below": ("min_class_size",),
    "power": ("kernel_params",),
    "prior_variance": ("alpha",),
    "sigma": ("gamma", "bandwidth"),
    "smoothing": ("mixing",),
    "weight_decay": ("alpha",),
    "width": ("bandwidth_scale",),
}


def did_you_mean(word: object, known: Iterable) -> str:
    """`", did you mean …?"` with the known word closest to `word`, or "" if there is none.

    Examples
    --------
    >>> did_you_mean("gausian", ["gaussian", "kde"])
    ", did you mean 'gaussian'?"
    >>> did_you_mean("cv", ["gaussian", "kde"])
    ''
    >>> did_you_mean("c", ["C", "gamma"])
    ", did you mean 'C'?"
    """
    names = {str(name).lower(): str(name) for name in known}
    close = difflib.get_close_matches(str(word).lower(), names, n=1)
    return f", did you mean {names[close[0]]!r}?" if close else ""


def did_you_mean_setting(word: object, known: Iterable) -> str:
    """The same for a parameter of a learner or a value of one; for a former name what it is now.

    Examples
    --------
    >>> did_you_mean_setting("sigma", ["alpha", "gamma"])
    "; 'sigma' is now 'gamma'"
    >>> did_you_mean_setting("gama", ["alpha", "gamma"])
    ", did you mean 'gamma'?"
    """
    known = list(known)
    now = [name for name in RENAMED.get(str(word), ()) if name in known]
    return f"; {str(word)!r} is now {now[0]!r}" if now else did_you_mean(word, known)
