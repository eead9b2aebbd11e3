"""What the jobs of the workflow depend on, need, ask for and say."""
