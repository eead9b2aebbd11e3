"""A learner that is scikit-learn's, until a bug is planted."""

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


class Mine(LinearDiscriminantAnalysis):
    """Predicts `sign` times the rows."""

    sign = 1

    def predict(self, X):
        return super().predict(self.sign * X)
