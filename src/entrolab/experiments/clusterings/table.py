"""The models that may be clusterers."""

from entrolab.fit.learners import searched

CLUSTERER = "model that clusters, which has an estimator, no grid and `criteria: []`,"


def clusterers_of(study) -> list[str]:
    """The models that may be clusterers: one learner, no grid and no criteria, so that no run trains it."""
    return [
        name
        for name, model in study.models.items()
        if model.estimator and not (searched(model) or model.criteria)
    ]
