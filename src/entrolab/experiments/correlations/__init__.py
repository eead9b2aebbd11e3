"""How well one term of the divergence of two classes stands for the whole (EEM paper, Table 1)."""
