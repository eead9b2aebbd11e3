"""The workflow's package: from a study to tables, figures, a report and tracked runs.

A job finds learners of a user's own beside the studies, after all that is installed, so that a file there
takes the place of no package: `PYTHONPATH` would put it first.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterable
from importlib import import_module

# The variable by which a run tells its jobs the folders of the studies.
LEARNERS_IN = "ENTROLEARN_LEARNERS_IN"

sys.path.extend(filter(None, os.environ.get(LEARNERS_IN, "").split(os.pathsep)))
if LEARNERS_IN in os.environ and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during imports: no traceback of each job


def find_learners_in(folders: Iterable[str | os.PathLike]) -> None:
    """Add folders to the end of the module path of this process and its jobs."""
    absolute = [os.path.abspath(folder) for folder in folders]
    sys.path.extend(folder for folder in absolute if folder not in sys.path)
    os.environ[LEARNERS_IN] = os.pathsep.join(absolute)


# Imported on demand, because every job imports this package.
_PUBLIC = {
    "ConfigError": "entrolab.schema.sections",
    "StudyError": "entrolab.studies",
    "StudyResults": "entrolab.studies",
    "load_published": "entrolab.published",
    "load_results": "entrolab.studies",
    "run_study": "entrolab.studies",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    """Import the public names when they are asked for."""
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
