"""Figures of precision against recall, from the stored predictions."""

from entrolab.figure_types.by_fold import ByFold, Curve, FoldsDisplay

PERCENT = 100


class PrecisionRecall(ByFold):
    """Precision against recall over all thresholds; the reference line is the share of positive rows."""

    def display(self, folds):
        from sklearn.metrics import average_precision_score, precision_recall_curve

        curves = []
        for rows in folds:
            precision, recall, _ = precision_recall_curve(rows["y"], rows["decision"])
            score = average_precision_score(rows["y"], rows["decision"])
            curves.append(Curve(PERCENT * recall, PERCENT * precision, PERCENT * score))
        share = PERCENT * sum(rows["y"].sum() for rows in folds) / sum(map(len, folds))
        return FoldsDisplay(
            curves,
            "Precision against recall over all thresholds, a curve per fold",
            "recall, %",
            "precision, %",
            "average precision",
            ((0, PERCENT), (share, share)),
        )
