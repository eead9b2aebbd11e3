"""Figures of the residuals of regressions, from the stored predictions."""

from entrolab.figure_types.by_fold import ByFold, Curve, FoldsDisplay


class Residuals(ByFold):
    """The true value less the predicted one, against the predicted one, a point per test row."""

    tasks = ("regression",)
    shows = "prediction"

    def display(self, folds):
        curves = []
        for rows in folds:
            predicted = rows["prediction"].to_numpy(dtype=float)
            residual = rows["y"].to_numpy(dtype=float) - predicted
            curves.append(Curve(predicted, residual, float((residual**2).mean() ** 0.5)))
        ends = [min(curve.x.min() for curve in curves), max(curve.x.max() for curve in curves)]
        return FoldsDisplay(
            curves,
            "True less predicted values against predicted ones, a point per row left out",
            "predicted value",
            "true less predicted value",
            "RMSE",
            (tuple(ends), (0, 0)),
            "o",
        )
