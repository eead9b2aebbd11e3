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
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharex=True, sharey=True, layout="constrained")
for ax, (name, machine) in zip(axes, machines.items(), strict=True):
    machine.fit(X, y)
    SupportVectorDisplay.from_estimator(machine, X, y).plot(ax)
    error = 1 - machine.score(X_test, y_test)
    ax.set_title(f"{name}: {sum(machine.n_support_)} vectors,\ntest error {100 * error:.1f} %")
plt.show()

# %%
# Filled markers are support vectors, and they need not be close to the boundary. Sparsity has a price: the
# error of ``SVC`` is the smallest of the three on 10,000 other rows, and its fit the fastest.
# ``CrossEntropySVC`` solves hundreds of linear programs, and takes minutes with some thousand rows. The
# weight ``C`` of the losses is 1 for each, although it weighs them against three different penalties: choose
# it separately for each machine.
