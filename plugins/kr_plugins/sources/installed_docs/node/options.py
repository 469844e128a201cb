"""Texts that list options, as one passage for each option.

They are long examples with a comment for each (axios's request configuration), or lists in Markdown with an item for
each (undici's `ClientOptions`). A fence of three hundred lines answers everything and nothing: what was asked is one of
its paragraphs.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.code_blocks import fences
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from kr_core.toolkit import IndexedPassage

_LONG = 30
"""A fence of so many lines, half of its paragraphs led by a comment, is a list of options."""
_FEW = 3
"""So few options are no sign of the type that they belong to."""
_COMMENT = re.compile(r"^\s*+(?://++|#|\*|/\*++)\s?+(.*)$")
_KEY = re.compile(r"^\s*['\"]?([A-Za-z_$][\w$.-]*)['\"]?\s*\??[:=(]")


_ITEM = re.compile(r"^(\s*+)[-*+]\s++(?:\*\*`?+([A-Za-z_$][\w$.]*+)`?+\*\*|`([A-Za-z_$][\w$.]*+)`)(.*)$")
_ANY_ITEM = re.compile(r"^\s*+[-*+]\s")
_HEADING = re.compile(r"`?+([A-Za-z_$][\w$]*+)`?+(?:\s*+\([^()]{1,80}\))?:?")
_DESCRIBES = re.compile(r"\s*+(?:[-:(–—`=?]|\*\*)\W*+\w")
"""What comes behind the name of an option: its type, its default or a description, and no further word of a sentence."""


_CALL = re.compile(r"(?<![\w$.])([A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+)*+)\(([^()]{0,200}+)\)")
_LISTS = re.compile(r"\b(?:options?|opts|config(?:uration)?|settings?)\b", re.IGNORECASE)
_HEADING_LINE = re.compile(r"(#{1,6})[ \t]++(\S[^\n]{0,300})")
_MOST_ABOVE = 400
"""Lines between the option of a function and the heading that is its call."""
_MARKS = frozenset({"option", "heading", "kind", "taker"})
_NEAR_HEADING = 6
"""Lines between a heading and its text: blank ones and anchors."""
_LISTING = 0.5
"""What a list counts beside the items that are passages of their own."""
_LONGEST = 60
_UNIT = r"(?:(?:milli|micro)?seconds?|minutes?|hours?|days?|bytes?|ms|[KMG]i?B)"
"""Without its unit `300 seconds` reads as 300 of what the option is measured in."""
_VALUE = rf"(?:`([^`\n]{{1,60}})`|(['\"][^'\"\n]{{0,58}}['\"])|(-?\d[\d_.]*+(?:e\d+)?(?:[ ]{_UNIT})?|true|false|null|undefined)(?![\w.]*\w))"
_OPTIONS_OF_ITS_OWN = re.compile(r"\n[ \t]+(?:[-*][ \t]+)?`?\w+`? \([^()\n]*+\):")
"""Where the documentation of an option begins to list what an object in its place may have: `censor (String): ...`."""
_TAG = re.compile(r"@default(?:[vV]alue)?\b[ \t]*+(?::[ \t]*+)?([^\n]{1,200})")
_SAID = re.compile(
    rf"\bdefault(?:s\s+to| is| value is|\s?value:| value of|ing to|:| =)\*{{0,2}}:?[ \t]*+{_VALUE}",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"^[ \t]*+['\"]?[A-Za-z_$][\w$]*+['\"]?\s?+:\s?+([^\s,][^,\n]{0,59}),?[ \t]*+//[ \t]?default\b",
    re.MULTILINE,
)
"""`maxRedirects: 21, // default`"""


class _Option(NamedTuple):
    """A paragraph of a fence, counted from the beginning of the section: a comment, and what it speaks of."""

    start: int
    message: list[str]
    """The lines of the comment without its marks."""
    code: list[str]
    key: str


def split(section: IndexedPassage) -> Iterator[IndexedPassage]:
    """A section, and a passage for each option that a long fence in it lists."""
    lines = section.text.split("\n")
    first_line = section.data["lines"][0][1]
    marks = _MARKS - {"kind"}
    unmarked = {name: value for name, value in section.data.items() if name not in marks}
    listing = section._replace(data=unmarked)
    kept = list(lines)
    cut: list[str] = []
    made = []
    for number, end in fences(lines):
        options = _options(lines, number + 1, end - 1) if end - number > _LONG else []
        if options:
            kept[number:end] = [""] * (end - number)
            cut.append("\n".join(lines[number + 1 : end - 1]).strip("\n"))
            made += [_passage(listing, option, lines[number].strip(), first_line) for option in options]
    items = _items(kept)
    for first, last, key in items:
        made.append(_item_passage(listing, kept[first:last], first_line + first, key))
        kept[first:last] = [""] * (last - first)
    if not made:
        yield section
        return
    code = tuple(block for block in section.code if block not in cut)
    whole = section._replace(prose="\n".join(kept), code=code)
    yield _behind(whole, kept) if items else whole
    yield from made


def _items(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where the items of a list of options begin and end, each with its name; what is nested in one has its own."""
    starts = [number for number, line in enumerate(lines) if _ANY_ITEM.match(line)]
    found = []
    for start, following in pairwise([*starts, len(lines)]):
        item = _ITEM.match(lines[start])
        if item is None or not _DESCRIBES.match(item[4]):
            continue
        end = start + 1
        while (
            end < following and lines[end].strip() and not lines[end].lstrip().startswith(("#", "```", "|"))
        ):
            end += 1
        found.append((start, end, item[2] or item[3]))
    return found if 2 * len(found) >= len(starts) and len(found) > _FEW else []


def _behind(section: IndexedPassage, kept: list[str]) -> IndexedPassage:
    """A section behind the options that it lists: its text says all that they say."""
    return section._replace(lead=docstrings.lead(kept), prior=round(section.prior * _LISTING, 4))


def _item_passage(section: IndexedPassage, lines: Sequence[str], line: int, key: str) -> IndexedPassage:
    text = "\n".join(lines)
    default = default_in(text)
    path = section.locator.rpartition(":")[0]
    return section._replace(
        title=f"{section.title} § {key}",
        text=text,
        locator=f"{path}:{line}",
        name=key,
        lead=docstrings.lead(list(lines)),
        words=f"{section.words} {section.name}",
        prior=round(section.prior * 0.9, 4),
        code=(),
        prose=text,
        data={
            **section.data,
            "lines": [[0, line]],
            "option": key,
            **({} if default is None else {"default": default}),
        },
    )


def _options(lines: list[str], first: int, end: int) -> list[_Option]:
    paragraphs = []
    start = first
    for number in range(first, end + 1):
        if number == end or not lines[number].strip():
            if number > start:
                paragraphs.append((start, lines[start:number]))
            start = number + 1
    found = [option for place, paragraph in paragraphs if (option := _option(place, paragraph)) is not None]
    return found if 2 * len(found) >= len(paragraphs) and len(found) > 3 else []


def _option(start: int, lines: list[str]) -> _Option | None:
    while lines and lines[0].strip() in {"{", "["}:
        start, lines = start + 1, lines[1:]
    said: list[str] = []
    for line in lines:
        comment = _COMMENT.match(line)
        if comment is None:
            break
        text = comment[1]
        said.append((text.removesuffix("*/")).rstrip())
    code = lines[len(said) :]
    key = next((found for line in code if not _COMMENT.match(line) and (found := _KEY.match(line))), None)
    return _Option(start, said, code, key[1]) if key is not None and "".join(said) else None


def _passage(section: IndexedPassage, option: _Option, fence: str, first_line: int) -> IndexedPassage:
    margin = min(len(line) - len(line.lstrip()) for line in option.code if line.strip())
    code = "\n".join(line[margin:] for line in option.code)
    line = first_line + option.start
    count = len(option.message)
    path = section.locator.rpartition(":")[0]
    return section._replace(
        title=f"{section.title} § {option.key}",
        text="\n".join([*option.message, fence, code, "```"]),
        locator=f"{path}:{line}",
        name=f"{section.name} {option.key}",
        lead=docstrings.lead(option.message),
        prior=round(section.prior * 0.9, 4),  # it says less than a section that says the same words
        code=(code,),
        prose="\n".join([*option.message, code]),
        data={**section.data, "lines": [[0, line], [count, line + count - 1]], "option": option.key},
    )


def marked(section: IndexedPassage, lines: Sequence[str]) -> IndexedPassage:
    """A section below the name of an option and perhaps its type, `lidLimit` (Number), marked as such; any other as it is.

    Args:
        section: a section of a text.
        lines: of the file.
    """
    found = _HEADING.fullmatch(section.title.rpartition(" § ")[2])
    start = section.data["lines"][0][1]
    above = range(start - 1, max(0, start - 1 - _NEAR_HEADING), -1) if found else ()
    place = next((number for number in above if lines[number - 1].startswith("#")), None)
    if found is None or place is None or found[1] not in lines[place - 1]:
        return section
    taker = "" if _LISTS.fullmatch(found[1]) else _taker(lines, place)
    data = {**section.data, "option": found[1], "heading": [place, lines[place - 1]]}
    return section._replace(data={**data, "taker": taker} if taker else data)


def _taker(lines: Sequence[str], place: int) -> str:
    """The function whose call is the heading above that of an option, perhaps with `Options` between; empty for none."""
    own = _HEADING_LINE.match(lines[place - 1])
    level = len(own[1]) if own else 0
    for number in range(place - 1, max(0, place - 1 - _MOST_ABOVE), -1):
        above = _HEADING_LINE.match(lines[number - 1]) if lines[number - 1].startswith("#") else None
        if above is None or len(above[1]) >= level:
            continue
        level = len(above[1])
        call = _CALL.search(above[2])
        if call is not None:
            return call[1] if _LISTS.search(call[2]) else ""
        if not _LISTS.search(above[2]):
            return ""
    return ""


def _with_heading(section: IndexedPassage) -> IndexedPassage:
    """A section with its heading in its text: where the passage goes by the heading's name, it says that name."""
    if "heading" not in section.data:
        return section
    line, heading = section.data["heading"]
    runs = [[0, line], *([offset + 1, number] for offset, number in section.data["lines"])]
    return section._replace(
        text=f"{heading}\n{section.text}",
        locator=f"{section.locator.rpartition(':')[0]}:{line}",
        data={**section.data, "lines": runs},
    )


def named(
    passages: Sequence[IndexedPassage], members: Mapping[str, AbstractSet[str]]
) -> Iterator[IndexedPassage]:
    """The passages of a text; options that are the members of one exported type go by that type's name.

    An option that several functions have goes by the name of the one whose call is the heading above it: `limit` below
    `bodyParser.json([options])`.

    Args:
        passages: of one text.
        members: of each exported type the names of its members without documentation.
    """
    by_section: dict[str, set[str]] = {}
    for passage in passages:
        if "option" in passage.data:
            by_section.setdefault(_section_of(passage), set()).add(passage.data["option"])
    takers: dict[str, set[str]] = {}
    for passage in passages:
        if "taker" in passage.data:
            takers.setdefault(passage.data["option"], set()).add(passage.data["taker"])
    owners = {section: _owner(keys, members) for section, keys in by_section.items()}
    for passage in passages:
        key = passage.data.get("option")
        owner = owners[_section_of(passage)] if key else ""
        if not owner or key not in members[owner]:
            owner = passage.data.get("taker", "") if len(takers.get(key or "", ())) > 1 else ""
        if not owner or not key:
            yield passage
            continue
        passage = _with_heading(passage)  # noqa: PLW2901  the same passage, with what it needs here
        data = {name: value for name, value in passage.data.items() if name not in _MARKS}
        begin = (passage.code[0] if passage.code else passage.text).split("\n")[0]
        default = default_in(passage.text)
        told = {} if default is None else {"default": default}
        yield passage._replace(
            kind="symbol",
            symbol=f"{owner}.{key}",
            data={
                **data,
                "what": "attribute",
                "signature": "" if begin.startswith("#") else begin,
                "public": True,
                **told,
            },
        )


def _section_of(option: IndexedPassage) -> str:
    """The title of the section that lists an option."""
    return option.title.rpartition(" § ")[0]


def _owner(keys: Collection[str], members: Mapping[str, AbstractSet[str]]) -> str:
    """The type that has most of some options, and at least half; empty for none."""
    if len(keys) <= _FEW:
        return ""
    held = {name: len(own & set(keys)) for name, own in members.items()}
    best = max(held, key=lambda name: (held[name], -len(name)), default="")
    return best if held.get(best, 0) * 2 >= len(keys) else ""


def default_in(text: str) -> str | None:
    """The default that the documentation of one option tells, as it is written there; None where it tells none."""
    tagged = _TAG.search(text)
    if tagged:
        value = tagged[1].strip()
        quoted = re.match(r"`([^`]+)`", value)
        value = quoted[1] if quoted else value.removesuffix(".")
        return value if value and len(value) <= _LONGEST else None
    text = _OPTIONS_OF_ITS_OWN.split(text, maxsplit=1)[0]
    said = _SAID.search(text)
    if said:
        return next(one for one in said.groups() if one is not None).rstrip(".")
    beside = _BESIDE.search(text)
    return beside[1].strip() if beside else None
