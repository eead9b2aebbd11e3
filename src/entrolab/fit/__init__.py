"""Fitting: splits, training on a grid, selection, refit, predictions and metrics."""
