"""The catalog and its data sets."""

import hashlib
import json
import math
import pkgutil
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse, stats
from sklearn.datasets import make_moons
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from entrolab import load_published
from entrolab.data import formats
from entrolab.data.dataset import (
    DataError,
    Dataset,
    DataUnavailable,
    load_dataset,
    load_folds,
    recording_unavailability,
    save_dataset,
    save_folds,
)
from entrolab.data.download import Patience, download
from entrolab.data.generators import (
    documents,
    gaussians,
    mixture,
    phrases,
    rings,
    spirals,
    stretched_gaussians,
    waveform,
)
from entrolab.data.prepare import prepare, summary
from entrolab.data.scale import SCALERS, scale
from entrolab.fit.protocols import Folds
from entrolab.study import catalog as definitions

FORMATS = sorted(found.name for found in pkgutil.iter_modules(formats.__path__))

ROOT = Path(__file__).parents[2]
CATALOG = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))
DOWNLOADED = [key for key, entry in CATALOG.items() if entry["source"] == "files"]
EMBEDDED = [key for key in CATALOG if key not in DOWNLOADED]


def make_dataset(n_samples=40, n_features=3, *, csr=False, n_test=0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * (rng.random((n_samples, n_features)) < 0.5)
    return Dataset(
        X=sparse.csr_array(X) if csr else X,
        y=np.arange(n_samples) % 2,
        feature_names=[f"x{column}" for column in range(n_features)],
        task="binary",
        classes=["no", "yes"],
        part=(np.arange(n_samples) >= n_samples - n_test).astype(np.int8),
        provenance={"key": "made", "files": [{"path": "a/b", "sha256": "0"}]},
    )


# ------------------------------------------------------------------------------------------------- catalog


def test_the_catalog_keeps_to_its_schema(catalog):
    assert list(catalog) == list(CATALOG)


def test_the_catalog_takes_the_formats_that_there_are():
    assert {*definitions.FORMATS, "table"} == {*FORMATS}  # "table": a file of one's own


LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
# Of LIBSVM's own site, which has one version of each file; their counts in the catalog are the check.
NOBODY_HAS_A_CHECKSUM_OF = {
    "year-msd/YearPredictionMSD.t.bz2",
    "rcv1/rcv1_test.binary.bz2",
    "rcv1/rcv1_train.binary.bz2",
    "rcv1-topics/rcv1_test.multiclass.bz2",
    "news20/news20.t.bz2",
    "webspam/webspam_wc_normalized_trigram.svm.bz2",
}


@pytest.mark.fault("Trust", "a file of the catalog that changed at its address", "each is pinned, or named")
def test_files_of_the_catalog_are_pinned_to_a_commit_and_a_checksum():
    unpinned = set()
    for key in DOWNLOADED:
        for file in CATALOG[key]["files"]:
            if "sha256" not in file:
                unpinned.add(file["path"])
            if not file["url"].startswith(LIBSVM):
                commit = file["url"].removeprefix("https://raw.githubusercontent.com/").split("/")[2]
                assert re.fullmatch("[0-9a-f]{40}", commit), (key, file["url"])
                assert {"sha256", "bytes"} <= file.keys()
    assert unpinned == NOBODY_HAS_A_CHECKSUM_OF


# ------------------------------------------------------------------------------------------------- prepare


@pytest.mark.parametrize("key", EMBEDDED)
def test_embedded_sets_hold_what_the_catalog_expects(key, catalog):
    dataset = prepare(key, catalog[key])
    assert dataset.provenance["reference"] == catalog[key]["reference"]
    assert not dataset.part.any()


# More than most mirrors hold: their absence is a failure nowhere.
OPTIONAL = {"protein-homology", "year-msd", "real-sim", "rcv1", "rcv1-topics", "news20", "webspam"}


@pytest.mark.parametrize("key", DOWNLOADED)
def test_real_sets_hold_what_the_catalog_expects(key, catalog, mirror, mirrored, tmp_path):
    files = [file["path"] for file in catalog[key]["files"]]
    if key in OPTIONAL and not all((mirror / file).is_file() for file in files):
        pytest.skip(f"{key} is not in the mirror")
    for file in files:
        mirrored(file)
    receipt = download(key, catalog[key], tmp_path, mirror=mirror)
    assert {file["source"] for file in receipt["files"]} == {"mirror"}, receipt["reason"]
    dataset = prepare(key, catalog[key], tmp_path)  # refuses counts other than the catalog's
    assert len(dataset.feature_names) == dataset.n_features
    assert len(dataset.y) == len(dataset.part) == dataset.n_samples
    assert dataset.X.dtype == np.float64
    assert dataset.y.dtype == (np.float64 if dataset.task == "regression" else np.int64)
    assert np.isfinite(dataset.X.data if sparse.issparse(dataset.X) else dataset.X).all()
    json.dumps(dataset.provenance)


def test_class_counts_are_those_of_the_eem_paper(catalog):
    # Czarnecki & Tabor, Extreme Entropy Machines, Table 3: d, |X-|, |X+|.
    table = """
    australian 14 383 307; bank 4 762 610; breast-cancer 9 444 239; diabetes 8 268 500;
    german-numer 24 700 300; heart 13 150 120; liver-disorders 6 145 200; sonar 60 111 97;
    splice 60 483 517; abalone7 10 3786 391; arrhythmia 261 427 25; car-eval-34 21 1594 134;
    ecoli-imu 7 301 35; libras-move 90 336 24; oil-spill 48 896 41; sick-euthyroid 42 2870 293;
    solar-flare-m0 32 1321 68; spectrometer 93 486 45; forest-cover 54 571519 9493; isolet 617 7197 600;
    mammography 6 10923 260; protein-homology 74 144455 1296; webpages 300 33799 981
    """
    for row in table.split(";"):
        key, *counts = row.split()
        expect = catalog[key]["expect"]
        assert [expect["features"], expect["negative"], expect["positive"]] == list(map(int, counts)), key


def test_train_and_test_sizes_are_those_of_the_rkelm_paper(catalog):
    """Deng et al., Neural Networks 76 (2016), Tables 1 and 8; two of the 21 data sets have fewer rows."""
    published = load_published("rkelm").pivot_table(index="dataset", columns="metric", values="value")
    taken = yaml.safe_load((ROOT / "config" / "papers" / "rkelm.yaml").read_text())["of_dataset"]
    lacking = {}
    for key, of_paper in published.iterrows():
        rows = catalog[key]["expect"]["rows"]
        assert taken["n_train"][key] + taken["n_test"][key] == rows
        lacking[key] = of_paper["n_train"] + of_paper["n_test"] - rows
        if not lacking[key]:
            assert taken["n_train"][key] == of_paper["n_train"]
    assert {key: rows for key, rows in lacking.items() if rows} == {"usps-0": 31, "adult": 2}
    assert taken["n_test"]["usps-0"] == published.loc["usps-0", "n_test"] == 2000


def made_files(folder, content, **entry):
    """A download folder with the files of `content` (name to bytes), and the entry that describes them."""
    folder.mkdir()
    files = []
    for name, data in content.items():
        (folder / name).write_bytes(data)
        file = {"path": f"made/{name}", "url": "http://127.0.0.1:9/", "bytes": len(data)}
        file["sha256"] = hashlib.sha256(data).hexdigest()
        file["part"] = "test" if "test" in name else "train"
        files.append(file)
    receipt = {"available": True, "reason": "", "files": files}
    (folder / "receipt.json").write_text(json.dumps(receipt))
    return {"source": "files", "files": files, "task": "binary", "positive": [1]} | entry


def test_csv_options_do_what_the_catalog_says(tmp_path):
    entry = made_files(
        tmp_path / "raw",
        {
            "train.csv": b"id;size;const;sort;label\n1;2.5;7;red;yes.\n2;?;7;blue;no\n3;1;7;green;no\n",
            "test.csv": b"id;size;const;sort;label\n4;3;7;azure;yes\n",
        },
        format={
            "name": "csv",
            "delimiter": ";",
            "header": "names",
            "label_suffix": ".",
            "drop": [0],
            "missing": ["?"],
            "categorical": [3],
        },  # fmt: skip
        missing_rows="drop",
        constant_columns="drop",
        positive=["yes"],
        expect={"rows": 3, "features": 2, "negative": 1, "positive": 2, "test_rows": 1},
    )
    dataset = prepare("made", entry, tmp_path / "raw")
    assert dataset.feature_names == ["size", "sort"]
    # Ranks among azure, blue, green, red: one coding for both files.
    np.testing.assert_array_equal(dataset.X, [[2.5, 3], [1, 2], [3, 0]])
    np.testing.assert_array_equal(dataset.y, [1, 0, 1])
    np.testing.assert_array_equal(dataset.part, [0, 0, 1])
    assert dataset.classes == ["no", "yes"]


def test_missing_categories_are_missing(tmp_path):
    names = {"a.csv": b"red,1,a\n?,2,b\nblue,3,a\n,4,b\n"}
    options = {"format": {"name": "csv", "missing": ["?", ""], "categorical": [0]}, "positive": ["b"]}
    entry = made_files(tmp_path / "raw", names, **options, expect={"rows": 4, "features": 2})
    with pytest.raises(DataError, match="made: 2 rows with missing values; accepted: 'missing_rows: drop'"):
        prepare("made", entry, tmp_path / "raw")
    entry |= {"missing_rows": "drop", "task": "multiclass", "expect": {"rows": 2, "features": 2}}
    np.testing.assert_array_equal(prepare("made", entry, tmp_path / "raw").X, [[1, 1], [0, 3]])


def test_missing_labels_are_missing(tmp_path):
    arff = b"@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n2,y\n3,?\n4,y\n"
    options = {"format": {"name": "arff"}, "missing_rows": "drop", "positive": ["y"]}
    entry = made_files(tmp_path / "raw", {"a.arff": arff}, **options, expect={"rows": 3, "features": 1})
    assert prepare("made", entry, tmp_path / "raw").y.tolist() == [0, 1, 1]


def test_svmlight_keeps_the_first_of_equal_lines_and_pads(tmp_path):
    lines = b"1 1:1 2:1\n-1 2:1\n1 1:1 2:1\n-1 1:1 2:1\n"
    options = {"name": "svmlight", "n_features": 5, "sparse_features": True, "drop_duplicate_lines": True}
    entry = made_files(tmp_path / "raw", {"w": lines}, format=options, expect={"rows": 3, "features": 5})
    dataset = prepare("made", entry, tmp_path / "raw")
    assert sparse.issparse(dataset.X)
    np.testing.assert_array_equal(dataset.X.toarray(), [[1, 1, 0, 0, 0], [0, 1, 0, 0, 0], [1, 1, 0, 0, 0]])
    assert dataset.y.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("content", "format_", "said"),
    [
        ({"a.csv": b"1,2,1\n3,x,0\n"}, {"name": "csv"}, "column x2"),
        ({"a.csv": b"1,?,1\n3,4,0\n"}, {"name": "csv", "missing": ["?"]}, "1 rows with missing values"),
        ({"a.csv": b"1,2,1\n3,4,0\n"}, {"name": "csv"}, "2 rows instead of 3"),
        ({"a.csv": b"1,2,5\n3,4,0\n"}, {"name": "csv"}, "no row has the positive label '1'; found: 0, 5"),
        ({"a.csv": b"a,b,c\n1,2,1\n"}, {"name": "csv"}, "column x1: Unable to parse string 'a'"),
        ({"a.csv": b"1,5;2;1\n"}, {"name": "csv", "delimiter": ";"}, "Unable to parse string '1,5'"),
        ({"a.csv": b"1,2,1\n3,1e999,0\n"}, {"name": "csv"}, "numbers too large for double precision"),
        ({"a.csv": b"1,\xfc,1\n"}, {"name": "csv"}, "'utf-8' codec can't decode byte 0xfc"),
        ({"a.csv": b""}, {"name": "csv"}, "No columns to parse from file"),
    ],
)
@pytest.mark.fault(
    "Configuration", "data that are not as the catalog says", "one line that names the file and what is wrong"
)
@pytest.mark.filterwarnings("ignore::UserWarning:rdata")
def test_data_that_are_not_as_the_catalog_says_are_refused_in_one_line(tmp_path, content, format_, said):
    entry = made_files(tmp_path / "raw", content, expect={"rows": 3, "features": 2}, format=format_)
    with pytest.raises(DataError) as caught:
        prepare("made", entry, tmp_path / "raw")
    message = str(caught.value)
    assert message.startswith("made: ")
    assert "\n" not in message
    assert said in message


@pytest.mark.parametrize("sparse_features", [False, True])
def test_constant_columns_are_dropped_with_their_names(tmp_path, sparse_features):
    lines = b"1 1:3 2:1\n-1 1:3\n1 1:3 2:4\n"
    entry = made_files(
        tmp_path / "raw",
        {"w": lines},
        format={"name": "svmlight", "n_features": 3, "sparse_features": sparse_features},
        constant_columns="drop",
        expect={"rows": 3, "features": 1},
    )
    dataset = prepare("made", entry, tmp_path / "raw")
    assert dataset.feature_names == ["x2"]
    assert dataset.X.sum(axis=1).tolist() == [1, 0, 4]


# ----------------------------------------------------------------------------------------------- generated


def test_bayes_gmean_of_gaussians_is_phi_of_one(catalog):
    note = catalog["gaussians"]["note"]
    assert f"{100 * stats.norm.cdf(1):.2f} %" in note
    options = {**catalog["gaussians"]["generator"], "n_samples": 400_000}
    options.pop("name")
    table = gaussians(**options)
    right = (table.X.sum(axis=1) > 0) == table.labels
    for label in (0, 1):
        # Standard error of a rate over 200 000 draws: below 0.0009.
        assert right[table.labels == label].mean() == pytest.approx(stats.norm.cdf(1), abs=0.004)


def test_bayes_rates_of_unequal_gaussians_are_chi_square(catalog):
    note = catalog["gaussians-unequal"]["note"]
    radius2 = 9 / 4 * np.log(9)  # where the densities N(0, I) and N(0, 9 I) of the plane meet
    negative, positive = stats.chi2(2).cdf(radius2), stats.chi2(2).sf(radius2 / 9)
    assert negative == pytest.approx(1 - 9 ** (-9 / 8))
    assert positive == pytest.approx(9 ** (-1 / 8))
    for rate in (negative, positive, np.sqrt(negative * positive), np.sqrt(0.9 * 10 ** (-1 / 9))):
        assert f"{100 * rate:.2f} %" in note
    options = {**catalog["gaussians-unequal"]["generator"], "n_samples": 400_000}
    options.pop("name")
    table = gaussians(**options)
    outside = (table.X**2).sum(axis=1) > radius2
    assert outside[table.labels == 1].mean() == pytest.approx(positive, abs=0.004)
    assert outside[table.labels == 0].mean() == pytest.approx(1 - negative, abs=0.004)


def test_one_threshold_on_a_line_scores_what_the_note_says_of_unequal_gaussians(catalog):
    def gmean(threshold):
        return np.sqrt(stats.norm.cdf(threshold) * stats.norm.sf(threshold / 3))

    best = -optimize.minimize_scalar(lambda t: -gmean(t), bounds=(0, 5), method="bounded").fun
    assert gmean(0) == 0.5
    assert f"at most {100 * best:.1f} %" in catalog["gaussians-unequal"]["note"]


def test_stretched_gaussians_have_the_covariance_that_their_axes_and_deviations_make():
    """V D² Vᵀ, D = diag(s, t), V's second axis along (1, 1): (t² + s²)/2 on the diagonal, (t² - s²)/2 off."""
    n_samples = 200_000
    table = stretched_gaussians(n_samples=n_samples, mean=[1, -0.5], deviations=[1, 2], seed=0)
    for label in (-1, 1):
        rows = table.X[table.labels == label]
        # Standard errors: 1.58 / sqrt(100 000) = 0.005 (mean), 2.5 sqrt(2 / 100 000) = 0.011 (variance).
        assert_allclose(rows.mean(axis=0), label * np.array([1, -0.5]), atol=0.025)
        assert_allclose(np.cov(rows.T), [[2.5, 1.5], [1.5, 2.5]], atol=0.055)
    assert abs((table.labels == 1).mean() - 0.5) < 5 * 0.5 / np.sqrt(n_samples)


def test_bayes_error_of_stretched_gaussians_is_phi_of_the_mahalanobis_length_of_the_mean(catalog):
    options = {**catalog["stretched"]["generator"], "n_samples": 400_000}
    options.pop("name")
    mean, covariance = np.array(options["mean"]), np.array([[2.5, 1.5], [1.5, 2.5]])
    weights = np.linalg.solve(covariance, mean)
    error = stats.norm.cdf(-np.sqrt(mean @ weights))
    assert error == pytest.approx(stats.norm.cdf(-1 / np.sqrt(2)))
    assert f"{100 * error:.2f} %" in catalog["stretched"]["note"]
    table = stretched_gaussians(**options)
    # Standard error of a rate over 400 000 draws: 0.0007.
    assert (np.sign(table.X @ weights) != table.labels).mean() == pytest.approx(error, abs=0.0035)


def test_waveforms_are_noisy_mixtures_of_two_triangles():
    """Without noise a wave lies on the segment between two of the three; the noise has variance one."""
    table = waveform(n_samples=3000, seed=0)
    at = np.arange(1, 22)
    triangles = np.maximum(6 - abs(at - np.array([[11], [15], [7]])), 0)
    for label, (one, other) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = table.X[table.labels == label]
        assert abs(len(rows) - 1000) < 4 * np.sqrt(3000 * 2 / 9)
        # The mean is the midpoint; a coordinate's variance is at most 1 + 36 / 12.
        assert_allclose(rows.mean(axis=0), (triangles[one] + triangles[other]) / 2, atol=4 * 2 / np.sqrt(900))
        along = triangles[one] - triangles[other]
        across = np.linalg.svd(along[None])[2][1:]
        assert_allclose((rows @ across.T).var(axis=0), 1, atol=5 * np.sqrt(2 / 900))


def test_waveform_is_as_hard_as_its_authors_say():
    """The optimal Bayes rule of all three classes errs in 14 % of cases (Breiman et al., section 2.6.2)."""
    train, test = waveform(n_samples=6000, seed=1), waveform(n_samples=3000, seed=2)
    error = 1 - QuadraticDiscriminantAnalysis().fit(train.X, train.labels).score(test.X, test.labels)
    assert 0.13 < error < 0.17


def test_documents_are_sparse_rows_of_unit_length_with_a_long_tail():
    table = documents(n_samples=400, n_features=5000, n_classes=3, words=50, spread=1, seed=0)
    assert table.X.shape == (400, 5000)
    assert table.X.nnz / 400 < 50  # words repeat
    assert_allclose(sparse.linalg.norm(table.X, axis=1), 1)
    times = np.sort(np.bincount(table.X.indices, minlength=5000))[::-1]
    assert times[:50].sum() > times[500:1000].sum()
    assert set(table.labels) == {0, 1, 2}


PHRASES = {"n_features": 60, "n_pairs": 20, "n_classes": 3, "terms": 15, "spread": 0.8, "seed": 0}


def test_phrases_have_pairs_of_words_that_are_never_apart_and_words_of_their_own():
    table = phrases(n_samples=300, **PHRASES)
    counts = table.X.toarray()
    assert_array_equal(counts[:, :40:2], counts[:, 1:40:2])
    assert len(np.unique(counts[:, 40:], axis=1).T) == 20
    terms = counts.sum(axis=1) - counts[:, :40:2].sum(axis=1)
    assert terms.mean() == pytest.approx(15, abs=5 * math.sqrt(15 / 300))
    assert set(table.labels) == {0, 1, 2}
    assert table.X.indices.dtype == np.int32  # which scikit-learn's solvers take


def test_mackey_glass_of_the_catalog_has_values_that_span_its_delay(catalog):
    options = catalog["mackey-glass"]["generator"]
    assert (options["n_delays"] - 1) * options["interval"] == options["delay"]
    dataset = prepare("mackey-glass", catalog["mackey-glass"])
    assert dataset.task == "regression"
    np.testing.assert_array_equal(dataset.X[1:, :-1], dataset.X[:-1, 1:])
    np.testing.assert_array_equal(dataset.y[:-1], dataset.X[1:, -1])
    assert 0.1 < dataset.y.min() < dataset.y.max() < 2  # at most 0.2 / 0.1, what all cells make


def test_two_moons_are_those_of_scikit_learn(catalog):
    dataset = prepare("two-moons", catalog["two-moons"])
    X, y = make_moons(600, noise=0.2, random_state=catalog["two-moons"]["generator"]["seed"])
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)


def test_rings_of_the_catalog_need_two_thresholds_on_their_radius(catalog):
    dataset = prepare("rings", catalog["rings"])
    radius = np.hypot(*dataset.X.T)
    between = (radius > 0.75) & (radius < 2.25)  # halfway between the rings
    assert np.mean(between == dataset.y) > 0.98
    assert max(np.mean((radius > t) == dataset.y) for t in radius) < 0.7


@pytest.mark.parametrize(("classes", "labels"), [({}, [0, 1, 0]), ({"n_classes": 3}, [0, 1, 2])])
def test_rings_without_noise_have_their_radii_and_classes_in_turn(classes, labels):
    table = rings(n_samples=9, radii=[1, 2, 0], noise=0, seed=0, **classes)
    np.testing.assert_allclose(np.hypot(*table.X.T), [1, 2, 0] * 3)
    assert table.labels.tolist() == labels * 3


def test_arms_of_spirals_are_one_another_turned_and_their_radius_grows_with_the_angle():
    table = spirals(n_samples=600, n_arms=3, turns=0.75, noise=0, seed=0)
    radius = np.hypot(*table.X.T)
    unwound = np.arctan2(*table.X.T[::-1]) - 2 * np.pi * (0.75 * radius + table.labels / 3)
    np.testing.assert_allclose(np.exp(1j * unwound), 1, atol=1e-9)
    assert np.bincount(table.labels).tolist() == [200] * 3
    # As many rows within a radius as there is of the arm's length, but for its middle: its square.
    assert np.mean(radius < 0.5) == pytest.approx(0.25, abs=0.08)


def test_a_mixture_has_the_means_deviations_and_angles_that_are_asked_for():
    """Against the covariance R D² Rᵀ, to five standard errors."""
    table = mixture(
        sizes=[40_000, 10], means=[[1, -2], [0, 9]], deviations=[[2, 0.5], [0, 0]], angles=[30, 0], seed=0
    )
    assert table.labels.tolist() == [0] * 40_000 + [1] * 10
    np.testing.assert_array_equal(table.X[table.labels == 1], np.tile([0.0, 9], (10, 1)))
    rows = table.X[table.labels == 0]
    turn = np.array([[np.sqrt(3), -1], [1, np.sqrt(3)]]) / 2
    np.testing.assert_allclose(
        np.cov(rows.T), turn @ np.diag([4, 0.25]) @ turn.T, atol=5 * 4 * np.sqrt(2 / 40_000)
    )
    np.testing.assert_allclose(rows.mean(axis=0), [1, -2], atol=5 * 2 / np.sqrt(40_000))


@pytest.mark.parametrize("key", ["moons-apart", "rings-apart", "spirals"])
def test_shapes_of_the_catalog_are_groups_that_nearest_neighbours_tell_apart_and_nearest_centres_do_not(
    catalog, key
):
    data = prepare(key, catalog[key])
    neighbours = KNeighborsClassifier(1).fit(data.X[::2], data.y[::2]).score(data.X[1::2], data.y[1::2])
    assert neighbours > 0.99
    assert NearestCentroid().fit(data.X, data.y).score(data.X, data.y) < 0.9


# --------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("csr", [False, True])
def test_what_is_saved_is_what_is_loaded(tmp_path, csr):
    dataset = make_dataset(csr=csr, n_test=7)
    save_dataset(tmp_path / "made.npz", dataset)
    loaded = load_dataset(tmp_path / "made.npz")
    assert type(loaded.X) is type(dataset.X)
    assert loaded.digest() == dataset.digest()
    for name in ("feature_names", "task", "classes", "provenance", "n_samples", "n_features"):
        assert getattr(loaded, name) == getattr(dataset, name)


@pytest.mark.parametrize("changed_name", ["X", "y", "part"])
def test_the_digest_sees_every_array_and_the_shape(changed_name):
    dataset = make_dataset()
    other = getattr(dataset, changed_name).copy()
    other.flat[0] += 1
    assert replace(dataset, **{changed_name: other}).digest() != dataset.digest()
    assert replace(dataset, X=dataset.X.reshape(30, 4)).digest() != dataset.digest()


@pytest.mark.fault("Disk", "a reader meets a damaged file", "named: delete it and run again")
@pytest.mark.parametrize("damage", ["cut", "byte", "empty", "text"])
def test_a_damaged_file_is_named(tmp_path, damage):
    path = tmp_path / "made.npz"
    save_dataset(path, make_dataset(400, 20))
    whole = path.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "cut": whole[:middle],
        "byte": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
        "empty": b"",
        "text": b"<html>",
    }
    path.write_bytes(damaged[damage])
    with pytest.raises(DataError) as caught:
        load_dataset(path)
    assert str(caught.value).startswith(f"{path}: truncated or corrupt")
    assert "\n" not in str(caught.value)


def test_absence_is_passed_on_from_stage_to_stage(tmp_path, catalog):
    unreachable = catalog["bank"]["files"][0] | {"url": "http://127.0.0.1:9/"}
    download("bank", {"files": [unreachable]}, tmp_path / "raw", patience=Patience(tries=1))
    with recording_unavailability(tmp_path / "data.npz"):
        save_dataset(tmp_path / "data.npz", prepare("bank", catalog["bank"], tmp_path / "raw"))
    with np.load(tmp_path / "data.npz") as archive:
        assert archive.files == ["absent"]
    with recording_unavailability(tmp_path / "folds.npz"):
        save_folds(tmp_path / "folds.npz", Folds(2, 1).draw(load_dataset(tmp_path / "data.npz").y, 0))
    with pytest.raises(DataUnavailable, match="bank: bank/banknote_authentication.csv: connection failed"):
        load_folds(tmp_path / "folds.npz")


def test_no_receipt_is_absence(tmp_path, catalog):
    with pytest.raises(DataUnavailable, match="bank: not downloaded yet"):
        prepare("bank", catalog["bank"], tmp_path)


# ---------------------------------------------------------------------------------------------------- scale

columns = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(1, 4)),
    elements=st.floats(-1e6, 1e6).map(lambda value: round(value, 3)),
)


@given(columns, st.sampled_from([(0, 1), (-1, 1), (0.1, 0.3)]))
@settings(deadline=None)
def test_minmax_law_both_ends_are_reached_and_none_is_passed(X, bounds):
    dataset = replace(make_dataset(len(X), X.shape[1]), X=X)
    scaled = scale(dataset, range=bounds).X
    low, high = bounds
    assert scaled.min() >= low
    assert scaled.max() <= high
    np.testing.assert_array_equal(scaled.min(axis=0), low)
    varies = X.max(axis=0) > X.min(axis=0)
    np.testing.assert_allclose(scaled.max(axis=0), np.where(varies, high, low), rtol=1e-15)


def test_pixels_are_divided_by_their_largest_value_whatever_each_of_them_reaches():
    X = np.random.default_rng(0).integers(0, 256, size=(40, 3)).astype(float)
    X[0, 0], X[1, 1] = 0, 255
    X[:, 2] = np.minimum(X[:, 2], 9)  # a pixel at the margin stays dark
    dataset = replace(make_dataset(40, 3), X=X)
    np.testing.assert_array_equal(scale(dataset, "joint_minmax").X, X / 255)
    np.testing.assert_array_equal(scale(dataset, "joint_minmax", range=(-1, 1)).X, -1 + 2 * X / 255)
    assert scale(dataset).X[:, 2].max() == 1
    blank = replace(dataset, X=np.full((40, 3), 7.0))
    np.testing.assert_array_equal(scale(blank, "joint_minmax").X, 0)


@pytest.mark.parametrize("method", ["joint_minmax", "maxabs", "none"])
def test_features_are_scaled_in_double_precision_and_kept_in_the_one_that_is_asked_for(method):
    dataset = make_dataset(csr=method != "joint_minmax")
    double, single = (scale(dataset, method, dtype=dtype).X for dtype in ("float64", "float32"))
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    assert abs(double.astype(np.float32) - single).max() == 0


@given(columns)
@settings(deadline=None)
def test_minmax_law_shift_and_stretch_do_not_matter(X):
    dataset = replace(make_dataset(len(X), X.shape[1]), X=X)
    moved = replace(dataset, X=4 * X + 8)
    np.testing.assert_allclose(scale(moved).X, scale(dataset).X, atol=1e-5)


@pytest.mark.parametrize("method", ["minmax", "joint_minmax"])
def test_no_feature_leaves_the_interval_by_rounding(method):
    """-1.3 + (0.9 - -1.3) is 0.9000000000000001 in floating point."""
    scaled = scale(make_dataset(), method, range=(-1.3, 0.9)).X
    assert (scaled.min(), scaled.max()) == (-1.3, 0.9)


def test_standard_law_zero_mean_and_unit_variance():
    scaled = scale(make_dataset(200, 4), "standard").X
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), 1)


@pytest.mark.parametrize("method", list(SCALERS))
def test_sparse_and_dense_data_scale_alike(method):
    dense, csr = make_dataset(), make_dataset(csr=True)
    scaled = scale(csr, method).X
    assert sparse.issparse(scaled) == (method in {"maxabs", "none"})
    np.testing.assert_allclose(
        scaled.toarray() if sparse.issparse(scaled) else scaled, scale(dense, method).X
    )


def test_targets_of_a_regression_are_scaled_to_their_interval():
    values = replace(make_dataset(n_test=10), y=np.linspace(-5, 3, 40), task="regression", classes=[])
    np.testing.assert_allclose(scale(values, targets=[0, 1]).y, np.linspace(0, 1, 40), atol=1e-15)
    assert scale(values, targets=[-1.3, 0.9]).y.max() == 0.9
    np.testing.assert_array_equal(scale(values).y, values.y)
    constant = replace(values, y=np.full(40, 7.0))
    np.testing.assert_array_equal(scale(constant, targets=[0, 1]).y, 0)


def test_scaling_leaves_the_rest_alone():
    dataset = make_dataset(n_test=5)
    before = dataset.X.copy()
    scaled = scale(dataset, targets=[0, 5])  # which classes are not
    np.testing.assert_array_equal(dataset.X, before)
    assert (scaled.provenance, scaled.classes) == (dataset.provenance, dataset.classes)
    np.testing.assert_array_equal(scaled.y, dataset.y)


def test_large_sparse_data_are_not_made_dense():
    large = replace(make_dataset(), X=sparse.csr_array((30_000, 10_000)), provenance={"key": "sector"})
    with pytest.raises(DataError, match=r"sector: minmax .* 30000 x 10000 .* 'maxabs'"):
        scale(large)


# ------------------------------------------------------------------------------------------------- summary


def test_the_summary_says_what_is_there_and_why_the_rest_is_not(catalog):
    some = {key: catalog[key] for key in ("bank", "mnist", "two-moons")}
    text = summary(
        some,
        {"bank": {"available": True, "reason": ""}, "mnist": {"available": False, "reason": "mnist: 404"}},
    )
    assert text.splitlines() == [
        "1 of 3 data sets are available",
        "  bank          1372 rows      4 features",
        "not there:",
        "  mnist      mnist: 404",
        "  two-moons  not downloaded yet",
    ]
