"""The questions of spec-kit's files, as `kr ask --speckit` would ask them."""

from kr_core.speckit.spec_parser import SpecQuestion, read, unanswered


def questions_in(text: str) -> list[SpecQuestion]:
    return unanswered(read(text))
