"""What a paper claims, tested on the results of its study: holds, fails, undecided or not tested."""
