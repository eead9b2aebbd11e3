"""Machines: a hidden layer, then a readout in closed form."""

from entrolearn.machines.moments import ClassMoments

__all__ = ["ClassMoments"]
