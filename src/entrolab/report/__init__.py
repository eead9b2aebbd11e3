"""The report: an index and a static HTML page per study, with its tables and figures.

Pages contain their style and script, and links are relative, so the report works from a file:// address.
"""

from entrolab.report.site import build_report
from entrolab.report.studies import StudyResults, read_results

__all__ = ["StudyResults", "build_report", "read_results"]
