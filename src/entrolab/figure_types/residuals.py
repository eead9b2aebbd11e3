"""Figures of the residuals of regressions, from the stored predictions."""

from entrolab.figure_types.by_fold import ByFold, Curve, FoldsDisplay


class Residuals(ByFold):
    """The true minus the predicted value, against the predicted value, a point per test row."""

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
            "True minus predicted values against predicted values, a point per test row",
            "predicted value",
            "true minus predicted value",
            "RMSE",
            (tuple(ends), (0, 0)),
            "o",
        )
