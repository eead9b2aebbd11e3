"""Write fitted models in the skops format.

Which types are trusted on reading does not affect the results of a run, so it is decided in a module of its
own, `entrolab.io.model_reading`: a change there repeats no run.
"""

import io
import re
import zipfile

from sklearn.base import BaseEstimator

# skops is imported in functions, because it imports all of scikit-learn, which takes a second or more.

# The memory addresses in a schema of skops.
ADDRESS = re.compile(r'("__id__": |"file": ")(\d+)')


def dump(fitted: BaseEstimator) -> bytes:
    """A fitted estimator as the bytes of a skops file; equal estimators give equal bytes."""
    import skops.io

    found, written = io.BytesIO(), io.BytesIO()
    skops.io.dump(fitted, found)
    # skops names members by memory addresses, and the archive contains the time of writing.
    numbers: dict[str, int] = {}
    with zipfile.ZipFile(found) as archive, zipfile.ZipFile(written, "w") as renumbered:
        schema = ADDRESS.sub(
            lambda match: match[1] + str(numbers.setdefault(match[2], len(numbers))),
            archive.read("schema.json").decode(),
        )
        for name in archive.namelist():
            address, dot, kind = name.partition(".")
            own = f"{numbers.get(address, address)}{dot}{kind}"
            content = schema if name == "schema.json" else archive.read(name)
            renumbered.writestr(zipfile.ZipInfo(own), content)
    return written.getvalue()


def types_in(model: bytes) -> list[str]:
    """The types in a stored model beyond those that skops trusts."""
    import skops.io

    return skops.io.get_untrusted_types(data=model)
