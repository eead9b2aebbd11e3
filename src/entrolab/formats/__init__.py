"""Readers of files, a module for each format: its ``read`` gives a :class:`~entrolab.rawtables.Table`.

A data set depends on the module of its own format alone.
"""
