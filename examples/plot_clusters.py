"""
Stretched clusters of an unknown number
=======================================

:class:`~entrolearn.CrossEntropyClustering` minimises the length of a code for the rows in which each cluster
has a normal density of its own. It starts with more clusters than needed, here ten, and removes or merges
those that do not shorten the code.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from entrolearn import CrossEntropyClustering
from entrolearn.plotting import ClusteringsDisplay

# %%
# Three groups of 300 rows, ten times as long as wide. k-means is told the number of groups. The number of
# components of the Gaussian mixture is chosen by the Bayesian information criterion (BIC).

rng = np.random.default_rng(0)
parts = []
for centre, angle in [((0, 0), 0.2), ((0, 3), 0.2), ((8, 0), 1.8)]:
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    parts.append(centre + rng.normal(size=(300, 2)) * [3, 0.3] @ rotation)
X, groups = np.concatenate(parts), np.repeat([0, 1, 2], 300)

mixtures = [GaussianMixture(k, n_init=5, random_state=0).fit(X) for k in range(1, 7)]
clusterings = {
    "k-means": KMeans(3, n_init=10, random_state=0).fit_predict(X),
    "mixture, BIC": min(mixtures, key=lambda mixture: mixture.bic(X)).predict(X),
    "cross-entropy": CrossEntropyClustering(10, random_state=0).fit_predict(X),
}
print({name: len(np.unique(labels)) for name, labels in clusterings.items()})

axes = plt.subplots(1, 3, figsize=(6, 2.8), squeeze=False, layout="constrained")[1]
ClusteringsDisplay({"rows": X}, {"rows": groups}, {"rows": clusterings}).plot(axes)
plt.show()

# %%
# The number in each corner is the adjusted Rand index; 1 is a perfect agreement with the groups. The mixture
# starts from the clusters of k-means, which fit such groups badly, and ends with five components.
# Cross-entropy clustering needs enough rows: of six draws with 100 or 150 rows in each group, two end with
# six or seven clusters.
