"""The report: a small site that a reviewer reads, from the tables, records and scores of every study.

Static html with its style and its few lines of script inside; it works from a file:// address. Everything
else is linked relatively. A page says nothing that is not in the results or in a study's file.
"""

from entrolab.report.site import build_report
from entrolab.report.studies import StudyResults, read_results

__all__ = ["StudyResults", "build_report", "read_results"]
