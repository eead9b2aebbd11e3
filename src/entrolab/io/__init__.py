"""Files: whole or not at all, parquet, JSON records, models."""
