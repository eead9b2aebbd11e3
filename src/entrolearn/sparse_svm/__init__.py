"""Support vector machines that pay for their coefficients: for the sum of them, or for how many there are."""
