"""The report: static HTML pages with the tables, figures and records of every study.

Pages contain their style and script, and links are relative, so the report works from a file:// address.
"""

from entrolab.report.site import build_report
from entrolab.report.studies import StudyResults, read_results

__all__ = ["StudyResults", "build_report", "read_results"]
