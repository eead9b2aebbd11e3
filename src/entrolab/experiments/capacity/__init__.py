"""What one big data set costs (RKELM paper)."""
