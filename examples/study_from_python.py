"""
A study from Python
===================

``entrolab.run_study`` runs a study as the command ``entrolab`` does: it splits the data, fits every model on
the same splits, searches the grids within the training rows, tracks the runs, and renders tables and a
report. It returns the results as data frames.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from entrolab import run_study

# %%
# A study is data: tables, models as import paths, and whatever departs from the defaults. Here it is a
# mapping with a data frame; it may also be the file of
# :doc:`a study of your own </tutorials/your-own-study>`.

folder = Path(mkdtemp())
study = {
    "title": "Which cultivar is a wine made of?",
    "datasets": {"wine": {"file": load_wine(as_frame=True).frame, "label": "target"}},
    "models": {
        "forest": "sklearn.ensemble.RandomForestClassifier",
        "svm": {"estimator": "sklearn.svm.SVC", "grid": {"C": [1, 10, 100]}},
        "eem": {"estimator": "entrolearn.EEMClassifier", "grid": {"n_hidden": [50, 100, 200]}},
    },
    "metrics": ["balanced_accuracy"],
}
results = run_study(study, name="wines", folder=folder)

# %%
# ``scores`` has a row for each model, fold and metric, with the parameters that were chosen. The folds are
# the same for all models, so that scores of the same fold can be compared.

chosen = results.scores.query("criterion == 'cv'")
folds = chosen.pivot(index="fold", columns="model", values="score")[list(study["models"])]
print(folds.mean())
figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(folds.columns, folds.T, "o-", color="0.7", markersize=4)
ax.plot(folds.columns, folds.mean(), "D", color="black", label="mean")
ax.set(title="five folds of the wine data", ylabel="balanced accuracy")
ax.legend()
plt.show()

# %%
# .. image:: /images/study-from-python.svg
#    :alt: Balanced accuracy of three models in five folds, with their means, all between 0.97 and 1.
#
# The models differ less than the folds: this table does not say which model is better. The report is in
# ``results/report`` of the folder. The same call with another model added fits only that one. A test runs
# this example instead of the build of this page, because a study takes half a minute.

# sphinx_gallery_thumbnail_path = "images/study-from-python.svg"
