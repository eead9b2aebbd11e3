"""The board: every learner beside its peers on all sets of the catalog that fit, by task and number of rows.

:mod:`sets` names the data sets and draws their rows, :mod:`learners` and :mod:`peers` hold the learners,
:mod:`protocol` fits and scores one run, :mod:`running` the due runs; :mod:`answer` writes
docs/which-learner.md and README.md from the rows of docs/board.
"""
