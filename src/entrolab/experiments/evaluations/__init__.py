"""What an evaluation of MELM's objective costs."""
