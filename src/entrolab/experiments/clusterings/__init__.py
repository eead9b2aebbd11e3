"""How clusters agree with classes, and what finding them takes."""
