"""Figures of receiver operating characteristics, from the stored predictions."""

from entrolab.figure_types.by_fold import ByFold, Curve, FoldsDisplay

PERCENT = 100


class Roc(ByFold):
    """The share of positive rows that is found against the share of negative rows taken for positive."""

    def display(self, folds):
        from sklearn.metrics import roc_auc_score, roc_curve

        curves = []
        for rows in folds:
            false, true, _ = roc_curve(rows["y"], rows["decision"])
            auc = roc_auc_score(rows["y"], rows["decision"])
            curves.append(Curve(PERCENT * false, PERCENT * true, PERCENT * auc))
        return FoldsDisplay(
            curves,
            "Positive rows found against negative rows taken for positive, a curve per fold",
            "negative rows taken for positive, %",
            "positive rows found, %",
            "AUC",
            ((0, PERCENT), (0, PERCENT)),
        )
