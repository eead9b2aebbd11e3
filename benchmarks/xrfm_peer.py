"""xRFM's predictions, in a separate environment made by `make board-env`, because xRFM needs torch.

``.board/bin/python benchmarks/xrfm_peer.py`` reads one line per fit, the path of an .npz file with
``X_train``, ``y_train``, ``X_test`` and ``n_classes`` (zero for regression), and writes one line of JSON:
seconds to fit and to predict, and the file with the predictions (values, or probabilities of the classes 0,
1, ...). It does not import entrolearn.
"""

import contextlib
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from xrfm import xRFM

VALIDATED = 0.2  # share of the training rows with which xRFM chooses its iteration, as in its README


def answer(file: Path) -> dict:
    """Fit to the rows of one file on one thread; return the seconds and the file of predictions."""
    with np.load(file) as held:
        X, y, new, n_classes = held["X_train"], held["y_train"], held["X_test"], int(held["n_classes"])
    started = time.process_time()
    shuffled = np.random.default_rng(0).permutation(len(y))
    held_out, kept = np.split(shuffled, [int(VALIDATED * len(y))])
    rows = torch.as_tensor(X, dtype=torch.float32)
    if n_classes:  # it only accepts classes that occur in the training rows
        classes = np.unique(y[kept])
        held_out = held_out[np.isin(y[held_out], classes)]
        targets = torch.as_tensor(np.searchsorted(classes, y))
    else:
        mean, width = y.mean(), y.std()
        targets = torch.as_tensor((y - mean) / width, dtype=torch.float32)
    model = xRFM(device=torch.device("cpu"), random_state=0, n_threads=1, verbose=False)
    model.fit(rows[kept], targets[kept], rows[held_out], targets[held_out])
    fitted = time.process_time()
    method = model.predict_proba if n_classes else model.predict
    answers = np.asarray(method(torch.as_tensor(new, dtype=torch.float32)))
    done = time.process_time()
    if n_classes:
        probabilities = np.zeros((len(new), n_classes))
        probabilities[:, classes] = answers
        answers = probabilities
    else:
        answers = answers.ravel() * width + mean
    found = file.with_suffix(".answers.npy")
    np.save(found, answers)
    return {"fit_s": fitted - started, "predict_s": done - fitted, "answers": str(found)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in sys.stdin:
        try:
            with contextlib.redirect_stdout(sys.stderr):
                told = answer(Path(line.strip()))
        except (RuntimeError, ValueError, TypeError, IndexError, ArithmeticError, MemoryError) as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), flush=True)
