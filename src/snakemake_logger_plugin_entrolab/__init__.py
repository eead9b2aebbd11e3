"""Snakemake's logger plugin `entrolab`, found by this package's name: see :mod:`entrolab.jobs.terminal`."""

from entrolab.jobs.terminal import LogHandler

__all__ = ["LogHandler"]
