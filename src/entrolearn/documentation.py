"""Address of the documentation, to which the HTML representations of estimators link."""

import os
from pathlib import Path


def page_template() -> str:
    """Template of the address of an estimator's page; empty if there is no site.

    The address is taken from ``ENTROLEARN_DOCS``, or is the folder that `make docs` builds in a checkout.
    """
    site = os.environ.get("ENTROLEARN_DOCS", "").rstrip("/")
    if not site:
        built = Path(__file__).parents[2] / "docs" / "_build"
        site = built.as_uri() if (built / "index.html").is_file() else ""
    return site and f"{site}/api/generated/entrolearn.{{estimator_name}}.html"
