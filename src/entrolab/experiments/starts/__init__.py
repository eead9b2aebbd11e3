"""Where an optimizer ends from many random starts."""
