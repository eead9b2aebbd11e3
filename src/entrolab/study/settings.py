"""Definition of the settings of a run: config/config.yaml, ``--config``, ``--configfile``."""

from entrolab.study.sections import Section, described, list_of, number, whole

TextOrNull = described(str | None, "a text or null")
# Default limits of a run and of reading the files of a data set: that of time if no other is set.
LIMIT_SECONDS, LIMIT_GIB = 3600, 8


class Settings(Section):
    """The settings of a run of the workflow."""

    papers: described(str | list_of(str), "a study's name or a list of them")
    seed: whole(ge=0, lt=2**63)
    limit_seconds: described(number(gt=0) | None, "a number above 0, or null") = None
    limit_gib: number(gt=0) = LIMIT_GIB
    store: TextOrNull = None
    mirror: TextOrNull = None
    extra_studies: TextOrNull = None
    extra_datasets: TextOrNull = None
