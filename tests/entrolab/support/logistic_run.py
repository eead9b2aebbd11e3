"""A run of logistic regression with two values of C, for tests of training and selection."""

from entrolab.fit.run import Run


def logistic_run(**changes) -> Run:
    """The run, with some of its values changed."""
    run = Run(
        study="mine",
        dataset="points",
        model="logistic",
        estimator="sklearn.linear_model.LogisticRegression",
        grid={"C": [0.001, 1.0]},
        seed=0,
        metrics=["gmean", "accuracy"],
        candidates=["cv", "dcs_gaussian", "dcs_kde"],
        protocol={"folds": 3, "repeats": 2},
    )
    return changed(run, changes)


def changed(run: Run, changes: dict) -> Run:
    """A run with some of its values changed."""
    return Run.model_validate(run.model_dump() | changes)
