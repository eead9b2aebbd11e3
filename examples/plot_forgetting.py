"""
Forgetting a patient
====================

``forget`` takes rows out of a fitted model without the other training rows. The result is not an
approximation: it is the model that a fit without these rows gives, up to rounding.
"""

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from entrolearn import EEMClassifier, influence

X, y = load_breast_cancer(return_X_y=True)

# %%
# The hidden units are drawn in a box of the features. A box that the fit measures would keep the largest
# values of patients, and ``forget`` refuses these patients. In practice, the bounds are those of the
# instruments; here they are one and a half times the largest values. ``store_sums`` keeps the sums over the
# rows.

box = np.array([np.zeros(30), 1.5 * X.max(axis=0).round(2)])
settings = {"n_hidden": 100, "bounds": box, "random_state": 0}
model = EEMClassifier(**settings, store_sums=True).fit(X, y)

# %%
# ``influence`` computes the decision value that each patient would have if the model had been fitted without
# this patient. For the 20 patients of largest influence and 20 others, the figure compares its change with
# that by ``forget``, and the model after ``forget`` with a new fit.

found = influence(model, X, y)
change = np.abs(found.decision - model.decision_function(X))
order = np.argsort(-change)
patients = np.concatenate([order[:20], order[20::28]])
after, distance = [], []
for patient in patients:
    rows = slice(patient, patient + 1)
    forgot = deepcopy(model).forget(X[rows], y[rows])
    refit = EEMClassifier(**settings).fit(np.delete(X, patient, axis=0), np.delete(y, patient))
    after.append(abs(forgot.decision_function(X[rows]) - model.decision_function(X[rows]))[0])
    distance.append(abs(forgot.decision_function(X) - refit.decision_function(X)).max())

figure, ax = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
ranks = np.arange(1, len(patients) + 1)
ax.semilogy(ranks, change[patients], "-", label="influence: change without the patient")
ax.semilogy(ranks, after, "o", markersize=4, label="change by forgetting the patient")
ax.semilogy(ranks, distance, "^", markersize=4, label="forgetting − refitting, all rows")
ax.set(xlabel="patients by influence", ylabel="decision value", ylim=(None, 1e5))
ax.set_title("changes without one patient")
ax.legend(fontsize="small")
plt.show()

# %%
# The difference from a new fit is rounding. What was learnt outside of the model stays: a scaler in front of
# it, parameters that were chosen with the patient, earlier copies. :doc:`/updates` says what is exact and
# what remains.
