"""How clusters agree with classes, and what finding them takes."""

# The reading by which a measure is that of the classes themselves.
CLASSES = "the classes"
DIVERGENCE = "divergence"
