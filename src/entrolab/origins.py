"""Which module makes a data set, by the source in its entry."""

# Each has a table of functions that read or generate. Named rather than imported: a data set depends on its
# own module alone, and the rules need not import any.
MADE_BY = {
    "files": "entrolab.parsers",
    "own": "entrolab.parsers",
    "bundled": "entrolab.bundled",
    "generated": "entrolab.generators",
}
