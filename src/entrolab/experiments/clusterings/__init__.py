"""Agreement of clusters with classes, and the cost of finding them."""

# The reading by which a measure is that of the classes themselves.
CLASSES = "the classes"
DIVERGENCE = "divergence"
