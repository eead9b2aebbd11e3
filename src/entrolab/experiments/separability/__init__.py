"""How far apart projections show the classes (MELM paper, Table 3)."""

# The reading by which rows are judged that the classifiers were fitted on.
LEARNT = "the rows learnt from"
