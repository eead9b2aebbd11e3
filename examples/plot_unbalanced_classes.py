"""
Unbalanced classes: EEM against trees
=====================================

An extreme entropy machine (:class:`~entrolearn.EEMClassifier`) gives both classes the same weight, however
rare one of them is. Trees minimise a loss over all rows, in which a rare class hardly counts. The example
compares them by GMEAN, the geometric mean of the two recalls (:func:`~entrolearn.gmean_score`), and by the
area under the ROC curve (AUC).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import TunedThresholdClassifierCV

from entrolearn import EEMClassifier, gmean_score

models = {
    "EEM": EEMClassifier(random_state=0),
    "trees": HistGradientBoostingClassifier(random_state=0),
    "trees, weighted": HistGradientBoostingClassifier(random_state=0, class_weight="balanced"),
    "trees, threshold": TunedThresholdClassifierCV(HistGradientBoostingClassifier(random_state=0), cv=3),
}

# %%
# Each model learns from 1000 rows and is scored on 4000 others, in which the class is equally rare.

shares = [0.5, 0.1, 0.02]
gmean, auc = {name: [] for name in models}, {name: [] for name in models}
for share in shares:
    X, y = make_classification(
        5000, 10, n_informative=6, n_clusters_per_class=3, weights=[1 - share], flip_y=0, random_state=0
    )
    for name, model in models.items():
        model.fit(X[:1000], y[:1000])
        gmean[name].append(gmean_score(y[1000:], model.predict(X[1000:])))
        auc[name].append(roc_auc_score(y[1000:], model.predict_proba(X[1000:])[:, 1]))

figure, axes = plt.subplots(1, 2, figsize=(6, 3.4), sharey=True, layout="constrained")
for ax, title, scores in zip(axes, ("GMEAN", "AUC"), (gmean, auc), strict=True):
    for name, style in zip(models, ("o-", "s--", "^:", "D-."), strict=True):
        ax.plot(shares, scores[name], style, label=name, markersize=4)
    ax.set(title=title, xlabel="share of the rare class", xscale="log", ylim=(0, 1))
    ax.set_xticks(shares, [f"{100 * share:.0f} %" for share in shares], minor=False)
    ax.minorticks_off()
    ax.invert_xaxis()
axes[0].legend(fontsize="small", loc="lower left")
plt.show()

# %%
# With balanced classes the trees are ahead. The rarer the class, the more of its rows they miss, although
# they rank the rows about as well as the EEM does: what fails is the threshold. Class weights correct it in
# part. A threshold chosen by cross-validation corrects it with 100 training rows of the class, but not with
# 20.
