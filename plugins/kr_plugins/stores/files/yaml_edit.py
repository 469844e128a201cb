"""The items of an index as they stand in the file, each with its lines: cut apart, read, and edited in place.

An index is as long as the knowledge base is large, and nearly always one item changes at a time. So the text is cut
where an item begins, an item that was read before is not read again, and of one that changes only the lines of the
keys that change are written anew: quotes, comments and unknown keys of the user's stay, and so does the diff small.

Cutting is a matter of layout, and YAML is more than that. Whatever is not laid out as a plain list of plain keys is
left to YAML as a whole: `cut` returns None, and `plain_item` too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.toolkit import yaml_text
from kr_plugins.stores.files.entries import KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

_PRINTABLE = r"[^\n\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff"
_SINGLE = rf"'(?:{_PRINTABLE}']|'')*+'"
_DOUBLE = rf'"{_PRINTABLE}"\\]*"'
_IN_PLAIN = r"[\w./+()~^;=@!?&*%$<>|-]"
_PLAIN = rf"[\w./]{_IN_PLAIN}*+(?: ++{_IN_PLAIN}++)*+(?<!-)"
_SCALAR = rf"(?:{_SINGLE}|{_DOUBLE}|{_PLAIN})"
_FLOW = rf"\[ *(?:{_SCALAR} *(?:, *{_SCALAR} *)*)?\]"
_COMMENT = rf"(?P<comment> +#{_PRINTABLE}]*+)?"
_KEY_LINE = re.compile(
    rf"(?P<lead> *(?:- )?)(?P<key>\w+):(?:(?P<gap> +)(?P<value>{_SCALAR}|{_FLOW}))?{_COMMENT} *(?:\n|\Z)"
)
_ANY_KEY = re.compile(r"""(?P<lead> *(?:- )?)(?P<mark>["']?)(?P<key>\w+)(?P=mark):(?: [^\n]*)?(?:\n|\Z)""")
_ITEM_LINE = re.compile(rf" *- (?P<value>{_SCALAR}){_COMMENT} *(?:\n|\Z)")
_SCALARS = re.compile(_SCALAR)
_NO_CONTENT = re.compile(r" *(?:#[^\n]*)?(?:\n|\Z)")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_WORDS = frozenset("true True TRUE false False FALSE null Null NULL ~".split())
"""What means something else than the text that it is."""
_OWN_FORM = re.compile(
    "- "
    + "  ".join(
        rf"tags:(?P<tags>(?:\n  - {_SCALAR})+)\n" if key == "tags" else rf"{key}: (?P<{key}>{_SCALAR})\n"
        for key in KEYS
    )
)
"""An item as KR writes it, on which an index of thousands is read three times as fast as line by line."""
_MAX_LINE_LENGTH = 1000
"""The expressions above try again at every space; a line that is longer is not worth their time."""
_INDENTED = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]+[^ \t\n#]")
_START = re.compile(r"^( *)- ", re.MULTILINE)


class IndexText(NamedTuple):
    """The text of an index in pieces: joined again, they are the text."""

    head: str
    """Everything up to the list; of a mapping, the line of its key included."""
    items: list[str]
    tail: str
    indent: str


class _OtherwiseError(Exception):
    """The text is not of the plain kind."""


def cut(text: str, key: str) -> IndexText | None:
    r"""Cut the text of an index where its items begin, or return None where the layout does not show that.

    Args:
        text: with `\n` at the ends of lines.
        key: the key of the list; a list without any is cut too.
    """
    lines = list(re.finditer(rf"^{key}:[ ]*(?:\[\][ ]*)?(?:#[^\n]*)?(?:\n|\Z)", text, re.MULTILINE))
    if len(lines) > 1:
        return None
    begin = lines[0].end() if lines else 0
    first = _START.search(text, begin)
    if first is None or not _is_blank(text[begin : first.start()]):
        # What stands further right than the key is its value, in some other form.
        is_empty = bool(lines) and not _INDENTED.match(text, begin)
        return IndexText(text[:begin], [], text[begin:], "") if is_empty else None
    if lines and "[" in lines[0].group().partition("#")[0]:
        return None
    indent = first.group(1)
    # Where an item is followed by anything but the next one, it is no single item, and YAML has the word.
    first_item, *others = text[first.start() :].split(f"\n{indent}- ")
    items = [f"{first_item}\n", *(f"{indent}- {other}\n" for other in others)]
    items[-1] = items[-1].removesuffix("\n")
    # What stands further left than the items, and is neither blank nor a comment, ends the list.
    end = re.compile(rf"^(?!{indent} |{indent}-(?: |\n)|[ ]*(?:#|\n|\Z))", re.MULTILINE).search(items[-1])
    tail = items[-1][end.start() :] if end else ""
    items[-1] = items[-1].removesuffix(tail)
    return IndexText(text[: first.start()], items, tail, indent)


def _is_blank(text: str) -> bool:
    return all(not line.strip() or line.lstrip(" ").startswith("#") for line in text.split("\n"))


# -- reading an item ---------------------------------------------------------------------------------------


def plain_item(text: str, indent: str) -> dict[str, Any] | None:
    """What an item says whose every line is `key: value`, a value of a list, or a comment; None for any other."""
    if not indent and (own := _OWN_FORM.fullmatch(text)) is not None:
        return _of_own_form(own)
    item: dict[str, Any] = {}
    try:
        for segment in _segments(text, indent):
            item[segment.key] = segment.value
    except _OtherwiseError:
        return None
    return item or None


def _of_own_form(item: re.Match[str]) -> dict[str, Any] | None:
    try:
        values: dict[str, Any] = {
            key: _scalar(value) for key, value in item.groupdict().items() if key != "tags"
        }
        tags = [_scalar(line[4:]) for line in item["tags"].split("\n")[1:]]
    except _OtherwiseError:
        return None
    return {key: tags if key == "tags" else values[key] for key in KEYS}


def item_of(text: str, indent: str) -> Any:
    """What an item says, whatever its form.

    Raises:
        YAMLError, ValueError: it is no single item by itself.
    """
    plain = plain_item(text, indent)
    if plain is not None:
        return plain
    items = yaml_text.load(text)
    if not isinstance(items, list) or len(items) != 1:
        raise ValueError("it is no single item")
    return items[0]


class _Segment(NamedTuple):
    """A key with its value and the lines on which both stand."""

    key: str
    value: Any
    line: re.Match[str] | None
    """The key's line; None where the value has a form that is not edited."""
    start: int
    end: int


def _segments(text: str, indent: str) -> list[_Segment]:
    found: list[_Segment] = []
    position, below = 0, f"{indent}  "
    while position < len(text):
        if text.find("\n", position) - position > _MAX_LINE_LENGTH:
            raise _OtherwiseError
        line = _KEY_LINE.match(text, position)
        lead = f"{indent}- " if not found else below
        if line is not None and line["lead"] == lead:
            if line["key"] in _WORDS or _NUMBER.fullmatch(line["key"]):
                raise _OtherwiseError
            end = line.end()
            if line["value"] is None:
                values, end = _listed(text, end, indent)
                if not values:
                    raise _OtherwiseError
                value: Any = values
            else:
                value = _flow(line["value"]) if line["value"][0] == "[" else _scalar(line["value"])
            found.append(_Segment(line["key"], value, line, position, end))
            position = end
        elif found and (blank := _NO_CONTENT.match(text, position)) is not None:
            position = blank.end()
        else:
            raise _OtherwiseError
    return found


def _listed(text: str, position: int, indent: str) -> tuple[list[Any], int]:
    """The values of a list below its key, and where it ends."""
    values: list[Any] = []
    lead = ""
    while (line := _ITEM_LINE.match(text, position)) is not None:
        own = text[position : text.index("-", position)]
        if values and own != lead:
            raise _OtherwiseError
        lead = own
        if len(lead) < len(indent) + 2:
            raise _OtherwiseError
        values.append(_scalar(line["value"]))
        position = line.end()
    return values, position


def _flow(text: str) -> list[Any]:
    values = []
    for found in _SCALARS.finditer(text, 1, len(text) - 1):
        # `[a - b]` is one value, `[- a]` is none, and a mark at an end may mean something: YAML knows
        if found.group()[0] not in "'\"" and not re.fullmatch(r"[\w./ -]+", found.group()):
            raise _OtherwiseError
        values.append(_scalar(found.group()))
    return values


def _scalar(text: str) -> Any:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    if text[0] == '"':
        return text[1:-1]
    if text in _WORDS:
        raise _OtherwiseError
    return int(text) if _NUMBER.fullmatch(text) else text


# -- editing an item ---------------------------------------------------------------------------------------


def edited(text: str, indent: str, old: Any, new: Mapping[str, Any], order: tuple[str, ...]) -> str:
    """The lines of an item that says something new: those of the keys that did not change stay as they are.

    Args:
        text: the item's lines.
        indent: before its dash.
        old: what they say.
        new: what they shall say.
        order: of the keys, where one has to be added.
    """
    if not text or not isinstance(old, dict):
        return written(new, indent)
    if _is_same(old, new):
        return text
    try:
        changed = _with_changes(text, indent, old, new, order)
        if _is_same(item_of(changed, indent), new):
            return changed
    except (_OtherwiseError, yaml_text.YAMLError, ValueError):
        pass
    rest = _trailing_comments(text)
    return written(new, indent) + rest


def _is_same(item: Any, other: Mapping[str, Any]) -> bool:
    return isinstance(item, dict) and item == other


def _with_changes(
    text: str, indent: str, old: Mapping[str, Any], new: Mapping[str, Any], order: tuple[str, ...]
) -> str:
    segments = _spans(text, indent, old)
    if len({segment.key for segment in segments}) < len(segments):
        raise _OtherwiseError
    ranks = {key: rank for rank, key in enumerate(order)}
    missing = [key for key in new if key not in {segment.key for segment in segments}]
    pieces, position = [], 0
    for segment in segments:
        pieces.append(text[position : segment.start])
        position = segment.end
        if segment.key not in new:
            raise _OtherwiseError
        pieces.append(_segment_text(text, segment, new[segment.key], indent))
        following = [key for key in missing if key in ranks and _follows(key, segment.key, segments, ranks)]
        pieces += [_below({key: new[key]}, indent) for key in following]
        missing = [key for key in missing if key not in following]
    if missing:
        raise _OtherwiseError
    return "".join(pieces) + text[position:]


def _spans(text: str, indent: str, item: Mapping[str, Any]) -> list[_Segment]:
    """The keys of an item whose values are known: each reaches to the line on which the next one begins.

    So a value may have any form, that of a nested key of the user's, say; it stays as it is.
    """
    found: list[_Segment] = []
    below = re.compile(rf"(?:[ ]*(?:#[^\n]*)?\n)*(?:{indent}[ ]{{3,}}[^ \n]|{indent}  - )[^\n]*(?:\n|\Z)")
    position = 0
    while position < len(text):
        key = _ANY_KEY.match(text, position)
        lead = f"{indent}  " if found else f"{indent}- "
        if key is not None and key["lead"] == lead and key["key"] in item:
            end = key.end()
            while (more := below.match(text, end)) is not None:
                end = more.end()
            value = item[key["key"]]
            line = _KEY_LINE.match(text, position) if key.end() - position <= _MAX_LINE_LENGTH else None
            if line is not None and line["value"] is not None:
                is_whole = all(map(_NO_CONTENT.fullmatch, text[line.end() : end].splitlines(keepends=True)))
                line, end = (line, line.end()) if is_whole else (None, end)
            elif not isinstance(value, list):
                line = None
            found.append(_Segment(key["key"], value, line, position, end))
            position = end
        elif found and (blank := _NO_CONTENT.match(text, position)) is not None:
            position = blank.end()
        else:
            raise _OtherwiseError
    return found


def _follows(key: str, before: str, segments: list[_Segment], ranks: Mapping[str, int]) -> bool:
    """Whether a key that is added belongs right after this one."""
    earlier = [one.key for one in segments if one.key in ranks and ranks[one.key] < ranks[key]]
    return bool(earlier) and earlier[-1] == before


def _segment_text(text: str, segment: _Segment, value: Any, indent: str) -> str:
    if segment.value == value and type(segment.value) is type(value):
        return text[segment.start : segment.end]
    line = segment.line
    if line is None:
        raise _OtherwiseError
    comment = line["comment"] or ""
    if isinstance(value, str) and isinstance(segment.value, str):
        token = line["value"]
        plain = re.fullmatch(rf"{_PRINTABLE}'\"\\]+", value) is not None
        if token[0] in "'\"" and plain:
            return f"{line['lead']}{segment.key}:{line['gap']}{token[0]}{value}{token[0]}{comment}\n"
    lines = yaml_text.dump({segment.key: value}).split("\n")
    lines[0] = f"{line['lead']}{lines[0]}{comment}"
    return "\n".join([lines[0], *(f"{indent}  {one}" if one else "" for one in lines[1:])])


def written(item: Any, indent: str) -> str:
    """An item in the form in which KR writes it."""
    return _indented(yaml_text.dump([item]), indent)


def _below(values: Mapping[str, Any], indent: str) -> str:
    return _indented(yaml_text.dump(dict(values)), f"{indent}  ")


def _indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}\n" for line in text.removesuffix("\n").split("\n"))


def _trailing_comments(text: str) -> str:
    """The comments below an item, which may well be about the next one."""
    lines = text.splitlines(keepends=True)
    count = 0
    while count < len(lines) and _NO_CONTENT.fullmatch(lines[-1 - count]):
        count += 1
    return "".join(lines[len(lines) - count :])
