"""
Support vector machines with few support vectors
================================================

The standard support vector machine penalises a norm of the decision function and keeps many training rows.
:class:`~entrolearn.OneNormSVC` penalises the sum of the coefficients, :class:`~entrolearn.CrossEntropySVC`
their number. Prediction time and the size of the model are proportional to the number of support vectors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from entrolearn import CrossEntropySVC, OneNormSVC
from entrolearn.plotting import SupportVectorDisplay

X, y = make_moons(10_200, noise=0.2, random_state=0)
X, X_test, y, y_test = X[:200], X[200:], y[:200], y[200:]

machines = {
    "SVC": SVC(gamma=1.0),
    "OneNormSVC": OneNormSVC(gamma=1.0),
    "CrossEntropySVC": CrossEntropySVC(gamma=1.0, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(6, 3.4), sharex=True, sharey=True, layout="constrained")
for ax, (name, machine) in zip(axes, machines.items(), strict=True):
    machine.fit(X, y)
    SupportVectorDisplay.from_estimator(machine, X, y).plot(ax)
    error = 1 - machine.score(X_test, y_test)
    ax.set_title(f"{name}\n{sum(machine.n_support_)} vectors, {100 * error:.1f} %", fontsize="small")
    ax.label_outer()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
plt.show()

# %%
# Filled markers are support vectors, which need not be close to the boundary; the percentages are errors on
# 10,000 other rows. Sparsity has a price: ``SVC`` has the smallest error and the fastest fit.
# ``CrossEntropySVC`` solves hundreds of linear programs, and takes minutes with some thousand rows. The
# weight ``C`` of the losses is 1 for each machine, although each weighs them against another penalty: choose
# it for each machine separately.
