"""Preprocessing fitted on training rows: imputation, encoding of categories, scaling."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
    TargetEncoder,
)

from entrolab.data.dataset import Dataset

__all__ = ["MOST_CATEGORIES", "SCALES", "preprocessed", "preprocessor"]

SCALES = {
    "minmax": MinMaxScaler,
    "maxabs": MaxAbsScaler,
    "standard": StandardScaler,
    "none": FunctionTransformer,
}
N_FOLDS = 5  # folds within the training rows, for target encoding
MOST_CATEGORIES = 100  # columns of a one-hot encoding; the last one is for all rarer categories


def preprocessor(dataset: Dataset, entry: Mapping, seed: int = 0) -> BaseEstimator:
    """The unfitted preprocessor of a prepared data set; `seed` is that of the folds of target encoding.

    `entry` is a study's ``preprocessing``: `scale` is one of :data:`SCALES`, `categories` "one-hot",
    "ordinal" or "target". Sparse rows stay sparse: they are divided by the largest absolute values, or not
    scaled.
    """
    scaler = SCALES[entry["scale"]]
    if sparse.issparse(dataset.X):
        return scaler(accept_sparse=True) if scaler is FunctionTransformer else MaxAbsScaler()
    encoded = (dataset.columns or {}).get("encoded", {})
    kinds = [encoded.get(name) for name in dataset.feature_names]
    categories = [place for place, kind in enumerate(kinds) if isinstance(kind, list)]
    numbers = [place for place, kind in enumerate(kinds) if not isinstance(kind, list)]
    codes = [np.arange(len(kinds[place]), dtype=float) for place in categories]
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    by_number = make_pipeline(impute, scaler()) if dataset.columns else scaler()
    by_category = {
        "one-hot": lambda: OneHotEncoder(
            categories=codes,
            handle_unknown="infrequent_if_exist",
            max_categories=MOST_CATEGORIES,
            sparse_output=False,
        ),
        "ordinal": lambda: make_pipeline(
            SimpleImputer(strategy="most_frequent", keep_empty_features=True), scaler()
        ),
        "target": lambda: make_pipeline(
            TargetEncoder(categories=codes, cv=KFold(N_FOLDS, shuffle=True, random_state=seed)), scaler()
        ),
    }[entry["categories"]]
    if not categories:
        return by_number
    parts = [("numbers", by_number, numbers)] if numbers else []
    parts.append(("categories", by_category(), categories))
    return ColumnTransformer(parts, sparse_threshold=0, verbose_feature_names_out=False)


def preprocessed(dataset: Dataset, entry: Mapping) -> Dataset:
    """The data set with preprocessing fitted on all rows, for figures and measurements."""
    fitted = preprocessor(dataset, entry)
    X = fitted.fit_transform(dataset.X, dataset.y)
    names = dataset.feature_names
    if isinstance(fitted, ColumnTransformer):
        # The encoders' own feature names contain codes of categories instead of their names.
        names = [f"x{place + 1}" for place in range(X.shape[1])]
        if X.shape[1] == dataset.n_features:
            places = [place for _, _, part in fitted.transformers for place in part]
            names = [dataset.feature_names[place] for place in places]
    return replace(dataset, X=X, feature_names=names, columns=None)
