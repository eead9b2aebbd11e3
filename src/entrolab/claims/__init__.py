"""Statistical tests of a paper's claims on the results of its study."""
