"""Visual separability of the classes in projections (MELM paper, Table 3)."""

# The reading of scores on the rows that the classifiers were fitted on.
LEARNT = "the rows learnt from"
