"""Seconds and memory of fitting and predicting one large data set (RKELM paper)."""
