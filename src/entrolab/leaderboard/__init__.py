"""Leaderboards of learners over many data sets, made from files of scores without fitting anything."""
