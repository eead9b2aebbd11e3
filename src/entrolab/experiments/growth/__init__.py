"""How training time and model size grow (EEM paper, Table 2)."""
