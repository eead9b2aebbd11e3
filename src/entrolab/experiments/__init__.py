"""What a paper measures beside scores: a folder for each measurement, with its table and its figures."""
