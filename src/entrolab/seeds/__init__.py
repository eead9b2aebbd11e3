"""Tables computed with several seeds: their values, the spread over seeds, and verdicts that allow for it."""
