"""The protocol of a study, as its page shows it."""

import pytest
from made_studies import made_study
from reported_study import CONTENT

from entrolab.report.protocol import protocol


@pytest.mark.parametrize(
    ("sections", "splits", "features"),
    [
        ({}, "folds 2, repeats 1, inner leave-two-folds-out", "method minmax, range [0, 1]"),
        ({"scaling": None}, "folds 2, repeats 1, inner leave", "scale minmax, categories one-hot"),
        (
            {
                "protocol": {
                    "trials": 20,
                    "train": {"of_dataset": "rows"},
                    "test": 1000,
                    "inner": {"used": 1},
                },
                "scaling": {"method": {"of_dataset": "scaling"}},
                "of_dataset": {
                    "rows": {"iris": 80, "wine": 80},
                    "scaling": {"default": "none", "iris": "maxabs"},
                },
            },
            "trials 20, train (80 of iris, wine), test 1,000, inner (folds 4, used 1)",
            "method (none of default; maxabs of iris)",
        ),
    ],
)
def test_the_settings_of_the_file_are_shown_with_their_defaults(sections, splits, features):
    content = {name: value for name, value in (CONTENT | sections).items() if value is not None}
    lines = protocol(made_study(content))
    assert splits in lines[0]
    assert features in lines[1]
    assert ("before the splits" in lines[1]) == ("scaling" in content)


def test_the_protocol_of_each_study_of_the_project_is_shown(studies):
    assert all("{" not in line for study in studies.values() for line in protocol(study))
