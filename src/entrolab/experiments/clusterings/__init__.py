"""Agreement of clusters with classes, and the seconds of clustering."""

# The reading of a measure computed on the classes themselves.
CLASSES = "the classes"
DIVERGENCE = "divergence"
