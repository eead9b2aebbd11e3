"""
A billion rows, in small
========================

An extreme entropy machine is fitted from sums over the rows, so that rows can come in chunks and be dropped.
The sums of 300 hidden units take the same memory for 100,000 rows, as here, as for a billion.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from entrolearn import EEMClassifier

# %%
# Chunks are drawn when they are needed. The label depends on a sphere, or on steps of single features.

truths = {
    "sphere": lambda X: (X**2).sum(axis=1) > 7.34,
    "steps": lambda X: (X > 0.5).sum(axis=1) > 2,
}


def chunk(seed, truth):
    X = np.random.default_rng(seed).normal(size=(10_000, 8))
    return X, truth(X)


# %%
# ``partial_fit`` reads each chunk once. Hidden units are drawn in a box of the features, which is given here;
# by default it is that of the first chunk. The same estimator and boosted trees learn from all rows in
# memory.

settings = {"n_hidden": 300, "bounds": np.array([8 * [-4], 8 * [4]]), "random_state": 0}
figure, axes = plt.subplots(1, 2, figsize=(6, 3.2), sharey=True, layout="constrained")
for ax, (name, truth) in zip(axes, truths.items(), strict=True):
    X_test, y_test = chunk(10, truth)
    stream, errors = EEMClassifier(**settings), []
    for seed in range(10):
        stream.partial_fit(*chunk(seed, truth), classes=[False, True])
        errors.append(1 - stream.score(X_test, y_test))
    chunks = [chunk(seed, truth) for seed in range(10)]
    X, y = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    whole = EEMClassifier(**settings).fit(X, y)
    trees = HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(X, y)
    difference = np.abs(whole.decision_function(X_test) - stream.decision_function(X_test)).max()
    print(f"{name}: largest difference between streamed and in memory, in nats: {difference:.0e}")
    ax.loglog(np.arange(10_000, 110_000, 10_000), errors, "o-", label="EEM, streamed", markersize=4)
    ax.loglog(len(X), 1 - whole.score(X_test, y_test), "*k", markersize=11, label="EEM, in memory")
    ax.loglog(len(X), 1 - trees.score(X_test, y_test), "D", label="trees, in memory")
    ax.set(title=name, xlabel="rows", ylabel="error on other rows")
    ax.label_outer()
axes[0].legend(fontsize="small")
plt.show()

# %%
# The stream gives the model that a fit of all rows gives, which suits the sphere but not the steps: there
# trees are far better. :doc:`How far it goes </scaling>` measures time and memory up to ten million rows,
# and estimates them for a billion.
