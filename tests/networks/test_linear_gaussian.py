"""Information of linear maps of Gaussian variables: values by definition, gradients by differences, laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.stats import ortho_group

from entrolearn.networks import infomax_objective, views_objective


def covariance_of(d, seed=0):
    A = np.random.default_rng(seed).normal(size=(d, d))
    return A @ A.T / d + 0.1 * np.eye(d)


def maps(*shapes, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def gaussian_information(joint, n_first):
    """I of two parts of a Gaussian vector, from the determinants of their covariances."""
    det = np.linalg.det
    return 0.5 * np.log(det(joint[:n_first, :n_first]) * det(joint[n_first:, n_first:]) / det(joint))


def assert_gradient(function, W, gradient):
    numeric = approx_fprime(W.ravel(), lambda w: function(w.reshape(W.shape)), 1e-6)
    assert_allclose(gradient.ravel(), numeric, rtol=1e-4, atol=1e-5)


# --- one view and noise -------------------------------------------------------------------------------


@pytest.mark.parametrize("variances", [0.3, [0.3, 0.1]])
def test_output_noise_is_the_information_of_outputs_and_inputs_together(variances):
    C, (W,) = covariance_of(4), maps((2, 4))
    noise = np.diag(np.broadcast_to(variances, 2))
    joint = np.block([[W @ C @ W.T + noise, W @ C], [C @ W.T, C]])
    assert infomax_objective(W, C, variances)[0] == pytest.approx(gaussian_information(joint, 2), rel=1e-9)


@pytest.mark.parametrize("variances", [0.3, [0.3, 0.1, 2.0, 0.7]])
def test_input_noise_is_the_information_of_outputs_and_inputs_together(variances):
    C, (W,) = covariance_of(4), maps((2, 4))
    noise = np.diag(np.broadcast_to(variances, 4))
    joint = np.block([[W @ (C + noise) @ W.T, W @ C], [C @ W.T, C]])
    found, _ = infomax_objective(W, C, variances, noise="input")
    assert found == pytest.approx(gaussian_information(joint, 2), rel=1e-9)


@pytest.mark.parametrize(
    ("noise", "variances"),
    [("output", 0.5), ("output", [0.5, 2.0]), ("input", 0.5), ("input", [0.5, 2.0, 0.1])],
)
def test_gradient_by_the_map_is_that_of_differences(noise, variances):
    C, (W,) = covariance_of(3), maps((2, 3))
    _, gradient = infomax_objective(W, C, variances, noise=noise)
    assert_gradient(lambda V: infomax_objective(V, C, variances, noise=noise)[0], W, gradient)


def test_one_output_has_the_logarithm_of_its_signal_to_noise_ratio():
    found, _ = infomax_objective([3.0, 4.0], np.diag([2.0, 1.0]), 0.5)
    assert found == pytest.approx(0.5 * np.log(1 + (9 * 2 + 16 * 1) / 0.5), rel=1e-12)


def test_orthonormal_rows_make_input_and_output_noise_the_same():
    C, W = covariance_of(5), ortho_group.rvs(5, random_state=2)[:3]
    at_output, at_input = (infomax_objective(W, C, 0.4, noise=noise)[0] for noise in ("output", "input"))
    assert at_input == pytest.approx(at_output, rel=1e-12)


def test_after_input_noise_an_invertible_map_changes_nothing():
    C, (W, M) = covariance_of(4), maps((3, 4), (3, 3))
    plain, mapped = (infomax_objective(V, C, 0.4, noise="input")[0] for V in (W, M @ W))
    assert mapped == pytest.approx(plain, rel=1e-10)


def test_after_output_noise_a_larger_map_conveys_more():
    C, (W,) = covariance_of(4), maps((3, 4))
    found = [infomax_objective(size * W, C, 0.4)[0] for size in (0.0, 0.5, 1.0, 2.0)]
    assert found[0] == 0
    assert (np.diff(found) > 0.1).all()


def test_noise_of_several_variances_is_that_of_scaled_features():
    C, (W,) = covariance_of(3), maps((2, 3))
    deviations = np.array([0.5, 1.0, 3.0])
    found, _ = infomax_objective(W, C, deviations**2, noise="input")
    scaled, _ = infomax_objective(W * deviations, C / np.outer(deviations, deviations), 1.0, noise="input")
    assert scaled == pytest.approx(found, rel=1e-10)


# --- two views ----------------------------------------------------------------------------------------


def test_information_of_views_is_that_of_their_outputs_covariance():
    C, (A, B) = covariance_of(7), maps((2, 4), (3, 3))
    both = np.block([[A, np.zeros((2, 3))], [np.zeros((3, 4)), B]])
    assert views_objective(A, B, C)[0] == pytest.approx(gaussian_information(both @ C @ both.T, 2), rel=1e-9)


def test_scalar_outputs_have_the_information_of_their_correlation():
    C, (a, b) = covariance_of(5), maps((1, 3), (1, 2))
    between = a @ C[:3, 3:] @ b.T
    rho2 = (between**2 / (a @ C[:3, :3] @ a.T) / (b @ C[3:, 3:] @ b.T)).item()
    assert views_objective(a, b, C)[0] == pytest.approx(-0.5 * np.log(1 - rho2), rel=1e-10)


def test_gradients_by_both_maps_are_those_of_differences():
    C, (A, B) = covariance_of(7), maps((2, 4), (1, 3))
    _, (of_A, of_B) = views_objective(A, B, C)
    assert_gradient(lambda V: views_objective(V, B, C)[0], A, of_A)
    assert_gradient(lambda V: views_objective(A, V, C)[0], B, of_B)


def test_information_is_symmetric_and_does_not_see_invertible_maps():
    C, (A, B, M, N) = covariance_of(7), maps((2, 4), (2, 3), (2, 2), (2, 2))
    swapped = C[np.ix_([4, 5, 6, 0, 1, 2, 3], [4, 5, 6, 0, 1, 2, 3])]
    plain, _ = views_objective(A, B, C)
    assert views_objective(B, A, swapped)[0] == pytest.approx(plain, rel=1e-10)
    assert views_objective(M @ A, N @ B, C)[0] == pytest.approx(plain, rel=1e-10)


def test_outputs_tell_no_more_of_each_other_than_what_they_are_made_of():
    """The data processing inequality."""
    C, (A, B) = covariance_of(7), maps((2, 4), (2, 3))
    outputs, half, all_of_it = (
        views_objective(*pair, C)[0] for pair in ((A, B), (A, np.eye(3)), (np.eye(4), np.eye(3)))
    )
    assert 0 < outputs < half < all_of_it


def test_uncorrelated_views_tell_nothing():
    C = covariance_of(5)
    C[:3, 3:] = C[3:, :3] = 0
    A, B = maps((2, 3), (2, 2))
    assert views_objective(A, B, C)[0] == pytest.approx(0, abs=1e-12)


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(2), np.eye(3), 1.0), r"covariance has shape \(3, 3\); the columns of W ask for \(2, 2\)"),
        ((np.eye(2), np.eye(2), [1.0, 1.0, 1.0]), "accepted: one number, or 2 for the outputs"),
        ((np.eye(2), np.eye(2), 0.0), "noise_variance is 0.0; it must be more than 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        infomax_objective(*arguments)


def test_noise_elsewhere_is_refused():
    with pytest.raises(ValueError, match="noise is 'both'; accepted: 'output' and 'input'"):
        infomax_objective(np.eye(2), np.eye(2), 1.0, noise="both")


def test_views_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"the columns of W_x and W_y together ask for \(5, 5\)"):
        views_objective(np.eye(2), np.eye(3), np.eye(4))


def test_outputs_that_determine_each_other_are_refused():
    with pytest.raises(np.linalg.LinAlgError):
        views_objective([[1.0]], [[1.0]], np.ones((2, 2)))
