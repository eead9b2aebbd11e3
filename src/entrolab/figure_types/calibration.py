"""Figures of the calibration of probabilities, from the stored predictions."""

from entrolab.figure_types.by_fold import ByFold, Curve, FoldsDisplay

N_BINS = 10


class Calibration(ByFold):
    """The share of positive rows against their mean probability, in ten bins of almost equal size."""

    shows = "probability"

    def display(self, folds):
        from sklearn.calibration import calibration_curve

        from entrolab.fit.probabilities import calibration_error

        curves = []
        for rows in folds:
            y, probability = rows["y"].to_numpy(), rows["probability"].to_numpy()
            share, mean = calibration_curve(y, probability, n_bins=N_BINS, strategy="quantile")
            curves.append(Curve(mean, share, calibration_error(y, probability)))
        return FoldsDisplay(
            curves,
            "Share of positive rows against their mean probability in ten bins, a curve per fold",
            "mean probability",
            "share of positive rows",
            "calibration error",
            style="o-",
        )
