"""How far apart projections show the classes (MELM paper, Table 3)."""
