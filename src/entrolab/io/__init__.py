"""Read and write files: atomic writes, Parquet, JSON records, models."""
