"""Figures: generic types, scripts, and what both are drawn with."""
