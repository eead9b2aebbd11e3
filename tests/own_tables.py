"""A small table of a user's own, as the tests write and change it."""

LINE = "one line with its place and what is accepted, before any job"

# Six rows of each class.
ROWS = [f"{k / 4},{k % 5},{'red' if k % 3 else 'blue'},{'yes' if k % 2 else 'no'}" for k in range(12)]
TABLE = "\n".join(["size,sort,colour,bought", *ROWS]) + "\n"
OWN = {"file": "table.csv", "label": "bought"}
