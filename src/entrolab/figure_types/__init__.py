"""Figure types."""
