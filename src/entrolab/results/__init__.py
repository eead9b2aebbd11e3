"""The results of a study: the formats of its CSV files, and the only class that reads its files."""
