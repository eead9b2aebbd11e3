"""A classifier's decision function over the plane of its two features."""

import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from entrolearn.plotting.style import Figure, contour_lines

N_STEPS = 200  # points per side of the grid
MARGIN = 0.05  # margin around the rows, as a share of the longer side


def check_plane(X) -> None:
    """Raise if the rows do not have two features."""
    n_features = np.shape(X)[1] if np.ndim(X) == 2 else np.shape(X)
    if n_features != 2:
        raise ValueError(f"the input is drawn as a plane: X has {n_features} features; accepted: 2")


def decision_surface(fitted, X) -> DecisionBoundaryDisplay:
    """Decision function of a fitted classifier on a grid around some rows.

    Parameters
    ----------
    fitted : classifier with a ``decision_function``
    X : array-like or DataFrame, shape (n_samples, 2)
    """
    return DecisionBoundaryDisplay.from_estimator(
        fitted,
        X,
        response_method="decision_function",
        grid_resolution=N_STEPS,
        eps=MARGIN * float(np.ptp(np.asarray(X, dtype=float), axis=0).max()),
        ax=Figure().subplots(),  # scikit-learn always draws; this plot is discarded
    )


def level_lines(surface: DecisionBoundaryDisplay, level: float) -> list[np.ndarray]:
    """Contours of the decision function at a level, each of shape (n_points, 2)."""
    if not surface.response.min() < level < surface.response.max():
        return []
    return contour_lines(surface.xx0, surface.xx1, surface.response, level)


def frame(ax, surface: DecisionBoundaryDisplay, feature_names) -> None:
    """Set the limits of the axes to the grid, and label them with the feature names."""
    ax.set(
        xlim=(surface.xx0.min(), surface.xx0.max()),
        ylim=(surface.xx1.min(), surface.xx1.max()),
        xlabel=feature_names[0],
        ylabel=feature_names[1],
    )


def names_of_features(X) -> list[str]:
    """Names of the two features."""
    return [str(name) for name in getattr(X, "columns", ("feature 1", "feature 2"))]
