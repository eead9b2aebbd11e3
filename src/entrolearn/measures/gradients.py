"""Average outer product of gradients, which shows along which directions a function varies."""

from collections.abc import Iterable

import numpy as np

__all__ = ["average_gradient_outer_product"]


def average_gradient_outer_product(gradients, *, diagonal: bool = False) -> np.ndarray:
    r"""Mean outer product of the gradients of a function at some rows (AGOP).

    .. math:: \frac{1}{n} \sum_{i=1}^n \sum_k \nabla f_k(x_i) \nabla f_k(x_i)^T

    Parameters
    ----------
    gradients : array-like, shape (n_samples, n_features) or (n_samples, n_outputs, n_features), or iterable
        What ``input_gradient`` of a machine gives; or an iterable of such arrays, one for each chunk of the
        rows, of which one is held at a time.
    diagonal : bool, default=False
        Compute the diagonal alone.

    Returns
    -------
    ndarray, shape (n_features, n_features), or (n_features,) for the diagonal
        Its eigenvectors of large eigenvalues are the directions along which the function varies; the diagonal
        holds the mean squared derivatives.

    Raises
    ------
    ValueError
        If there are no rows, or the gradients are no arrays of two or three dimensions of finite numbers.

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
    total, n_samples = np.zeros(()), 0
    for chunk in [gradients] if not isinstance(gradients, Iterable) or _is_array(gradients) else gradients:
        chunk = np.asarray(chunk, dtype=np.float64)
        if chunk.ndim not in (2, 3):
            raise ValueError(f"gradients have {chunk.ndim} dimensions; accepted: two, or three with outputs.")
        rows = chunk.reshape(-1, chunk.shape[-1])
        total = total + (np.einsum("ij,ij->j", rows, rows) if diagonal else rows.T @ rows)
        n_samples += len(chunk)
    if not n_samples or not np.isfinite(total).all():
        found = "not finite, or their squares overflow" if n_samples else "of no rows"
        raise ValueError(f"the gradients are {found}; accepted: finite numbers for one row or more.")
    return np.asarray(total / n_samples)


def _is_array(gradients) -> bool:
    return hasattr(gradients, "shape") or isinstance(gradients, list | tuple)
