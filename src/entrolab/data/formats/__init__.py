"""Readers of files, a module for each format: its ``read`` gives a :class:`~entrolab.data.raw_table.Table`.

A data set depends on the module of its own format alone.
"""
