"""Fits: splits, training on a grid, selection, the refit, predictions and their metrics."""
