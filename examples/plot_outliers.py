"""
Regression with outliers: the entropy of the errors
===================================================

Large errors dominate the mean squared error. The entropy of the errors, which
:class:`~entrolearn.ErrorEntropyMLPRegressor` minimises, is low if most errors are nearly equal; a few large
errors hardly count, however large they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from entrolearn.networks import ErrorEntropyMLPRegressor, MSEMLPRegressor

# %%
# A curve with little noise; every fifth value on the right is measured far too high.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1, 1, 300))
truth = np.sin(3 * x)
clean = truth + 0.1 * rng.normal(size=300)
y = clean + (rng.uniform(size=300) < 0.2 * (x > 0)) * rng.uniform(2, 6, 300)

models = {
    "error entropy": ErrorEntropyMLPRegressor(bandwidth=0.5, max_iter=500, random_state=0),
    "squared error": MSEMLPRegressor(n_hidden=10, learning_rate=0.1, max_iter=500, random_state=0),
    "absolute, trees": HistGradientBoostingRegressor(loss="absolute_error", random_state=0),
}


def deviation(values):
    return np.sqrt(np.mean((values - truth) ** 2))


# %%
# The entropy does not depend on the level of the errors, and the regressor makes their mean zero. The
# outliers therefore still move its level. The right panel moves each curve by the median of its errors
# instead. The numbers are deviations from the truth.

figure, axes = plt.subplots(1, 2, figsize=(6, 3.4), sharey=True, layout="constrained")
for name, style in zip(models, ("-", "--", ":"), strict=True):
    model = models[name]
    without = deviation(model.fit(x[:, None], clean).predict(x[:, None]))
    fitted = model.fit(x[:, None], y).predict(x[:, None])
    moved = fitted + np.median(y - fitted)
    print(f"{name}: deviation {without:.3f} without outliers, {deviation(fitted):.3f} with them")
    for ax, curve in zip(axes, (fitted, moved), strict=True):
        ax.plot(x, curve, style, label=f"{name} {deviation(curve):.2f}", linewidth=2, zorder=3)
for ax, title in zip(axes, ("as fitted", "moved by the median error"), strict=True):
    ax.plot(x, y, ".", color="0.6", markersize=3)
    ax.set(title=title, xlabel="x", ylim=(-2, 9))
    ax.legend(fontsize="small", loc="upper left")
plt.show()

# %%
# Moved to the level of most rows, the network that minimises the entropy is as close to the truth as without
# outliers; that of the squared error is not, since the outliers have changed its form. Where a level matters,
# minimising the absolute error is simpler: it needs no correction, and the trees are slightly better here.
