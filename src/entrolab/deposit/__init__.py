"""Deposits: results packed into a citable zip archive (an RO-Crate) that others can check and rebuild."""
