"""Functions that call a study's methods, until nothing uses them."""

from entrolab.study.study import Study

__all__ = ["grouped", "protocol_of", "scaling_of"]


def grouped(study: Study) -> list[str]:
    return list(study.tasks)


protocol_of, scaling_of = Study.protocol_of, Study.scaling_of
