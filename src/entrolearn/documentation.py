"""Where the documentation is, which the HTML representations of estimators link to."""

import os
from pathlib import Path


def page_template() -> str:
    """Address of an estimator's page, with a place for its name; empty without a site.

    The site is at ``ENTROLEARN_DOCS``, else where `make docs` builds it in a checkout.
    """
    site = os.environ.get("ENTROLEARN_DOCS", "").rstrip("/")
    if not site:
        built = Path(__file__).parents[2] / "docs" / "_build"
        site = built.as_uri() if (built / "index.html").is_file() else ""
    return site and f"{site}/api/generated/entrolearn.{{estimator_name}}.html"
