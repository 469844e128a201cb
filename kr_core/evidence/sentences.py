"""The sentences of a passage: its prose without signature, code and mark-up lines, and where a sentence ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.citations import folded, plain
from kr_core.text import unquoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Passage

_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)[)`'\"]*\s+(?=[A-Z`'\"*:<(\[])"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_ITEM = re.compile(r"\s{0,3}(\d{1,3})[.)]\s+(\S.*)")
_ASIDES = frozenset({"see also", "references", "returns", "raises", "yields", "example", "examples"})
"""Headed parts of a docstring that are lists of names, or speak of code that is shown elsewhere."""
_HEADING = re.compile(
    r"\*{0,2}(?:(args|arguments|returns?|raises|yields|see also|references|attributes)|parameters|examples?|notes?|usage|warnings?)"
    r"(?:\*\*)?:(?:\*\*)?$",
    re.IGNORECASE,
)
"""A line that heads a part of a docstring; what is indented below the first kind is a list of names, not prose."""
_MARK_UP = re.compile(
    r"\.\.|\|(?![A-Za-z][\w. -]{0,60}\|[\s,.;:)_])|!\[|\$ |#|!!! |\?\?\?|///|<(?!https?://)/?[A-Za-z!][^:]|@(?:param|returns?|see|throws|template)\b|[-=~^*+]{3,}$|:[a-z][^:`]*:(?:\s|$)"
)
"""How a line begins that is not prose."""
_CODE = re.compile(
    r"\s*(?:async )?(?:def|class) \w+|\s*[\w.]+\((?:[^()]|\([^()]*\))*\)?$|\s*import \w|\s*from [\w.]+ import\b|\s*\w[\w.]* = |\s*@[\w.]+(?:\(.*)?$"
)
_TABLE = re.compile(r"^[ \t]*+={2,}+(?:[ \t]++={2,}+)++[ \t]*+$", re.MULTILINE)
"""The border of a table in reStructuredText."""
_HISTORY = re.compile(r"\.\. (versionadded|versionchanged|seealso|codeauthor|moduleauthor)::")
"""A directive whose text is about earlier versions or other places."""
_EXPLAINED_VALUE = re.compile(r"[`'\"]{1,3}([\w.+-]{1,40})[`'\"]{1,3}(?:\s?:|\s--?|\s–)\s\S+(?:\s\S+){3}")
"""How a line begins that says what a value does, also above an example of it: `'forbid'`: Extra data is not permitted:"""
_MEMBER = re.compile(r"\s*+`?+[A-Za-z_$][\w$.]*+`?+ \([A-Za-z][^()\n]{0,60}\): \S")
"""How a line of a list without marks begins: `censor (String): Optional. A value ...`"""
_RETURNS = re.compile(r"\s*+(?::returns?:|Returns:?$)\s*+(.*)")
_UNDERLINE = re.compile(r"[-=~]{3,}")
_OVERLOAD = re.compile(r"(?:async )?def \w+\(")
_CONSTRUCTOR = re.compile(r"\s*def __(?:init|new)__\b")
_OR_NONE = re.compile(r"(?<!\s)\s*+\|\s*+None$")


def returned(text: str) -> str:
    """What a docstring says of the value that is returned, folded into one line; empty where it says nothing.

    Four styles are read: `Returns:` with text indented below it, the same underlined, and `:returns: ...`.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines):
        begun = _RETURNS.match(line)
        if begun is None:
            continue
        depth = len(line) - len(line.lstrip())
        below = lines[number + 1 :]
        is_underlined = bool(below) and _UNDERLINE.fullmatch(below[0].strip()) is not None
        told = [begun[1] or ""]
        for after in below[is_underlined:]:
            deeper = len(after) - len(after.lstrip()) > depth
            if (not after.strip() and any(told)) or (after.strip() and not deeper and not is_underlined):
                break
            told.append(after)
        return folded(" ".join(told))
    return ""


def sentences(text: str) -> list[str]:
    """The sentences of paragraphs, each paragraph a line; the text of a listed member stays with its name."""
    return [
        part.strip()
        for line in text.split("\n")
        for part in ([line] if _MEMBER.match(line) else _SENTENCE_END.split(line))
        if part.strip()
    ]


def says_something(sentence: str) -> bool:
    """Whether a sentence is more than a pointer or a link."""
    said = _bare(sentence)
    begins_low = (
        said[:1].islower() and sentence.strip()[0] not in "`*:" and not _MEMBER.match(sentence)
    )  # a name may
    is_prose = len(said.split()) >= 4 and len(_WORD.findall(said)) >= 3  # rows of figures are none
    return is_prose and not begins_low and not is_pointer(sentence)


def is_pointer(sentence: str) -> bool:
    """Whether a sentence only says where to look ("Read more in ...", "Run it with:")."""
    said = _bare(sentence)
    return (said.endswith(":") and not explained_value(sentence)) or bool(
        re.match(
            r"(?:Read more|See|For more|More (?:info|details)|Full|Additional help|You can read more)\b", said
        )
    )


def explained_value(sentence: str) -> str:
    """The value that a sentence explains (`'forbid'`: Extra data is ...); empty where it explains none."""
    found = _EXPLAINED_VALUE.match(plain(sentence))
    return found[1] if found else ""


def _bare(sentence: str) -> str:
    return re.sub(r"https?://\S+|[*_`\[\]()]", "", plain(sentence)).strip()


def documentation(passage: Passage) -> str:
    """A passage's text without the signature that stands in it."""
    lines = passage.text.split("\n")
    if (
        passage.kind == "parameter"
    ):  # documentation, head of the callable, the argument: runs of lines in this order
        starts = [start for start, _line in passage.lines]
        return "\n".join(lines[: starts[1]]) if len(starts) >= 3 else ""
    if passage.signature:
        documented = [start for start, _line in passage.lines][1:]
        skip = documented[0] if passage.what != "class" and documented else passage.signature.count("\n") + 1
        if passage.what == "function" and documented and _OVERLOAD.match(lines[documented[0]]):
            skip = documented[1] if len(documented) > 1 else len(lines)
        if passage.what == "class" and documented and _CONSTRUCTOR.match(lines[documented[0]]):
            skip = documented[1] if len(documented) > 1 else len(lines)
        elif passage.what == "class":
            skip = max(
                [skip, *(start for start in documented[:1] if not passage.parameters), *documented[1:2]]
            )
        return "\n".join(lines[skip:])
    return passage.text


def prose(text: str) -> str:
    """The running text of a passage: headings, code, tables and mark-up lines left out."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(_prose_lines(_without_sessions(text))))
    return "\n".join(
        folded(paragraph) for paragraph in paragraphs if paragraph.strip() and not _TABLE.search(paragraph)
    )


def _prose_lines(lines: list[str]) -> list[str]:
    kept: list[str] = []
    fenced = aside = tabled = False
    listed = -1
    has_members = sum(_MEMBER.match(line) is not None for line in lines) > 1
    for number, quoted in enumerate(lines):
        line = unquoted(quoted)
        stripped = line.strip()
        tabled = "|" in stripped and (tabled or _is_rule(lines[number + 1 : number + 2]))
        if tabled and not fenced:
            kept.append("\n")
            continue
        depth = len(line) - len(line.lstrip())
        if listed >= 0 and (not stripped or depth > listed):
            kept.append("\n")
            continue
        heading = _HEADING.match(stripped) or _HISTORY.match(stripped)
        listed = depth if heading and heading[1] else -1
        if heading:
            kept.append("\n")
            continue
        if number + 1 < len(lines) and re.match(r"^[-=~^]{3,}$", lines[number + 1].strip()):
            aside = stripped.lower() in _ASIDES
        if aside:
            kept.append("\n")
            continue
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if fenced or _MARK_UP.match(stripped) or _CODE.match(line):
            kept.append("\n")
            continue
        bullet = re.match(r"^(?:[-*+•]|\d{1,3}[.)])\s++(.*)$", stripped)
        is_member = has_members and _MEMBER.match(line) is not None
        begun = bullet[1] if bullet else line if is_member else ""
        kept.append(f"\n\n{begun}" if begun else line if stripped else "\n")
    return kept


def _is_rule(following: Sequence[str]) -> bool:
    """Whether the line below a line makes both the head of a table in Markdown."""
    return any("|" in line and "-" in line and not line.strip(" \t:|-") for line in following)


def _without_sessions(text: str) -> list[str]:
    """The lines of a text; those of an interpreter's session up to the next blank line, with what it printed, are blank."""
    lines: list[str] = []
    fenced = printed = False
    for line in text.split("\n"):
        stripped = line.strip()
        is_fence = stripped.startswith(("```", "~~~"))
        fenced ^= is_fence
        printed = bool(stripped) and not (fenced or is_fence) and (printed or stripped.startswith(">>>"))
        lines.append("" if printed else line)
    return lines


def steps(text: str) -> list[str]:
    """The items of the first ordered list of two or more, code blocks inside it left out; in order, without numbers."""
    found: list[str] = []
    fenced = open_item = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced, open_item = not fenced, False
            continue
        item = None if fenced else _ITEM.match(line)
        if item is not None:
            if int(item[1]) not in {1, len(found) + 1}:  # some write 1. before each
                break
            found.append(item[2])
            open_item = True
        elif open_item and stripped and line[:1].isspace():
            found[-1] += f"\n{stripped}"
        elif found and stripped and not fenced and not line[:1].isspace():
            break
        else:
            open_item = False
    return [folded(item) for item in found] if len(found) > 1 else []


def shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[:limit]
    return (cut.rpartition(" ")[0] or cut).rstrip(",;: ")  # some scripts have no blanks


def value_of(constant: Passage) -> str:
    """The right-hand side of `NAME = value`."""
    assignment = assignment_of(constant)
    return assignment.partition("=")[2].strip() or assignment


def assignment_of(constant: Passage) -> str:
    """The statement that assigns a constant, without its documentation."""
    return constant.signature or constant.text


def bare_name(name: str) -> str:
    """The name in an annotation or a default, without quotes and `| None`."""
    return _OR_NONE.sub("", name.strip("'\" "))


def behind(known: Sequence[Passage], name: str) -> Passage | None:
    """The constant or alias behind a bare name in a signature."""
    bare = bare_name(name).rpartition(".")[2]
    return next(
        (
            one
            for one in known
            if (one.symbol or "").rpartition(".")[2] == bare
            and (
                (one.what == "constant" and one.kind in {"constant", "type"})
                or (one.what == "attribute" and bare.isupper() and "=" in assignment_of(one))
            )
        ),
        None,
    )
