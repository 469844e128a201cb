"""Texts that list options, as one passage for each option.

They are long examples with a comment for each (axios's request configuration), or lists in Markdown with an item for
each (undici's `ClientOptions`). A fence of three hundred lines answers everything and nothing: what was asked is one of
its paragraphs.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.code_blocks import fence_end
from kr_plugins.sources.installed_docs.node.default_values import default_in
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kr_core.toolkit import IndexedPassage

_LONG = 30
"""A fence of so many lines, half of its paragraphs led by a comment, is a list of options."""
_FEW = 3
"""So few options are no sign of the type that they belong to."""
_COMMENT = re.compile(r"^\s*+(?://++|#|\*|/\*++)\s?+(.*)$")
_KEY = re.compile(r"^\s*['\"]?([A-Za-z_$][\w$.-]*)['\"]?\s*\??[:=(]")


_ITEM = re.compile(r"^(\s*+)[-*+]\s++(?:\*\*`?+([A-Za-z_$][\w$.]*+)`?+\*\*|`([A-Za-z_$][\w$.]*+)`)(.*)$")
_ANY_ITEM = re.compile(r"^\s*+[-*+]\s")
_DESCRIBES = re.compile(r"\s*+(?:[-:(–—`=?]|\*\*)\W*+\w")
"""What comes behind the name of an option: its type, its default or a description, and no further word of a sentence."""


_LISTING = 0.5
"""What a list counts beside the items that are passages of their own."""


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
    kept = list(lines)
    cut: list[str] = []
    made = []
    number = 0
    while number < len(lines):
        end = fence_end(lines, number)
        if not end:
            number += 1
            continue
        options = _options(lines, number + 1, end - 1) if end - number > _LONG else []
        if options:
            kept[number:end] = [""] * (end - number)
            cut.append("\n".join(lines[number + 1 : end - 1]).strip("\n"))
            made += [_passage(section, option, lines[number].strip(), first_line) for option in options]
        number = end
    items = _items(kept)
    for first, last, key in items:
        made.append(_item_passage(section, kept[first:last], first_line + first, key))
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


def named(
    passages: Sequence[IndexedPassage], members: Mapping[str, Collection[str]]
) -> Iterator[IndexedPassage]:
    """The passages of a text; options that are the members of one exported type go by that type's name.

    Args:
        passages: of one text.
        members: of each exported type the names of its members without documentation.
    """
    for _section, group in groupby(passages, key=_section_of):
        yield from _named(list(group), members)


def _section_of(passage: IndexedPassage) -> str:
    """The title of the section that lists an option; of any other passage its own."""
    return passage.title.removesuffix(f" § {passage.data.get('option')}")


def _named(
    passages: Sequence[IndexedPassage], members: Mapping[str, Collection[str]]
) -> Iterator[IndexedPassage]:
    keys = {passage.data["option"] for passage in passages if "option" in passage.data}
    held = {name: len(keys.intersection(own)) for name, own in members.items()} if len(keys) > _FEW else {}
    owner = max(held, key=lambda name: (held[name], -len(name)), default="")
    fits = held.get(owner, 0) * 2 >= len(keys) > _FEW
    for passage in passages:
        key = passage.data.get("option")
        if not fits or key not in members[owner]:
            yield passage
            continue
        data = {name: value for name, value in passage.data.items() if name not in {"option", "kind"}}
        default = default_in(passage.text)
        told = {} if default is None else {"default": default}
        yield passage._replace(
            kind="symbol",
            symbol=f"{owner}.{key}",
            data={
                **data,
                "what": "attribute",
                "signature": (passage.code[0] if passage.code else passage.text).split("\n")[0],
                "public": True,
                **told,
            },
        )
