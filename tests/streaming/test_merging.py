"""Models of rows at several sites: merged, exchanged in files, refused where they do not fit together."""

import io
import json
import zipfile
from contextlib import suppress
from functools import partial

import dask
import numpy as np
import pytest
from additive_learners import LABELS, LEARNERS, X, announced, assert_same_model, targets
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.linear_model import SGDClassifier

from entrolearn import EEMClassifier, ELMClassifier, ELMRegressor, RKELMClassifier, streaming
from entrolearn.machines import ClassMoments

pytestmark = pytest.mark.filterwarnings("ignore:EEK?M.* fewer than min_class_size")
by_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def sites(learner, place: np.ndarray) -> list:
    """The learner fitted at each place to its rows; as a stream where it lacks a class."""
    y = targets(learner)
    fitted = []
    for i in np.unique(place):
        some, site = place == i, clone(learner).set_params(store_sums=True)
        if len(np.unique(LABELS[some])) < 3:
            site.partial_fit(X[some], y[some], **announced(learner))
        else:
            site.fit(X[some], y[some])
        fitted.append(site)
    return fitted


@by_learner
@settings(max_examples=5, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_merged_sites_are_the_fit_of_all_rows_in_any_order_and_grouping(learner, data):
    """Of those rows that no site has forgotten in between."""
    seed, n_sites = data.draw(st.integers(0, 2**31)), data.draw(st.integers(1, 6))
    rng, y = np.random.default_rng(seed), targets(learner)
    place, gone = rng.integers(n_sites, size=len(X)), rng.random(len(X)) < 0.1
    waiting = sites(learner, place)
    for site, number in zip(waiting, np.unique(place), strict=True):
        if (some := gone & (place == number)).any():
            site.forget(X[some], y[some])
    while len(waiting) > 1:
        rng.shuffle(waiting)
        some = data.draw(st.integers(2, len(waiting)))
        waiting = [streaming.merge(waiting[:some]), *waiting[some:]]
    assert_same_model(streaming.merge(waiting), clone(learner).fit(X[~gone], y[~gone]))


@by_learner
def test_merge_leaves_the_sites_as_they_were_and_goes_on(learner):
    y, third = targets(learner), np.arange(len(X)) % 3
    first, second, _ = sites(learner, third)
    before = first.hidden_coef_.copy()
    merged = streaming.merge([first, second]).partial_fit(X[third == 2], y[third == 2])
    assert_same_model(merged, clone(learner).fit(X, y))
    assert_array_equal(first.hidden_coef_, before)
    assert_same_model(first, clone(learner).fit(X[third == 0], y[third == 0]))


@by_learner
def test_a_site_that_is_given_twice_counts_twice(learner):
    y, site = targets(learner), clone(learner).set_params(store_sums=True).fit(X, targets(learner))
    twice = clone(learner).fit(np.concatenate([X, X]), np.concatenate([y, y]))
    assert_same_model(streaming.merge([site, site]), twice)


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if is_classifier(learner)])
@pytest.mark.parametrize("words", [False, True])
def test_sites_of_other_classes_give_the_union(name, words):
    labels = np.array(["a", "b", "c"])[LABELS] if words else LABELS
    first, second = labels != np.unique(labels)[2], labels != np.unique(labels)[0]
    fitted = [clone(LEARNERS[name]).set_params(store_sums=True).fit(X[s], labels[s]) for s in (first, second)]
    both = np.concatenate([X[first], X[second]]), np.concatenate([labels[first], labels[second]])
    merged = streaming.merge(fitted)
    assert merged.classes_.tolist() == np.unique(labels).tolist()
    assert_same_model(merged, clone(LEARNERS[name]).fit(*both))


def test_sites_agree_on_a_box_that_holds_the_rows_of_each():
    parts = np.array_split(X * [[3.0] * X.shape[1]] - 1, 3)
    boxes = [streaming.bounds(streaming.rows(part, chunk_rows=20)) for part in parts]
    for part, box in zip(parts, boxes, strict=True):
        assert_array_equal(box, EEMClassifier(5).fit(part, np.arange(len(part)) % 2).bounds_)
    merged = streaming.merge_bounds(boxes)
    assert_array_equal(merged, [np.min(boxes, axis=0)[0], np.max(boxes, axis=0)[1]])
    assert_array_equal(merged, streaming.merge_bounds([boxes[2], streaming.merge_bounds(boxes[:2])]))


@pytest.mark.parametrize(
    ("boxes", "said"),
    [
        ([], "no boxes to merge; accepted: one or more"),
        ([[0, 1]], r"box 0 has shape \(2,\); accepted: \(2, n_features\) of finite numbers"),
        ([np.zeros((3, 2))], r"box 0 has shape \(3, 2\); accepted: \(2, n_features\) of finite numbers"),
        ([["a", [1]]], "box 0 is no array of numbers; accepted"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], r"box 1 has shape \(2, 4\); accepted: \(2, 3\), as box 0"),
        ([[[0.0], [np.nan]]], "no finite bounds"),
    ],
)
def test_boxes_that_do_not_fit_are_refused(boxes, said):
    with pytest.raises(ValueError, match=said):
        streaming.merge_bounds(boxes)


def test_bounds_of_a_list_of_rows_and_of_a_list_of_chunks():
    listed = X[:50].tolist()
    assert_array_equal(streaming.bounds(listed), streaming.bounds(X[:50]))
    assert_array_equal(streaming.bounds([X[:20], X[20:50]]), streaming.bounds(X[:50]))


def test_dask_merges_estimators_where_they_are():
    learner, place = LEARNERS["EEM"], np.arange(len(X)) % 6
    delayed = [dask.delayed(site) for site in sites(learner, place)]
    assert_same_model(streaming.merge(delayed), clone(learner).fit(X, LABELS))


def eem(**settings):
    settings = {"n_hidden": 5, "bounds": (0, 1), "random_state": 0, **settings}
    return EEMClassifier(store_sums=True, **settings).fit(X, LABELS)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda: eem(random_state=1), "another units.weights; draw them with the same random_state"),
        (lambda: eem(bounds=(0, 2)), "another bounds_; agree on one box: streaming.bounds"),
        (lambda: eem(n_hidden=6), "n_hidden=6, and 5 in the first"),
        (lambda: eem(priors=[1, 2, 3]), "priors"),
        (lambda: eem(priors={0: 1, 1: 2, 2: 3}), "priors"),
        (lambda: eem().fit(X[:, 1:], LABELS), "n_features_in_=12, and 13"),
        (lambda: ELMClassifier(store_sums=True).fit(X, LABELS), "'ELMClassifier', and 'EEMClassifier'"),
        (lambda: eem().fit(X, LABELS.astype(str)), "numbers for classes and others words; accepted: one"),
        (lambda: clone(eem()).set_params(store_sums=False).fit(X, LABELS), "store_sums=False"),
        (lambda: SGDClassifier(), "SGDClassifier is no sum over rows; accepted: EEMClassifier, EEKM"),
    ],
)
def test_sites_that_differ_are_refused_by_name(other, said):
    with pytest.raises((TypeError, ValueError), match=said):
        streaming.merge([eem(), other()])


@pytest.mark.parametrize("n_first", [2, 3])
def test_fitted_classifiers_and_streams_merge_in_any_order(n_first):
    learner = ELMClassifier(5, bounds=(0, 1), store_sums=True, random_state=0)
    first = np.isin(LABELS, range(n_first))
    fitted = clone(learner).fit(X[first], LABELS[first])
    stream = clone(learner).partial_fit(X, LABELS, classes=[0, 1, 2])
    whole = clone(learner).fit(X, LABELS)
    both = clone(learner).fit(np.concatenate([X[first], X]), np.concatenate([LABELS[first], LABELS]))
    for pair in ([fitted, stream], [stream, fitted], [fitted, whole], [whole, fitted]):
        merged = streaming.merge(pair)
        assert_same_model(merged, both)
        assert not hasattr(merged, "_n_outputs")


def test_regressors_of_other_outputs_are_refused_in_any_order():
    learner = ELMRegressor(5, bounds=(0, 1), store_sums=True, random_state=0)
    one, column, three = (clone(learner).fit(X, y) for y in (X[:, 0], X[:, :1], X[:, :3]))
    stream = clone(learner).partial_fit(X, X[:, :3])
    for pair, said in (
        ([one, three], "estimator 1: y has 3 outputs, and 1 in the first; give y of one shape to each"),
        ([stream, one], "estimator 1: y has 1 outputs, and 3 in the first"),
        ([one, column], "estimator 1: y has 2 dimensions, and 1 in the first; give y of one shape"),
    ):
        with pytest.raises(ValueError, match=said):
            streaming.merge(pair)
    assert_same_model(streaming.merge([three, stream]), streaming.merge([stream, three]))


def test_no_site_is_refused():
    with pytest.raises(ValueError, match="no estimators to merge; accepted: one or more"):
        streaming.merge([])


def test_landmarks_of_other_rows_are_refused():
    landmarks = LEARNERS["EEKM"].n_landmarks
    for name in ("EEKM", "RKELM"):
        first, second = sites(LEARNERS[name], np.arange(len(X)) % 2)
        second.set_params(n_landmarks=landmarks + 1e-6).fit(X, LABELS)
        with pytest.raises(ValueError, match="another units.landmarks; give the same landmarks to each"):
            streaming.merge([first, second])


def rbf(x, z, gamma=1.0, **others):
    return np.exp(-gamma * np.sum((x - z) ** 2))


class Rbf:
    """A kernel that is an object, without a qualified name."""

    def __init__(self, gamma):
        self.gamma = gamma

    def __call__(self, x, z, **others):
        return rbf(x, z, self.gamma)


@pytest.mark.parametrize(
    "wrapped", [Rbf, lambda gamma: Rbf(gamma).__call__, lambda gamma: partial(rbf, gamma=gamma)]
)
def test_kernels_that_are_callables_are_compared_by_their_values(wrapped, tmp_path):
    """All have one name or none: two lambdas, methods of two objects, partial functions."""

    def site(gamma, rows):
        learner = RKELMClassifier(X[:5], kernel=wrapped(gamma), store_sums=True, random_state=0)
        return learner.fit(X[rows], LABELS[rows])

    first, second, other = site(1.0, slice(None, None, 2)), site(1.0, slice(1, None, 2)), site(2.0, slice(50))
    assert_same_model(streaming.merge([first, second]), site(1.0, slice(None)))
    streaming.save_sums(first, tmp_path / "sums.npz")
    assert_same_model(streaming.load_sums(tmp_path / "sums.npz", second), first)
    for refused in (
        lambda: streaming.merge([first, other]),
        lambda: streaming.load_sums(tmp_path / "sums.npz", other),
    ):
        with pytest.raises(ValueError, match=r"units\.kernel"):
            refused()


def test_activations_that_are_callables_are_compared_by_their_values():
    merged = streaming.merge([eem(activation=partial(np.multiply, 2.0)) for _ in range(2)])
    assert len(merged.classes_) == 3
    with pytest.raises(ValueError, match=r"units\.activation"):
        streaming.merge([eem(activation=partial(np.multiply, factor)) for factor in (2.0, 3.0)])


# --- files ------------------------------------------------------------------------------------------------


@by_learner
def test_sums_from_a_file_are_those_that_were_saved(learner, tmp_path):
    first, second = sites(learner, np.arange(len(X)) % 2)
    for i, site in enumerate((first, second)):
        streaming.save_sums(site, tmp_path / f"{i}.npz")
    unfitted = clone(learner)
    loaded = [
        streaming.load_sums(tmp_path / "0.npz", unfitted),
        streaming.load_sums(tmp_path / "1.npz", first),
    ]
    assert not hasattr(unfitted, "_stream")
    assert_same_model(loaded[0], first, 1e-15)
    assert_same_model(loaded[1], second, 1e-15)
    assert_same_model(streaming.merge(loaded), clone(learner).fit(X, targets(learner)))


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], [1.0, 2.0], np.array([1, 2], np.int8), np.array(["a", "b"], object)],
)
def test_labels_come_back_as_they_were(labels, tmp_path):
    site = eem().fit(X, np.asarray(labels)[(LABELS > 0).astype(int)])
    streaming.save_sums(site, tmp_path / "sums.npz")
    found = streaming.load_sums(tmp_path / "sums.npz", site).classes_
    assert found.dtype == site.classes_.dtype
    assert found.tolist() == list(labels)


@pytest.mark.parametrize(("n_hidden", "kib"), [(250, 246), (1000, 3912)])
def test_a_file_takes_half_a_square_of_each_class(n_hidden, kib, tmp_path):
    site = ELMRegressor(n_hidden, alpha=1.0, store_sums=True, random_state=0).fit(X, X[:, 0])
    streaming.save_sums(site, tmp_path / "sums.npz")
    assert (tmp_path / "sums.npz").stat().st_size / 1024 == pytest.approx(kib, rel=0.05)


def rewritten(content: bytes, compression=zipfile.ZIP_STORED, about=None, **members) -> bytes:
    """The file with another `about.json` or other members; None takes one away."""
    old, new = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(new, "w", compression) as archive:
        for name in [*old.namelist(), *(f"{each}.npy" for each in members)]:
            member = members.get(
                name.removesuffix(".npy"), old.read(name) if name in old.namelist() else None
            )
            if name == "about.json" and about:
                member = json.dumps({**json.loads(member), **about})
            if member is not None and name not in archive.namelist():
                archive.writestr(name, member)
    return new.getvalue()


def array(values, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


def claim(shape: tuple) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(40)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("sums") / "sums.npz"
    streaming.save_sums(eem(), path)
    return path.read_bytes()


AGREED = EEMClassifier(5, bounds=(0, 1), random_state=0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: b"", "File is not a zip file"),
        (lambda file: file[: len(file) // 2], "File is not a zip file"),
        (lambda file: array(np.zeros(3)), "File is not a zip file"),
        (lambda file: rewritten(file, about={"version": 1}), "version 1 of files of sums; accepted: 2"),
        (lambda file: rewritten(file, about={"terms": None}), "does not have the terms of its sums"),
        (lambda file: rewritten(file, about={"n": [[1, 1]]}), "how many rows are in each of 3 sums"),
        (lambda file: rewritten(file, about={"n": [[-1, 1, 1]] * 3}), "how many rows"),
        (lambda file: rewritten(file, about={"classes": [2, 1, 0]}), "classes are not sorted"),
        (lambda file: rewritten(file, about={"classes": [0, 1, 2, 3]}), "how many rows are in each of 4"),
        (lambda file: rewritten(file, about={"dtype": "V8"}), "neither strings nor numbers"),
        (lambda file: rewritten(file, about={"classes": [0, [1], 2]}), "not all of type int64"),
        (
            lambda file: rewritten(file, zipfile.ZIP_DEFLATED),
            "about.json is compressed; accepted: uncompressed members",
        ),
        (lambda file: rewritten(file, **{"0_sum": None}), "members of such a file: '0_sum'"),
        (lambda file: rewritten(file, odd=b"x"), "members of such a file: 'odd'"),
        (lambda file: rewritten(file, **{"0_sum": array(np.zeros(6))}), r"shape \(6,\) .* \(5,\) and float6"),
        (lambda file: rewritten(file, **{"0_sum": array(np.zeros(5, int))}), "type int64; accepted"),
        (lambda file: rewritten(file, **{"0_sum": array(np.full(5, np.nan))}), "0_sum holds numbers that"),
        (lambda file: rewritten(file, **{"0_sum": claim((5,))[:-8]}), "0_sum holds 32 bytes; accepted: 40"),
        (lambda file: rewritten(file, **{"0_sum": claim((2**40,))}), r"shape \(1099511627776,\)"),
        (lambda file: rewritten(file, **{"0_sum": bytes(10**6)}), "0_sum.npy takes 1,000,000 bytes"),
        (
            lambda file: rewritten(file, **{"0_sum": array(np.array([{}] * 5), allow_pickle=True)}),
            "type object; accepted",
        ),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused_in_a_line(saved, tmp_path, change, said):
    path = tmp_path / "sums.npz"
    path.write_bytes(change(saved))
    with pytest.raises(ValueError, match=said) as caught:
        streaming.load_sums(path, AGREED)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


# Rows on the other side of the shift, or with other targets, have these sums with the opposite sign.
SIGNED = {"shift", "sum", "norm2_row", "right", "units", "targets", "unit_shift", "target_shift"}


@by_learner
@pytest.mark.parametrize(
    "change", [np.negative, lambda a: np.nan * a, lambda a: np.inf + a, "shape", "square"]
)
def test_sums_that_no_rows_have_are_refused(learner, change, tmp_path):
    """The last sum, changed in one member after another."""
    (site,), path = sites(learner, np.zeros(len(X))), tmp_path / "sums.npz"
    streaming.save_sums(site, path)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        arrays = {name: np.load(archive.open(name)) for name in archive.namelist() if name.endswith(".npy")}
    last = max(name.partition("_")[0] for name in arrays)
    for name, values in arrays.items():
        i, _, kind = name.removesuffix(".npy").partition("_")
        if i != last or (change is np.negative and kind in SIGNED):
            continue
        if change == "shape":
            values = np.append(values, 0.0)
        elif change == "square":  # which may be indefinite, or not symmetric
            values = np.ones((len(values), len(values)))
        else:
            values = change(values)
        path.write_bytes(rewritten(content, **{f"{i}_{kind}": array(values)}))
        with pytest.raises(ValueError, match=r"^[^\n]*$"):
            streaming.load_sums(path, site)


@by_learner
def test_sums_beyond_what_their_rows_allow_are_refused(learner, tmp_path):
    """An indefinite matrix; a mean or a fourth power too large for the sums of squares; of no rows a sum."""
    (site,), path = sites(learner, np.zeros(len(X))), tmp_path / "sums.npz"
    each = site._stream[-1]
    moments = isinstance(each, ClassMoments)
    names = ["_sum", "_norm2", "_norm2_row"] if moments else ["_units"] * learner.fit_intercept
    places = [("_outer" if moments else "_gram", (1, 0)), *((name, ...) for name in names)]
    for name, place in places:
        values, saved = getattr(each, name), getattr(each, name).copy()
        values[place] = 10 * each.total_square() * (1 + each.n)
        streaming.save_sums(site, path)
        setattr(each, name, saved)
        with pytest.raises(ValueError, match="no rows have such sums"):
            streaming.load_sums(path, site)
    each.n = 0
    streaming.save_sums(site, path)
    with pytest.raises(ValueError, match="no rows have such sums"):
        streaming.load_sums(path, site)


@pytest.mark.parametrize("n_features", [0, -1, 2**60, "many", None])
def test_no_layer_is_drawn_for_a_size_that_is_only_claimed(saved, tmp_path, n_features):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        terms = json.loads(archive.read("about.json"))["terms"]
    (tmp_path / "sums.npz").write_bytes(
        rewritten(saved, about={"terms": {**terms, "n_features_in_": n_features}})
    )
    with pytest.raises(ValueError, match="n_features_in_=.*; accepted: a number"):
        streaming.load_sums(tmp_path / "sums.npz", AGREED)


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (EEMClassifier(5, bounds=(0, 1), random_state=1), "another units.weights"),
        (EEMClassifier(5, bounds=(0, 2), random_state=0), "another bounds_"),
        (EEMClassifier(6, bounds=(0, 1), random_state=0), "the file has n_hidden=5, and 6 in the"),
        (EEMClassifier(5), "draws its hidden units from rows, and there are none; accepted: a fitted one"),
        (ELMClassifier(5, bounds=(0, 1), random_state=0), "estimator='EEMClassifier', and 'ELMC"),
    ],
)
def test_a_file_of_other_units_is_refused(saved, tmp_path, estimator, said):
    (tmp_path / "sums.npz").write_bytes(saved)
    with pytest.raises(ValueError, match=said):
        streaming.load_sums(tmp_path / "sums.npz", estimator)


def test_damage_anywhere_is_refused_or_harmless(saved, tmp_path):
    rng, path, whole = np.random.default_rng(0), tmp_path / "sums.npz", eem()
    for _ in range(40):
        damaged = bytearray(saved)
        for place in rng.integers(len(saved), size=rng.integers(1, 4)):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        with suppress(ValueError):
            assert_allclose(streaming.load_sums(path, AGREED).hidden_coef_, whole.hidden_coef_)
