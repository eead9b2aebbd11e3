"""Readers, one module per file format, whose ``read`` returns a :class:`~entrolab.data.raw_table.Table`.

A data set depends only on the module of its own format.
"""
