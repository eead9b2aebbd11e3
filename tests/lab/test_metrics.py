import pytest

from entrolearn.lab.metrics import METRICS, metrics_of

TASKS = ["binary", "multiclass", "regression"]


@pytest.mark.parametrize(
    ("task", "fitting"),
    [
        ("binary", ["gmean", "balanced_accuracy", "accuracy", "precision", "recall", "f1"]),
        ("multiclass", ["gmean", "balanced_accuracy", "accuracy"]),
        ("regression", ["rmse"]),
    ],
)
def test_metrics_of_a_task_keep_their_order(task, fitting):
    assert metrics_of(task, METRICS) == fitting
    assert metrics_of(task, reversed(METRICS)) == fitting[::-1]


def test_every_metric_fits_some_task_and_fractions_are_the_scores_of_classes():
    for metric in METRICS.values():
        assert metric.tasks
        assert metric.tasks <= set(TASKS)
        assert metric.percent == ("regression" not in metric.tasks)
        assert metric.greater_is_better == metric.percent
