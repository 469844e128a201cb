"""The items of an index: the entry that each means, and its lines in the file, cut apart, read and changed.

An index is as long as the knowledge base is large, and nearly always one item changes at a time. So KR cuts the text where an
item begins, and does not read again an item that it knows. Where a value changes that has a line of its own, only that value
changes: quotes, comments and unknown keys stay, and the diff is small. KR writes any other change of an item in its own form.

YAML is more than layout: `cut` returns None for a text that is not laid out as a list of items, and YAML reads it as a whole.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from kr_core.plugin import Entry, EntryStatus
from kr_core.toolkit import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KEYS = tuple(Entry.model_fields)
"""The keys of an entry, in the order in which they are written."""

_REQUIRED = ("id", "framework", "topic", "path")
_STATUSES: tuple[str, ...] = get_args(EntryStatus)


class ReadEntry(NamedTuple):
    """An item and the entry that it stands for."""

    item: Any
    entry: Entry | None
    """None where KR does not understand the item."""
    lacking: str = ""
    """What an item lacks that is no entry."""
    dated: bool = True
    """False where the day it was created is not said, so that the day of the file stands in."""


def read(item: Any, undated: date) -> ReadEntry:
    """The entry that an item stands for; `undated` is the day of one that has none."""
    if not isinstance(item, dict):
        return ReadEntry(item, None, "keys")
    required = {key: _text(item.get(key)) for key in _REQUIRED}
    if lacking := [key for key, value in required.items() if not value]:
        return ReadEntry(item, None, ", ".join(lacking))
    known = _date(item.get("created"))
    created = known or undated
    status = _text(item.get("status")).casefold()
    entry = Entry.model_validate(
        {
            **required,
            "framework_version": _text(item.get("framework_version")),
            "tags": _tags(item.get("tags")),
            "created": created,
            "last_accessed": _date(item.get("last_accessed")) or created,
            # What a status means that we do not know is not ours to guess: the entry is researched again.
            "status": status if status in _STATUSES else "stale",
        }
    )
    return ReadEntry(item, entry, dated=known is not None)


def item_with(entry: Entry, item: Any) -> dict[str, Any]:
    """The item that stands for an entry; unknown keys of the one before, and values that mean the same, stay."""
    values = entry.model_dump(mode="json")
    if not isinstance(item, dict):
        return values
    before = read(item, entry.created).entry
    unchanged = {
        key
        for key in KEYS
        if key in item and before is not None and getattr(before, key) == getattr(entry, key)
    }
    merged = {**item, **{key: value for key, value in values.items() if key not in unchanged}}
    return {key: merged[key] for key in KEYS} | merged


def odd_values(item: Mapping[str, Any], entry: Entry, today: date) -> list[str]:
    """What is said in an entry that cannot be meant; each is read as something safe."""
    said = []
    for key in ("created", "last_accessed"):
        value = item.get(key)
        if value is not None and _date(value) is None:
            said.append(f"`{key}` is no date")
        elif value is not None and getattr(entry, key) > today:
            said.append(f"`{key}` lies in the future ({getattr(entry, key)})")
    if "tags" in item and not isinstance(item["tags"], list | str | None):
        said.append("`tags` is no list")
    if _text(item.get("status", "fresh")).casefold() not in _STATUSES:
        said.append(f"`status` is none of {', '.join(_STATUSES)}, and so counts as stale")
    return said


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _tags(value: Any) -> tuple[str, ...]:
    tags = value if isinstance(value, list) else _text(value).split(",")
    return tuple(tag for tag in map(_text, tags) if tag)


def _date(value: Any) -> date | None:
    try:
        return date.fromisoformat(_text(value)[:10].replace("/", "-"))
    except ValueError:
        return None


_PRINTABLE = r"[^\n\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff"
_SINGLE = rf"'(?:{_PRINTABLE}']|'')*+'"
_DOUBLE = rf'"{_PRINTABLE}"\\]*"'
_IN_PLAIN = r"[\w./+()~^;=@!?&*%$<>|-]"
_PLAIN = rf"[\w./]{_IN_PLAIN}*+(?: ++{_IN_PLAIN}++)*+(?<!-)"
_SCALAR = rf"(?:{_SINGLE}|{_PLAIN})"
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
"""An item as KR writes it; YAML takes three times as long to read an index of thousands."""
_A_DAY = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_DAY = re.compile(f"'{_A_DAY}'")
"""A day that every month has, as KR writes it; the others are looked at more closely."""
_PLAIN_STATUSES = frozenset(get_args(EntryStatus))
_IN_USUAL = r"[\w./+()~^;=@!?&*%$<>| -]*+(?<![ -])"
_NAME = rf"(?!(?:[tT]rue|TRUE|[fF]alse|FALSE|[nN]ull|NULL)\n)[A-Za-z_./]{_IN_USUAL}"
_USUAL_VALUES = {
    "id": f"({_NAME})",
    "framework": f"({_NAME})",
    "topic": _NAME,
    "path": f"({_NAME})",
    "created": f"'({_A_DAY})'",
    "last_accessed": f"'({_A_DAY})'",
    "status": f"(?:{'|'.join(sorted(_PLAIN_STATUSES))})",
}
_USUAL = rf"(?:[\w./]{_IN_USUAL}|{_SINGLE})"
_USUAL_FORM = "- " + "  ".join(
    rf"tags:(?:\n  - {_USUAL})++\n" if key == "tags" else rf"{key}: {_USUAL_VALUES.get(key, _USUAL)}\n"
    for key in KEYS
)
_ITEMS = re.compile(rf"({_USUAL_FORM})(?=- |\Z)|(- [^\n]*+(?:\n(?!- )[^\n]*+)*+\n?)", re.ASCII)
"""The items of a list. One pattern finds all in the form that nearly all have: of thousands, each call counts."""
_PIECE = 500_000
"""Characters of a list that are looked through at a time."""
_COMMENT = re.compile(r"(?:^|[ \t])#", re.MULTILINE)
_NO_CONTENT = re.compile(r" *(?:#[^\n]*)?(?:\n|\Z)")
_INDENTED = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]+[^ \t\n#]")
_START = re.compile(r"^( *)- ", re.MULTILINE)


class IndexText(NamedTuple):
    """The text of an index in pieces: joined again, they are the text."""

    head: str
    """Everything up to the list; of a mapping, the line of its key included."""
    items: list[str]
    tail: str
    indent: str
    forms: Sequence[OwnForm | None] = ()
    """Of each item, where the usual form of KR's tells it; empty where none was looked at."""


class OwnForm(NamedTuple):
    """What tells an item in KR's own form from others, without reading the rest of it."""

    id: str
    framework: str
    path: str
    is_plain: bool
    """Whether its dates and its status are certainly what they should be, and no later than a day."""


def cut(text: str, key: str, today: str = "") -> IndexText | None:
    r"""Cut the text of an index where its items begin, or return None where the layout does not show that.

    Args:
        text: with `\n` at the ends of lines.
        key: the key of the list; a list without any is cut too.
        today: the day, in ISO 8601, after which no date of a plain item lies.
    """
    lines = list(_key_lines(text, key))
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
    items, forms = _split(text, first.start(), indent, today)
    # What stands further left than the items, and is neither blank nor a comment, ends the list.
    end = re.compile(rf"^(?!{indent} |{indent}-(?: |\n)|[ ]*(?:#|\n|\Z))", re.MULTILINE).search(items[-1])
    tail = items[-1][end.start() :] if end else ""
    if tail:
        items[-1] = items[-1].removesuffix(tail)
    return IndexText(text[: first.start()], items, tail, indent, forms)


def _key_lines(text: str, key: str) -> Iterator[re.Match[str]]:
    """The lines that hold a key alone; a search of the text comes first, since a pattern would try each line of it."""
    line = re.compile(rf"{key}:[ ]*(?:\[\][ ]*)?(?:#[^\n]*)?(?:\n|\Z)")
    start = 0
    while text.startswith(f"{key}:", start) or (start := text.find(f"\n{key}:", start) + 1):
        if found := line.match(text, start):
            yield found
        start += 1


def _split(text: str, start: int, indent: str, today: str) -> tuple[list[str], list[OwnForm | None]]:
    """The text from an item's start on, cut before each further item, and what is known of each; no second copy of all is made."""
    items: list[str] = []
    forms: list[OwnForm | None] = []
    if not indent:
        for begin, end in _pieces(text, start):
            for usual, name, framework, path, created, used, other in _ITEMS.findall(text, begin, end):
                items.append(usual or other)
                forms.append(OwnForm(name, framework, path, created <= today >= used) if usual else None)
        return items, forms
    before_item = f"\n{indent}- "
    while (end := text.find(before_item, start)) >= 0:
        items.append(text[start : end + 1])
        start = end + 1
    return [*items, text[start:]], forms


def _pieces(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where pieces of a list begin and end, each of whole items: what is found in all of them at once would take the memory twice."""
    while start < len(text):
        end = text.find("\n- ", start + _PIECE) + 1 or len(text)
        yield start, end
        start = end


def _is_blank(text: str) -> bool:
    return all(not line.strip() or line.lstrip(" ").startswith("#") for line in text.split("\n"))


def own_form(text: str, today: str) -> OwnForm | None:
    """What an item in KR's own form is about; None for one in another form, which YAML has to read.

    Args:
        text: the item's lines.
        today: the day, in ISO 8601, after which no date of it lies.
    """
    found = _OWN_FORM.fullmatch(text)
    if found is None:
        return None
    *named, created, used, status = found.group(
        "id", "framework", "path", "topic", "created", "last_accessed", "status"
    )
    for number, value in enumerate(named):
        if value[0] in "'+-0123456789" or value in _WORDS:
            meant = _value(value)
            named[number] = "" if meant is None else str(meant).strip()
            if not named[number]:
                return None
    is_plain = status in _PLAIN_STATUSES and all(
        _DAY.fullmatch(day) is not None and day[1:-1] <= today for day in (created, used)
    )
    name, framework, path, _ = named
    return OwnForm(name, framework, path, is_plain)


_BEFORE_TAGS, _BELOW_TAGS = KEYS[: KEYS.index("tags")], KEYS[KEYS.index("tags") + 1 :]
_TOPIC_LINE, _FIRST_TAG, _AFTER_TAGS = (
    KEYS.index("topic"),
    KEYS.index("tags") + 1,
    KEYS.index("tags") - len(KEYS),
)


def topic_of(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The topic and the tags of an item in KR's own form, by its lines; None where only YAML knows them."""
    lines = text.split("\n")
    found = [lines[_TOPIC_LINE].removeprefix("  topic: ")]
    found += [line[4:] for line in lines[_FIRST_TAG:_AFTER_TAGS]]
    for number, value in enumerate(found):
        if value[0] in "'+-0123456789" or value in _WORDS:
            meant = _value(value)
            if meant is None or not str(meant).strip():
                return None
            found[number] = str(meant).strip()
    topic, *tags = found
    return topic, tuple(tags)


def entry_of(text: str) -> Entry | None:
    """The entry of an item in KR's own form with plain dates and a plain status; None where only YAML knows it."""
    lines = text.split("\n")
    found = {key: line[len(key) + 4 :] for key, line in zip(_BEFORE_TAGS, lines, strict=False)}
    found |= {key: line[len(key) + 4 :] for key, line in zip(_BELOW_TAGS, lines[_AFTER_TAGS:], strict=False)}
    days = {key: date.fromisoformat(found.pop(key)[1:-1]) for key in ("created", "last_accessed")}
    values = [*found.values(), *(line[4:] for line in lines[_FIRST_TAG:_AFTER_TAGS])]
    for number, value in enumerate(values):
        if value[0] in "'+-0123456789" or value in _WORDS:
            meant = _value(value)
            if meant is None or not str(meant).strip():
                return None
            values[number] = str(meant).strip()
    named = dict(zip(found, values, strict=False))
    return Entry.model_validate({**named, **days, "tags": tuple(values[len(found) :])})


def item_of(text: str) -> Any:
    """What the lines of an item say.

    Raises:
        YAMLError, ValueError: they are not a single item by themselves.
    """
    own = _OWN_FORM.fullmatch(text)
    values = None if own is None else {key: _values(key, own[key]) for key in KEYS}
    if values is not None and None not in values.values():
        return values
    items = yaml_text.load(text)
    if not isinstance(items, list) or len(items) != 1:
        raise ValueError("it is no single item")
    return items[0]


def _values(key: str, text: str) -> Any:
    """The value of a key in KR's own form; None where only YAML knows it."""
    if key != "tags":
        return _value(text)
    values = [_value(line[4:]) for line in text.split("\n")[1:]]
    return None if None in values else values


def _value(text: str) -> str | int | None:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    if text in _WORDS:
        return None
    return int(text) if _NUMBER.fullmatch(text) else text


def written(item: Any, indent: str) -> str:
    """An item in the form in which KR writes it."""
    lines = yaml_text.dump([item]).removesuffix("\n").split("\n")
    return "".join(f"{indent}{line}\n" for line in lines)


# -- editing an item ---------------------------------------------------------------------------------------


def edited(text: str, indent: str, old: Any, new: Mapping[str, Any]) -> str:
    """The lines of an item that says something new.

    Args:
        text: the item's lines; empty where it has none yet.
        indent: before its dash.
        old: what they say.
        new: what they shall say.
    """
    if not text or not isinstance(old, dict):
        return written(new, indent)
    changed = text
    for key, value in new.items():
        if old.get(key) != value:
            changed = _with_value(changed, indent, key, value)
    try:
        if item_of(changed) == new:
            return changed
    except (yaml_text.YAMLError, ValueError):
        pass
    return written(new, indent) + _trailing_comments(text)


def loses_comments(before: str, after: str) -> bool:
    """Whether an item's text has comments that it has not got after a change."""
    count = len(_COMMENT.findall(before))
    return bool(count) and len(_COMMENT.findall(after)) < count


def _with_value(text: str, indent: str, key: str, value: Any) -> str:
    """The text with another value on the line of a key; as it was where that is not the whole of the value."""
    line = re.compile(
        rf"^(?P<lead>{indent}(?:- |  ){key}: +)(?P<value>{_DOUBLE}|{_SCALAR})(?= *(?: #.*)?$)", re.MULTILINE
    )
    found = line.search(text)
    if found is None or not isinstance(value, str):
        return text
    mark = found["value"][0] if found["value"][0] in "'\"" else ""
    is_plain = re.fullmatch(rf"{_PRINTABLE}'\"\\]+", value) is not None
    quoted = f"{mark}{value}{mark}" if mark and is_plain else yaml_text.dump([value])[2:-1]
    return text[: found.start("value")] + quoted + text[found.end() :]


def _trailing_comments(text: str) -> str:
    """The comments below an item, which may well be about the next one."""
    lines = text.splitlines(keepends=True)
    count = 0
    while count < len(lines) and _NO_CONTENT.fullmatch(lines[-1 - count]):
        count += 1
    return "".join(lines[len(lines) - count :])
