"""
A plane in which classes are apart: MELM
========================================

:class:`~entrolearn.MELM` looks for the plane in which the densities of the classes differ most. Linear
discriminant analysis (LDA) compares only the means of the classes, and principal component analysis (PCA)
does not see the classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from entrolearn import MELM
from entrolearn.plotting import ProjectionDisplay

# %%
# The first data set has a known truth: three classes with the same mean, each of two opposite groups in a
# plane of a space of ten dimensions, in which all directions have the same variance. The second one has the
# handwritten digits 3, 5 and 8, of 64 pixels each.

rng = np.random.default_rng(0)
classes = rng.integers(3, size=600)
angle = np.pi * (classes / 3 + rng.integers(2, size=600))
groups = rng.normal(size=(600, 10), scale=[1, 1, *8 * [3]])
groups[:, :2] += 4 * np.column_stack([np.cos(angle), np.sin(angle)])
rotation = np.linalg.qr(rng.normal(size=(10, 10)))[0]
digits = load_digits()
chosen = np.isin(digits.target, [3, 5, 8])
sets = {"equal means": (groups @ rotation, classes), "digits": (digits.data[chosen], digits.target[chosen])}

# %%
# The planes are found on half of the rows; the other half is drawn and scored by its nearest neighbours in
# the plane.

planes = {"PCA": PCA(2), "LDA": LinearDiscriminantAnalysis(), "MELM": MELM(n_init=4, random_state=0)}
figure, axes = plt.subplots(2, 3, figsize=(6, 4.8), layout="constrained")
for row, (name, (X, y)) in zip(axes, sets.items(), strict=True):
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    for ax, (title, plane) in zip(row, planes.items(), strict=True):
        Z = plane.fit(X, y).transform(X)
        score = KNeighborsClassifier(10).fit(Z, y).score(plane.transform(X_test), y_test)
        ProjectionDisplay.from_estimator(plane, X_test, y_test, display_labels=list("ABC")).plot(ax)
        ax.set(title=f"{title}: {100 * score:.0f} %", xlabel="", ylabel="", xticks=[], yticks=[])
    row[0].set_ylabel(name)
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small")
plt.show()

# %%
# Only MELM finds the plane of the equal means. The digits differ in their means, and LDA separates them
# better, in far less time.
