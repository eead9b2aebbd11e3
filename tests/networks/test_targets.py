import numpy as np
import pytest
from numpy.testing import assert_array_equal

from entrolearn.networks.targets import one_hot
from entrolearn.validation import encode


def test_labels_become_their_places_among_the_sorted_classes():
    classes, codes = encode(np.array(["b", "a", "c", "a"]), "Learner")
    assert_array_equal(classes, ["a", "b", "c"])
    assert_array_equal(codes, [1, 0, 2, 0])


def test_one_column_per_class_marks_the_own_class():
    found = one_hot(np.array([1, 0, 2]), 3, np.float32)
    assert_array_equal(found, [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    assert found.dtype == np.float32


def test_labels_that_cannot_be_learnt_are_named():
    with pytest.raises(ValueError, match="Learner needs samples of at least two classes.*only one class: 7"):
        encode(np.array([7, 7]), "Learner")
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        encode(np.array([0.5, 1.5]), "Learner")
