"""Sparse support vector machines, with the one-norm or zero-norm of the coefficients as penalty."""
