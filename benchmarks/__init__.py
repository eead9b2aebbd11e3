"""Timings of the learners beside their peers' and beside what the machine can do: ``make bench``.

Nothing here is asserted by a test: a time belongs to the machine that took it.
"""
