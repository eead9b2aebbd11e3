"""Average gradient outer product (AGOP), whose eigenvectors are the directions in which a function varies."""

from collections.abc import Iterable

import numpy as np

__all__ = ["average_gradient_outer_product"]


def average_gradient_outer_product(gradients, *, diagonal: bool = False, sample_weight=None) -> np.ndarray:
    r"""Mean outer product of the gradients of a function at some rows (AGOP).

    .. math:: \frac{1}{\sum_i w_i} \sum_{i=1}^n w_i \sum_k \nabla f_k(x_i) \nabla f_k(x_i)^T

    Parameters
    ----------
    gradients : array-like, shape (n_samples, n_features) or (n_samples, n_outputs, n_features), or iterable
        Gradients, as returned by the ``input_gradient`` method of an estimator; or an iterable of such
        arrays, one for each chunk of the rows. Chunks of an iterator are held in memory one at a time. A list
        of NumPy arrays holds chunks, nested lists of numbers are one array.
    diagonal : bool, default=False
        Compute only the diagonal.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights w of the rows, in the order of the chunks; equal weights by default.

    Returns
    -------
    ndarray, shape (n_features, n_features), or (n_features,) for the diagonal
        Eigenvectors with large eigenvalues are the directions in which the function varies; the diagonal
        holds the mean squared partial derivatives.

    Raises
    ------
    ValueError
        If there are no rows, the gradients are not arrays of two or three dimensions of finite numbers, or
        the number of weights differs from the number of rows.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin (2024). Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models. Science 383, 1461-1467.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import average_gradient_outer_product
    >>> average_gradient_outer_product(np.array([[1.0, 0.0], [1.0, 2.0]]))
    array([[1., 1.],
           [1., 2.]])
    >>> average_gradient_outer_product(iter([np.ones((2, 2)), np.zeros((2, 2))]), diagonal=True)
    array([0.5, 0.5])
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights is not None and (weights.ndim != 1 or not 0 < weights.sum() < np.inf or weights.min() < 0):
        raise ValueError(
            "sample_weight must hold a finite non-negative number for each row, not all of them zero."
        )
    total, n_samples = np.zeros(()), 0
    for chunk in [gradients] if not isinstance(gradients, Iterable) or _is_array(gradients) else gradients:
        chunk = np.asarray(chunk, dtype=np.float64)
        if chunk.ndim not in (2, 3):
            raise ValueError(f"gradients have {chunk.ndim} dimensions; accepted: two, or three with outputs.")
        start, n_samples = n_samples, n_samples + len(chunk)
        if weights is not None and n_samples <= len(weights):
            chunk = chunk * np.sqrt(weights[start:n_samples]).reshape(-1, *[1] * (chunk.ndim - 1))
        rows = chunk.reshape(-1, chunk.shape[-1])
        total = total + (np.einsum("ij,ij->j", rows, rows) if diagonal else rows.T @ rows)
    if weights is not None and n_samples != len(weights):
        raise ValueError(f"sample_weight holds {len(weights)} numbers, but there are {n_samples} gradients.")
    if not n_samples or not np.isfinite(total).all():
        found = "not finite, or their squares overflow" if n_samples else "of no rows"
        raise ValueError(f"the gradients are {found}; accepted: finite numbers for one row or more.")
    return np.asarray(total / (n_samples if weights is None else weights.sum()))


def _is_array(gradients) -> bool:
    """Whether it is one array; a list or tuple with arrays of two or more dimensions holds chunks."""
    if isinstance(gradients, list | tuple):
        return not any(getattr(each, "ndim", 0) >= 2 for each in gradients)
    return hasattr(gradients, "shape")
