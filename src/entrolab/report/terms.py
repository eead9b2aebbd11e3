"""Explanations of the acronyms that a study's page uses for metrics and learners."""

from entrolab.fit.metrics import METRICS
from entrolab.fit.run import BASELINE
from entrolab.report.studies import trained
from entrolab.study.study import Study
from entrolab.text import one_line

OF_METRICS = {
    "gmean": "geometric mean of the recalls of all classes; zero if no row of some class is recognised",
    "balanced_accuracy": "mean of the recalls of all classes",
    "f1": "harmonic mean of precision and recall",
    "auc": "area under the receiver operating characteristic curve",
    "rmse": "root mean squared error",
    "r2": "coefficient of determination, the share of the variance that is explained",
}
# The names of learners by the name of their class, or by the label of a model of several steps.
OF_LEARNERS = {
    "2ePCA": "principal components of the covariance within classes, with equal weights of the classes",
    "cPCA": "principal components of the covariance within classes",
    "CrossEntropyClustering": "cross-entropy clustering",
    "CrossEntropyMethodClustering": "clustering by the cross-entropy method",
    "CrossEntropySVC": "zero-norm support vector machine, by the cross-entropy method",
    "EEKMClassifier": "extreme entropy kernel machine",
    "EEMClassifier": "extreme entropy machine",
    "DecisionTreeClassifier": "classification tree",
    "ELM": "extreme learning machine",
    "ELM-RBF": "extreme learning machine with radial basis functions",
    "ELMClassifier": "extreme learning machine",
    "ErrorEntropyMLPClassifier": "multilayer perceptron that minimises the entropy of its errors",
    "ErrorEntropyMLPRegressor": "multilayer perceptron that minimises the entropy of its errors",
    "FA": "factor analysis",
    "GEM": "generalised eigenvectors for discriminative features",
    "HDBSCAN": "hierarchical density-based clustering",
    "I": "the features as they are",
    "ICA": "independent component analysis",
    "KDEClassifier": "classifier by kernel density estimates",
    "KELM": "kernel extreme learning machine",
    "KELMClassifier": "kernel extreme learning machine",
    "KLClustering": "clustering by the Kullback–Leibler divergence",
    "LS-SVM": "least-squares support vector machine",
    "LSSVC": "least-squares support vector machine",
    "LinearDiscriminantAnalysis": "linear discriminant analysis",
    "LinearSVC": "linear support vector machine",
    "LogisticRegression": "logistic regression",
    "MELM": "maximum entropy linear manifold",
    "MLPClassifier": "multilayer perceptron",
    "MSEMLPClassifier": "multilayer perceptron that minimises the mean squared error",
    "MSEMLPRegressor": "multilayer perceptron that minimises the mean squared error",
    "MaxEntClassifier": "maximum entropy classifier",
    "NMF": "nonnegative matrix factorisation",
    "NuSVC": "support vector machine",
    "OneNormSVC": "one-norm support vector machine",
    "PCA": "principal component analysis",
    "pPCA": "the first principal component of each class in turn",
    "RKELM": "reduced kernel extreme learning machine",
    "RKELMClassifier": "reduced kernel extreme learning machine",
    "RSVC": "reduced support vector machine",
    "RSVR": "reduced support vector machine",
    "SVC": "support vector machine",
    "SVR": "support vector machine",
    "WELMClassifier": "weighted extreme learning machine",
}


def terms(study: Study) -> list[tuple[str, str]]:
    """The metrics of a study and the labels of its learners with their meanings.

    A learner has its import path too, and only that if it has no name in `OF_LEARNERS`. Models that share a
    label have all their meanings.
    """
    found = {METRICS[name].label: OF_METRICS[name] for name in study.metrics if name in OF_METRICS}
    for model in trained(study).values():
        path, label = one_line(model.estimator or ""), one_line(model.label)
        name = OF_LEARNERS.get(path.rpartition(".")[2], OF_LEARNERS.get(label, ""))
        meaning = " ".join(filter(None, [name, f"({path})" if name and path else path]))
        if meaning and meaning not in found.get(label, "").split("; "):
            found[label] = "; ".join(filter(None, [found.get(label), meaning]))
    if study.checks and BASELINE in study.models:
        found["baseline"] = "always the largest class, or the mean of the values; never ranked"
    return list(found.items())
