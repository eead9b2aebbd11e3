"""Rank correlation of the divergence of two classes with one of its terms (EEM paper, Table 1)."""
