"""Tables under several seeds: their values, the spread over seeds, and verdicts that know it."""
