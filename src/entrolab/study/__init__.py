"""What the files of a configuration may say: one definition for each of their sections."""
