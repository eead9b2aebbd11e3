"""Definition of the settings of a run: config/config.yaml, ``--config``, ``--configfile``."""

from pydantic import field_validator

from entrolab.schema.sections import Section, described, list_of, number, whole, wrong
from entrolab.text import without_secrets

TextOrNull = described(str | None, "a text or null")
# Default limits of a run and of reading the files of a data set: that of time if no other is set.
LIMIT_SECONDS, LIMIT_GIB = 3600, 8


class Settings(Section):
    """The settings of a run of the workflow."""

    papers: described(str | list_of(str), "a study's name or a list of them")
    seed: whole(ge=0, lt=2**32)
    limit_seconds: described(number(gt=0) | None, "a number above 0, or null") = None
    limit_gib: number(gt=0) = LIMIT_GIB
    store: TextOrNull = None
    mirror: TextOrNull = None
    extra_studies: TextOrNull = None
    extra_datasets: TextOrNull = None

    @field_validator("papers")
    @classmethod
    def _as_list(cls, papers):
        return [papers] if isinstance(papers, str) else papers

    @field_validator("store")
    @classmethod
    def _without_secrets(cls, store):
        """Snakemake stores the params of its jobs in its metadata."""
        if store and without_secrets(store) != store:
            raise wrong(
                "found an address with a user, a password or a query, which Snakemake would store in its "
                "metadata; accepted: only scheme, host and path; set others in MLFLOW_TRACKING_URI"
            )
        return store
