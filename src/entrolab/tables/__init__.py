"""Tables: their types, what they are made of, verdicts, ranks and the files that they are written as."""
