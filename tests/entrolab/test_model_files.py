"""Fitted models in files: what is written is read back, and nothing that nobody vouched for."""

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections import OrderedDict, defaultdict
from contextlib import suppress

import model_file_fuzz
import numpy as np
import pytest
import skops.io
from crafted_models import called, write_model
from fuzz.cases import CLASSES, DEFAULT, SEARCHES, make_estimator, own_settings, rows_and_targets
from fuzz.laws import outputs
from many_cases import for_each
from scipy.sparse import csr_array, issparse
from scipy.stats import norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostRegressor, HistGradientBoostingClassifier, VotingClassifier
from sklearn.feature_selection import (
    SelectKBest,
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
    r_regression,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.impute import SimpleImputer
from sklearn.linear_model import TweedieRegressor
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.multiclass import OutputCodeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.random_projection import SparseRandomProjection
from sklearn.svm import SVC

from entrolab.io.model_reading import (
    TRUSTED_CLASSES,
    TRUSTED_FUNCTIONS,
    NoModel,
    Refused,
    load,
    load_fitted,
    trusted_types,
)
from entrolearn import EEMClassifier, RKELMClassifier
from entrolearn.manifold import ClassPCA

X, y = np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]]), np.array([0, 1, 1, 0])


def doubled(rows):
    return 2 * rows


def test_a_stored_model_predicts_the_same(tmp_path):
    fitted = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    skops.io.dump(fitted, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops", ["sklearn.svm.SVC"])
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_a_new_process_finds_the_estimators_of_entrolearn(tmp_path):
    fitted = make_pipeline(ClassPCA(), EEMClassifier(5, min_class_size=0, random_state=0)).fit(X, y)
    skops.io.dump(fitted, tmp_path / "model.skops")
    program = (
        "import sys; from entrolab.io.model_reading import load; print(*map(type, load(sys.argv[1], [])))"
    )
    command = [sys.executable, "-c", program, tmp_path / "model.skops"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{ClassPCA} {EEMClassifier}\n"


def test_types_of_other_packages_are_read_only_where_the_study_names_them(tmp_path):
    fitted = make_pipeline(FunctionTransformer(doubled), SVC()).fit(X, y)
    skops.io.dump(fitted, tmp_path / "model.skops")
    name = f"{doubled.__module__}.doubled"
    held = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    for named, stored in (["sklearn.svm.SVC"], held), ([f"{doubled.__module__}.Learner"], []):
        with pytest.raises(ValueError, match=rf"the model contains {name}, so it is neither"):
            load(tmp_path / "model.skops", named, stored)
    assert trusted_types(tmp_path / "model.skops", [f"{doubled.__module__}.Learner"], held) == [name]


SCORES = [chi2, f_classif, f_regression, mutual_info_classif, mutual_info_regression, r_regression]
HOLDERS = [
    AdaBoostRegressor(n_estimators=2),
    CalibratedClassifierCV(SVC(), cv=2),
    GaussianProcessClassifier(),
    GaussianProcessRegressor(1.0 * RBF()),
    GridSearchCV(SVC(), {"C": [1.0]}, cv=StratifiedKFold(2)),
    GridSearchCV(SVC(), {"C": [1.0]}, cv=KFold(2)),
    HistGradientBoostingClassifier(max_iter=2),
    KNeighborsClassifier(2, algorithm="ball_tree", p=1),
    KNeighborsClassifier(2, algorithm="kd_tree"),
    MLPClassifier(2, max_iter=1),
    OutputCodeClassifier(SVC(), code_size=1, random_state=0),
    SimpleImputer(),
    SparseRandomProjection(2),
    SVC(class_weight=defaultdict(OrderedDict)),  # a type that is in every model of LightGBM
    *(SelectKBest(score, k=1) for score in SCORES),
    TweedieRegressor(power=0),
    VotingClassifier([("svc", SVC())]),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_of_scikit_learn_hold_what_is_trusted_and_no_more_is(tmp_path):
    rows, labels = np.tile(X, (5, 1)) + np.arange(20)[:, None] % 7, np.tile(y, 5)
    held = set()
    # RKELM and nearest neighbours store training rows in their sparse type.
    of_sparse = [(RKELMClassifier(2), csr_array(rows)), (KNeighborsClassifier(2), csr_array(rows))]
    for holder, fitted_on in [(one, rows) for one in HOLDERS] + of_sparse:
        skops.io.dump(holder.fit(fitted_on, labels), tmp_path / "model.skops")
        held |= set(trusted_types(tmp_path / "model.skops", []))
        again = load(tmp_path / "model.skops", [])
        np.testing.assert_array_equal(_output(again, fitted_on), _output(holder, fitted_on))
    held = {name for name in held if not name.startswith("entrolearn.")}
    trusted = TRUSTED_CLASSES | TRUSTED_FUNCTIONS
    assert held == {name for name in trusted if not name.startswith("entrolearn.")}


def _output(fitted, rows):
    found = (fitted.predict if hasattr(fitted, "predict") else fitted.transform)(rows)
    return found.toarray() if issparse(found) else found


@pytest.mark.fault("Trust", "a tampered model that names a distribution of scipy", "refused; it did not run")
def test_a_class_that_runs_a_text_of_its_state_is_not_trusted(tmp_path):
    file, ran = tmp_path / "model.skops", tmp_path / "ran"
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(norm))) as whole, zipfile.ZipFile(file, "w") as archive:
        for name in whole.namelist():
            content = whole.read(name)
            if name == "schema.json":
                schema = json.loads(content)
                text = schema["content"]["content"]["_parse_arg_template"]
                text["content"] = json.dumps(f"open({str(ran)!r}, 'w')")
                content = json.dumps(schema)
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=r"the model contains .*scipy\.stats\._continuous_distns\.norm_gen"):
        load(file, [])
    assert not ran.exists()
    with suppress(Exception):  # whatever comes of such a distribution
        skops.io.load(file, trusted=skops.io.get_untrusted_types(file=file))
    assert ran.exists()  # so that nothing ran is due to the refusal


@pytest.mark.fault("Trust", "a packed model of a thousand times its size", "refused before it is read")
def test_a_file_that_expands_to_many_times_its_size_is_refused(tmp_path):
    file = tmp_path / "model.skops"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
        archive.writestr("array.npy", bytes(10**7))
    with pytest.raises(ValueError, match=r"expands to 10,000,002 bytes, more than 20 times its size\)"):
        load(file, [])


def test_a_file_that_is_cut_is_named(tmp_path):
    (tmp_path / "model.skops").write_bytes(skops.io.dumps(SVC().fit(X, y))[:100])
    with pytest.raises(ValueError, match=r"model\.skops: not a complete model file .*; delete it"):
        load(tmp_path / "model.skops", [])


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.mark.fault("Trust", "a pickle under the name of a model", "refused; it did not run")
@pytest.mark.parametrize("packed", [False, True], ids=["bare", "in an archive"])
def test_a_pickle_is_not_unpickled(tmp_path, packed):
    file, harm = tmp_path / "model.skops", pickle.dumps(Payload(tmp_path / "ran"))
    file.write_bytes(harm)
    if packed:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("schema.json", harm)
    with pytest.raises(ValueError, match=r"model\.skops: not a complete model file"):
        load(file, ["sklearn.svm.SVC"])
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.fault("Trust", "a pickle beside a study that asks for skops", "refused; it did not run")
@pytest.mark.parametrize(
    ("facts", "model_format", "error"),
    [
        ({"format": "cloudpickle"}, "skops", Refused),
        ({"format": "pickle"}, "cloudpickle", Refused),
        ({"format": "skops", "types": []}, "cloudpickle", NoModel),
        ({"error": "singular"}, "cloudpickle", NoModel),
    ],
)
def test_a_pickle_is_opened_only_if_the_study_asks_for_it(tmp_path, facts, model_format, error):
    (tmp_path / "cv.pkl").write_bytes(pickle.dumps(Payload(tmp_path / "ran")))
    (tmp_path / "cv.json").write_text(json.dumps(facts))
    with pytest.raises(error):
        load_fitted(tmp_path, "cv", [], model_format)
    assert not (tmp_path / "ran").exists()
    (tmp_path / "cv.json").write_text(json.dumps({"format": "cloudpickle"}))
    load_fitted(tmp_path, "cv", [], "cloudpickle")
    assert (tmp_path / "ran").exists()  # so that nothing ran is due to the refusal


@pytest.mark.fault("Trust", "a pickled array in a model", "refused; it did not run")
def test_objects_in_the_arrays_of_a_model_are_not_unpickled(tmp_path):
    file = tmp_path / "model.skops"
    with (
        zipfile.ZipFile(io.BytesIO(skops.io.dumps(SVC().fit(X, y)))) as whole,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            if name.endswith(".npy"):
                buffer = io.BytesIO()
                np.save(buffer, np.array([Payload(tmp_path / "ran")], dtype=object))
                content = buffer.getvalue()
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=r"model\.skops: not a complete model file \(Object arrays cannot"):
        load(file, ["sklearn.svm.SVC"])
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.fault(
    "Trust", "a model that names os.system, or what else runs or writes", "refused; it did not run"
)
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "mkdir"),
        ("posix", "mkdir"),
        ("builtins", "exec"),
        # Of packages that models are made of: a function that runs a text, what a module has imported from
        # elsewhere, classes that open a file for writing.
        ("numpy.testing", "measure"),
        ("sklearn.utils._testing", "check_output"),
        ("sklearn.datasets._base", "urlretrieve"),
        ("sklearn.datasets._openml", "GzipFile"),
        ("numpy", "memmap"),
        ("scipy.io", "netcdf_file"),
        ("entrolab.io.model_reading", "os.mkdir"),
        ("sklearn.feature_selection._univariate_selection", "f_classif"),  # may be named, but not called
        ("sklearn.no_such_module", "Thing"),
        ("sklearn.svm", "NoSuchThing"),
    ],
)
def test_what_could_run_is_refused_before_it_is_called(tmp_path, module, name):
    file, ran = tmp_path / "model.skops", tmp_path / "ran"
    text = f"open({str(ran)!r}, 'w')" if name in ("exec", "measure") else str(ran)
    write_model(file, called(module, name, text))
    with pytest.raises(ValueError, match=rf"the model contains {module}.{name}, so it is") as caught:
        load(file, ["sklearn.svm.SVC"])
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.fault(
    "Trust", "a model that calls a function of the study's packages", "refused; it did not run"
)
@pytest.mark.parametrize("loader", ["ConstructorFromReduceNode", "LossNode"])
def test_a_function_that_was_stored_is_a_value_and_is_never_called(tmp_path, loader):
    file, ran = tmp_path / "model.skops", tmp_path / "ran"
    write_model(file, called("numpy.testing", "measure", f"open({str(ran)!r}, 'w')", loader=loader))
    with pytest.raises(ValueError, match=r"the model contains numpy\.testing\.measure"):
        load(file, ["numpy.testing.Learner"], ["numpy.testing.measure"])
    assert not ran.exists()


def test_such_a_file_would_run_where_it_is_trusted(tmp_path):
    """What the test above relies on: that nothing ran is due to the refusal."""
    runs = called("numpy.testing", "measure", f"open({str(tmp_path / 'ran')!r}, 'w')")
    write_model(tmp_path / "model.skops", runs)
    found = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    skops.io.load(tmp_path / "model.skops", trusted=found)
    assert (tmp_path / "ran").exists()


@pytest.mark.fault("Trust", "model files of every class that the loader accepts, in nine forms", "none runs")
def test_model_files_that_are_crafted_run_nothing():
    counts, findings = model_file_fuzz.run(step=model_file_fuzz.STEP)
    assert findings == []
    assert counts["refused"] > counts["loaded"] > 0


def test_a_model_file_that_runs_its_text_is_a_finding(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def trusting(file, named):
        return skops.io.load(file, trusted=skops.io.get_untrusted_types(file=file))

    monkeypatch.setattr(model_file_fuzz, "accepted", lambda: ["builtins.exec"])
    monkeypatch.setattr(model_file_fuzz, "load", trusting)
    _, findings = model_file_fuzz.run()
    assert any("exec as called by its constructor: FAILED: compile" in finding for finding in findings)
    assert list(tmp_path.iterdir()) == []  # it ran in a temporary folder


@pytest.mark.fault("Laws", "stored by skops and read back", "the same answers to the last bit")
@pytest.mark.parametrize("cases", [sorted(CLASSES)], ids=[""])
@for_each("name")
def test_every_public_estimator_is_read_back(tmp_path, name):
    rows, targets = rows_and_targets(name, {})
    settings = SEARCHES[1] if name == "EntropySearch" else own_settings(DEFAULT[name])
    fitted = make_estimator(name, settings).fit(rows, targets)
    skops.io.dump(fitted, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops", [])
    for answer, output in outputs(fitted, rows).items():
        np.testing.assert_array_equal(outputs(again, rows)[answer], output, err_msg=answer)
