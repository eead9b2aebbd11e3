"""Download, read, generate, prepare and scale data sets."""
