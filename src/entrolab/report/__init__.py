"""The report: static html pages of the tables, figures and records of every study.

Style and script are inside the pages, and links are relative, so that they work from a file:// address.
"""

from entrolab.report.site import build_report
from entrolab.report.studies import StudyResults, read_results

__all__ = ["StudyResults", "build_report", "read_results"]
