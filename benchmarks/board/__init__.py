"""The boards: every learner and its peers on all suitable data sets, by task and number of rows.

:mod:`sets` names the data sets and draws their rows, :mod:`learners` and :mod:`peers` contain the learners,
:mod:`protocol` fits and scores one run, :mod:`running` carries out missing runs; :mod:`answer` writes the
results into README.md and the site from the rows in docs/board.
"""
