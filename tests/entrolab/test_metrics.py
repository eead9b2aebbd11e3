import pytest

from entrolab.fit.metrics import METRICS, metrics_of

TASKS = ["binary", "multiclass", "regression"]


OF_TASKS = {
    "binary": "gmean balanced_accuracy accuracy precision recall f1 error_rate f1_macro f1_weighted mcc auc "
    "average_precision log_loss explained_deviance brier calibration_error support iterations",
    "multiclass": "gmean balanced_accuracy accuracy error_rate f1_macro f1_weighted mcc top3 log_loss "
    "explained_deviance brier calibration_error support iterations",
    "regression": "rmse mae median_absolute_error r2 error_entropy support iterations",
}


@pytest.mark.parametrize("task", TASKS)
def test_metrics_of_a_task_keep_their_order(task):
    fitting = OF_TASKS[task].split()
    assert metrics_of(task, METRICS) == fitting
    assert metrics_of(task, reversed(METRICS)) == fitting[::-1]


def test_every_metric_fits_some_task_and_all_but_errors_of_values_and_counts_are_fractions():
    for name, metric in METRICS.items():
        assert metric.tasks
        assert metric.tasks <= set(TASKS)
        no_fraction = metric.tasks == {"regression"} or name in ("iterations", "log_loss", "brier", "mcc")
        assert metric.percent == (not no_fraction)


def test_no_metric_is_called_as_another_column_of_the_scores():
    assert not METRICS.keys() & {"criterion", "params", "success", "error", "point", "repeat", "fold"}


def test_of_errors_and_of_what_a_machine_keeps_less_is_better():
    assert [name for name, metric in METRICS.items() if not metric.greater_is_better] == [
        "error_rate", "log_loss", "brier", "calibration_error",
        "rmse", "mae", "median_absolute_error", "error_entropy", "support", "iterations",
    ]  # fmt: skip
    assert [name for name, metric in METRICS.items() if metric.of_fit] == ["support", "iterations"]
