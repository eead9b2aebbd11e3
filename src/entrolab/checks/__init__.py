"""Checks of a study's data and results: what may make its numbers mislead, with a code and a remedy each."""
