"""Sections of YAML files, whose mistakes are one line each, and the signatures of scripts."""
