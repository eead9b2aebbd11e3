"""The workflow's package: from a study to tables, figures, a report and tracked runs.

A job finds learners of a user's own beside the studies, after all that is installed, so that a file there
takes the place of no package: `PYTHONPATH` would put it first.
"""

import os
import sys

# The variable by which a run tells its jobs the folders of the studies.
LEARNERS_IN = "ENTROLEARN_LEARNERS_IN"

sys.path.extend(filter(None, os.environ.get(LEARNERS_IN, "").split(os.pathsep)))


def __getattr__(name: str):
    """Import the public functions when they are asked for: jobs do without pandas."""
    if name == "load_published":
        from entrolab.published import load_published

        return load_published
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
