"""Figures of receiver operating characteristics, from the stored predictions."""

from entrolab.figure_types.by_fold import ByFold, Curve, FoldsDisplay

PERCENT = 100


class Roc(ByFold):
    """The true positive rate against the false positive rate."""

    def display(self, folds):
        from sklearn.metrics import roc_auc_score, roc_curve

        curves = []
        for rows in folds:
            false, true, _ = roc_curve(rows["y"], rows["decision"])
            auc = roc_auc_score(rows["y"], rows["decision"])
            curves.append(Curve(PERCENT * false, PERCENT * true, PERCENT * auc))
        return FoldsDisplay(
            curves,
            "True positive rate against false positive rate, a curve per fold",
            "false positive rate, %",
            "true positive rate, %",
            "AUC",
            ((0, PERCENT), (0, PERCENT)),
        )
