"""Benchmarks of the learners, compared with peers and with the machine's rates: ``make bench``.

No test asserts timings, because they depend on the machine.
"""
