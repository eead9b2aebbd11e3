# The workflow: see workflow/Snakefile.
include: "workflow/Snakefile"
