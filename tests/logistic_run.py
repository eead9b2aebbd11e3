"""The spec of a run of logistic regression with two values of C, for tests of training and selection."""


def logistic_run(**changes) -> dict:
    """The spec, with some of its values changed."""
    return {
        "study": "mine",
        "dataset": "points",
        "model": "logistic",
        "label": "L",
        "estimator": "sklearn.linear_model.LogisticRegression",
        "params": {},
        "steps": [],
        "grid": {"C": [0.001, 1.0]},
        "seed": 0,
        "metrics": ["gmean", "accuracy"],
        "candidates": ["cv", "dcs_gaussian", "dcs_kde"],
        "protocol": {"folds": 3, "repeats": 2},
        **changes,
    }
