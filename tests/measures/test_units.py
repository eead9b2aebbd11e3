"""Every measure of information is in nats, and with ``base=2`` in bits."""

import inspect
import math

import numpy as np
import pytest

from entrolearn import measures
from entrolearn.metrics import information_scores

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 60))
P = RNG.dirichlet(np.ones(6)).reshape(2, 3)
GAUSSIANS = (0.0, 1.0, 2.0, 3.0)

#: Name -> arguments, of all functions of `entrolearn.measures` with a parameter `base`.
ARGUMENTS = {
    "cauchy_schwarz_gaussian": GAUSSIANS,
    "cauchy_schwarz_kde": (X, Y + 1),
    "copula_mutual_information": (X, X + Y),
    "cross_entropy": (P[0] / P[0].sum(), P[1] / P[1].sum()),
    "discrete_mutual_information": (X > 0, Y > X),
    "entropy": (P.ravel(),),
    "entropy_from_counts": ([3, 2, 5],),
    "gaussian_entropy": (2.0,),
    "gaussian_mutual_information": (X, X + Y),
    "joint_entropy": (P,),
    "kde_entropy": (X,),
    "kde_mutual_information": (X, X + Y),
    "kl_divergence": (P[0] / P[0].sum(), P[1] / P[1].sum()),
    "knn_entropy": (X,),
    "knn_mutual_information": (X, X + Y),
    "mixed_mutual_information": (X, X + Y),
    "mutual_information": (P,),
    "mutual_information_from_counts": ([[3, 1], [2, 5]],),
    "quadratic_cross_entropy_gaussian": GAUSSIANS,
    "quadratic_cross_entropy_kde": (X, Y),
    "quadratic_entropy_gaussian": (2.0,),
    "quadratic_entropy_kde": (X,),
    "ross_mutual_information": (X, Y > X),
}


def by_default(name):
    return inspect.signature(getattr(measures, name)).parameters["base"].default


def test_all_functions_with_a_base_are_in_nats_by_default():
    with_base = {
        name
        for name in measures.__all__
        if inspect.isfunction(getattr(measures, name))
        and "base" in inspect.signature(getattr(measures, name)).parameters
    }
    orders = {"renyi_entropy", "havrda_charvat_entropy", "conditional_entropy"}  # with further arguments
    assert with_base == ARGUMENTS.keys() | orders
    assert {by_default(name) for name in with_base} == {math.e}
    assert inspect.signature(information_scores).parameters["base"].default == math.e


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_bit_is_ln_2_nats(name):
    function = getattr(measures, name)
    nats = function(*ARGUMENTS[name])
    assert nats != 0
    assert function(*ARGUMENTS[name], base=2) == pytest.approx(nats / math.log(2), rel=1e-14)
    with pytest.raises(ValueError, match="base"):
        function(*ARGUMENTS[name], base=10)


def test_options_of_an_estimator_include_its_base():
    """The estimate, its interval and a test of independence are in one unit."""
    nats, bits = (
        [
            measures.mutual_information_from_samples(X, X + Y, base=base),
            measures.independence_test(X, X + Y, base=base, n_permutations=1, random_state=0).estimate,
        ]
        for base in (math.e, 2)
    )
    np.testing.assert_allclose(np.array(bits) * math.log(2), nats, rtol=1e-14)
