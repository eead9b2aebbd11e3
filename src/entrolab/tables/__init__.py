"""Tables: table types, their results, verdicts, ranks and output formats."""
