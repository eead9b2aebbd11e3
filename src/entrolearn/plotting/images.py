"""Rows of a matrix as images: samples, or the weights of a linear classifier."""

import math

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.fitted import last_step, name_of, unwrapped
from entrolearn.plotting.style import INK, SIGNED, letters_within, mpl

GAP = 0.08  # gap between images and for captions, as a share of an image's longer side
CAPTION = 0.24


class ImageGridDisplay(Display):
    """Images of equal shape in rows, each with a caption.

    Parameters
    ----------
    images : array-like, shape (n_images, height, width)
    captions : sequence of str, optional
        Caption of each image.
    signed : bool, default=False
        Whether the colour map is centred on zero, from dark (negative) over grey to light (positive), with a
        colour bar. Otherwise the smallest value is white and the largest black.
    n_columns : int, default=10

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from entrolearn.plotting import ImageGridDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> ImageGridDisplay.from_rows(X[:20], (8, 8), captions=y[:20]).plot()
    <...>
    >>> ImageGridDisplay.from_estimator(RidgeClassifier().fit(X, y), (8, 8), n_columns=5).plot()
    <...>
    """

    def __init__(self, images, *, captions=None, signed=False, n_columns=10):
        self.images = images
        self.captions = captions
        self.signed = signed
        self.n_columns = n_columns

    @classmethod
    def from_rows(cls, X, shape, *, captions=None, signed=False, n_columns=10) -> "ImageGridDisplay":
        """Show rows of a matrix.

        Parameters
        ----------
        X : array-like, shape (n_images, height * width)
        shape : pair of int
            Height and width of an image, which is stored line by line.
        captions : sequence, optional
        signed : bool, default=False
        n_columns : int, default=10

        Raises
        ------
        ValueError
            If the number of columns of X is not the number of pixels, or there are no rows.
        """
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or not len(X) or X.shape[1] != math.prod(shape):
            wanted = " x ".join(map(str, shape))
            raise ValueError(
                f"X has the shape {X.shape}; accepted: one row or more, of {math.prod(shape)} values for "
                f"{wanted} pixels"
            )
        captions = None if captions is None else [str(caption) for caption in captions]
        return cls(X.reshape(-1, *shape), captions=captions, signed=signed, n_columns=n_columns)

    @classmethod
    def from_estimator(cls, estimator, shape, *, display_labels=None, n_columns=10) -> "ImageGridDisplay":
        """Display of the weights of a fitted linear classifier, one image per class.

        Parameters
        ----------
        estimator : fitted classifier with ``coef_``, or a pipeline or search that ends in one
            The steps before the last one of a pipeline must not change the positions of the pixels.
        shape : pair of int
        display_labels : sequence of str, optional
            Names of the classes. Default: ``classes_``. For two classes there is one image, that of the
            second.
        n_columns : int, default=10

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError, ValueError
            If the estimator is not fitted, has no ``coef_``, or its number of weights is not that of the
            pixels.
        """
        estimator = unwrapped(estimator)
        last = last_step(estimator)
        if not hasattr(last, "coef_"):
            raise TypeError(f"{name_of(estimator)} has no coef_; accepted: linear classifiers")
        weights = np.atleast_2d(last.coef_)
        labels = list(last.classes_ if display_labels is None else display_labels)
        return cls.from_rows(
            weights, shape, captions=labels[-len(weights) :], signed=True, n_columns=n_columns
        )

    @property
    def subject(self) -> str:
        shades = "from dark blue, below zero, to yellow" if self.signed else "dark where values are large"
        return f"Images, {shades}"

    def summary(self) -> str:
        number, height, width = np.shape(self.images)
        low, high = np.min(self.images), np.max(self.images)
        captions = "" if self.captions is None else f": {' '.join(map(str, self.captions))}"
        return f"{number} of {height} x {width} pixels, values from {low:.2g} to {high:.2g}{captions}"

    def _parts(self):
        number, height, width = np.shape(self.images)
        image, line, column = (at.ravel() for at in np.indices((number, height, width)))
        captions = [""] * number if self.captions is None else self.captions
        named = {"image": image + 1, "series": np.repeat(captions, height * width)}
        yield named | {"line": line + 1, "column": column + 1, "value": np.ravel(self.images)}

    def _plot(self, ax) -> None:
        mosaic, corners = self._laid_out()
        largest = float(np.nanmax(np.abs(mosaic)))
        limits = {"vmin": -largest, "vmax": largest} if self.signed else {}
        colours = mpl.colormaps[SIGNED if self.signed else INK].with_extremes(bad="white")
        drawn = ax.imshow(mosaic, cmap=colours, interpolation="nearest", **limits)
        n_letters = letters_within(ax, 1 / min(self.n_columns, len(self.images)))
        for (top, left), caption in zip(corners, self.captions or (), strict=False):
            middle = left + np.shape(self.images)[2] / 2 - 0.5
            if len(caption) > n_letters:
                caption = f"{caption[: n_letters - 1]}…"
            ax.text(middle, top - 0.5, caption, ha="center", va="bottom", size="small")
        ax.set_axis_off()
        if self.signed:
            ax.figure.colorbar(drawn, ax=ax, shrink=0.8, aspect=30, pad=0.02)

    def _laid_out(self) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """All images as one array with NaN between them, and the upper left corner of each image."""
        images = np.asarray(self.images, dtype=float)
        number, height, width = images.shape
        columns = min(self.n_columns, number)
        gap = max(1, round(GAP * max(height, width)))
        above = max(2, round(CAPTION * max(height, width))) if self.captions is not None else 0
        down, across = above + height + gap, width + gap
        mosaic = np.full((math.ceil(number / columns) * down - gap, columns * across - gap), np.nan)
        corners = [(k // columns * down + above, k % columns * across) for k in range(number)]
        for image, (top, left) in zip(images, corners, strict=True):
            mosaic[top : top + height, left : left + width] = image
        return mosaic, corners
