"""The comparison of two studies, against the formula of Nadeau and Bengio, and what it refuses."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study
from numpy.testing import assert_allclose
from scipy import stats

from entrolab import comparing
from entrolab.comparing import compare_studies
from entrolab.data.dataset import Dataset, save_dataset, save_folds
from entrolab.schema.sections import ConfigError

N_FOLDS = 5
MODELS = {"svm": "sklearn.svm.SVC", "lda": "mine.LDA"}
FIRST, SECOND = (made_study({"datasets": {"one": [key]}, "models": MODELS}, name) for name, key in
                 (("a", "rows"), ("b", "fewer-columns")))  # fmt: skip
SCORES = {
    "a": pd.DataFrame({"svm": [80.0, 82, 79, 85, 81], "lda": [70.0, 71, 72, 70, 73]}),
    "b": pd.DataFrame({"svm": [75.0, 80, 78, 80, 76], "lda": [79.0, 81, 80, 82, 80]}),
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Both studies, made with the same labels and folds, and scores in place of fits."""
    monkeypatch.chdir(tmp_path)
    y = np.arange(20) % 2
    for study in (FIRST, SECOND):
        (dataset,) = study.tasks
        write(study.name, dataset, y, np.arange(20)[None] % N_FOLDS)
    monkeypatch.setattr(comparing, "_scores", lambda study, dataset, metric, home: SCORES[study.name])


def write(study: str, dataset: str, y, folds) -> None:
    for place in (Path("results/data"), Path(f"results/{study}/seed0/folds")):
        place.mkdir(parents=True, exist_ok=True)
    data = Dataset(np.zeros((len(y), 1)), y, ["x"], "binary", ["no", "yes"], np.zeros(len(y), np.int8))
    save_dataset(f"results/data/{dataset}.npz", data)
    save_folds(f"results/{study}/seed0/folds/{dataset}.npz", folds.astype(np.int16))


@pytest.mark.usefixtures("made")
def test_differences_are_those_of_folds_with_the_corrected_variance():
    """The variance of the mean of k folds is (1/k + n_test/n_train) s², and n_test/n_train is 1/(k - 1)."""
    found = compare_studies(FIRST, SECOND)
    assert found[["first", "second"]].to_numpy().tolist() == [["svm", "lda"], ["svm", "svm"], ["lda", "lda"]]
    for row in found.itertuples():
        apart = SCORES["a"][row.first] - SCORES["b"][row.second]
        error = np.sqrt((1 / N_FOLDS + 1 / (N_FOLDS - 1)) * apart.var(ddof=1))
        assert_allclose(row.difference, apart.mean())
        assert_allclose(row.p, 2 * stats.t.sf(abs(apart.mean()) / error, N_FOLDS - 1))
        assert_allclose((row.low, row.high), stats.t.interval(0.95, N_FOLDS - 1, apart.mean(), error))


@pytest.mark.usefixtures("made")
def test_folds_of_unequal_size_have_their_own_ratio():
    """Of 12 and four times 2 of 20 rows."""
    folds = np.repeat(np.arange(N_FOLDS), [12, 2, 2, 2, 2])[None]
    for study in (FIRST, SECOND):
        write(study.name, *study.tasks, np.arange(20) % 2, folds)
    found = compare_studies(FIRST, SECOND).iloc[1]
    apart = SCORES["a"]["svm"] - SCORES["b"]["svm"]
    ratio = (12 / 8 + 4 * 2 / 18) / 5
    error = np.sqrt((1 / N_FOLDS + ratio) * apart.var(ddof=1))
    assert_allclose(found.p, 2 * stats.t.sf(abs(apart.mean()) / error, N_FOLDS - 1))


@pytest.mark.usefixtures("made")
def test_a_study_does_not_differ_from_itself_and_sides_change_the_sign():
    same = compare_studies(FIRST, FIRST)
    assert same["difference"].tolist() == [0, 0]
    assert same["p"].tolist() == [1, 1]
    one, other = compare_studies(FIRST, SECOND), compare_studies(SECOND, FIRST)
    assert_allclose(one["difference"], -other["difference"])
    assert_allclose(one["p"], other["p"])


@pytest.mark.usefixtures("made")
def test_other_folds_labels_and_data_sets_are_refused():
    y = np.arange(20) % 2
    write("b", "fewer-columns", y, np.arange(20)[None, ::-1] % N_FOLDS)
    with pytest.raises(ConfigError, match="fewer-columns has other labels or folds"):
        compare_studies(FIRST, SECOND)
    write("b", "fewer-columns", 1 - y, np.arange(20)[None] % N_FOLDS)
    with pytest.raises(ConfigError, match="fewer-columns has other labels or folds"):
        compare_studies(FIRST, SECOND)
    two = made_study({"datasets": {"two": ["heart", "sonar"]}, "models": MODELS}, "two")
    with pytest.raises(ConfigError, match="found no data set of"):
        compare_studies(FIRST, two)


@pytest.mark.usefixtures("made")
def test_a_single_test_part_is_refused(monkeypatch):
    monkeypatch.setattr(comparing, "_scores", lambda study, *_: SCORES[study.name][:1])
    with pytest.raises(ConfigError, match="found one test part"):
        compare_studies(FIRST, SECOND)
