"""A protocol in words."""

from made_studies import made_study
from reported_study import CONTENT

from entrolab.report.protocol import protocol


def in_words(sections: dict, task: str = "binary") -> str:
    """The protocol of a study with other sections."""
    content = {name: value for name, value in (CONTENT | sections).items() if value is not None}
    return " ".join(protocol(made_study(content, task=task)))


def test_protocol_in_words_follows_the_study():
    said = in_words({})
    assert "2-fold cross-validation, stratified, once." in said
    assert "rows in the proportion" not in said
    assert "scaled linearly to [0, 1], by the values of all rows" in said
    other = {
        "protocol": {"folds": 5, "repeats": 3, "rows": 2000},
        "scaling": {"method": "standard", "fit_on": "train"},
        "metrics": ["rmse"],
        "tables": None,
    }
    said = in_words(other, "regression")
    assert "5-fold cross-validation, stratified where there are classes, 3 times." in said
    assert "Of larger data sets, 2,000 rows in the proportions of their classes." in said
    assert "zero mean and unit variance, by the values of the training rows only" in said
    assert "not scaled" in in_words({"scaling": {"method": "none"}})


def test_trials_in_words():
    study = {
        "protocol": {
            "trials": 20,
            "train": {"of_dataset": "n_train"},
            "test": {"of_dataset": "n_test"},
            "inner": {"folds": 4, "used": 1},
        },
        "scaling": {
            "method": {"of_dataset": "scaling"},
            "range": [-1, 1],
            "fit_on": "all",
            "targets": [0, 1],
        },
        "of_dataset": {"scaling": {"default": "minmax", "iris": "maxabs"}},
        "metrics": ["accuracy", "rmse"],
        "tables": None,
    }
    said = in_words(study)
    assert "20 random trials: in each, all rows are shuffled" in said
    assert "split into 4 folds; one of them is left out for validation" in said
    assert "scaled linearly to [-1, 1] or divided by its largest absolute value (of iris)" in said
    assert "Targets of regression are scaled linearly to [0, 1]." in said
    assert "Score: accuracy; also RMSE." in said
    ordered = {
        **study,
        "protocol": {**study["protocol"], "shuffle": {"of_dataset": "shuffled"}},
        "of_dataset": study["of_dataset"] | {"shuffled": {"default": True, "iris": False}},
    }
    ordered["scaling"] = study["scaling"] | {"dtype": {"of_dataset": "dtype"}, "method": "joint_minmax"}
    ordered["of_dataset"]["dtype"] = {"default": "float64", "iris": "float32"}
    said = in_words(ordered)
    assert "left out; one trial in the order of the files, trained on the first rows" in said
    assert "tested on the last (of iris)." in said
    assert "Each feature is scaled to [-1, 1] by the smallest and largest value of all features" in said
    assert "Features are stored in double precision or single precision (of iris)." in said
    same = in_words({**study, "protocol": {**study["protocol"], "train": 8000, "test": 100}})
    assert "8,000 training and 100 test rows" in same


def test_the_protocol_of_each_study_of_the_project_is_said_in_words(studies):
    said = {name: " ".join(protocol(study)) for name, study in studies.items()}
    assert all("{" not in text for text in said.values())
    assert "not scaled (of real-sim, rcv1," in said["rkelm"]
    assert "scaled linearly to [0, 1] or [0.1, 0.9] (of triazines)" in said["rkelm"]
