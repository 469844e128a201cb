"""A whole journal as a file of lines of JSON, on its way to another one.

    {"kr_journal": 1}
    ["events", 1, "9f...", "2026-02-05T10:00:00+00:00", "run", "keep.finished", "{...}", "5ad3..."]
    ["documents", "escalation", "E1", "open", 2, "{...}"]
    {"rows": 2, "sha256": "..."}

The values of a line are those of a `RecordRow`. The last line has the number of rows and the hash of all lines before it, so that a
file which was cut off, or changed, is known before anything is imported.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from kr_core.errors import StorageError
from kr_core.protocols import RecordRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["read_record", "write_record"]

_FORM = 1
_HEAD = "kr_journal"
_LONGEST = 100_000_000
"""Characters of a line."""
_SHAPES: dict[str, tuple[type, ...]] = {
    "chain": (int,),
    "events": (int, str, str, str, str, str, str),
    "documents": (str, str, str, int, str),
    "steps": (str, str, str),
    "grants": (str, str, str),
    "counters": (str, int),
    "cursors": (str, int),
}
_JSON_AT = {"events": 5, "documents": 4, "steps": 2}
"""The place of the JSON text among a row's values."""
_AGAIN = "export it again with `kr journal export`; nothing was imported"


def write_record(rows: Iterable[RecordRow], file: Path) -> None:
    """Write a new file that only its owner can read, as a whole or not at all.

    Raises:
        StorageError: it is there already or cannot be written, or the journal cannot be read.
    """
    if os.path.lexists(file):
        raise StorageError("is there already", where=str(file), hint="give another name, or remove it")
    digest, count = sha256(), 0
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{file.name}.", dir=file.parent) as made:
            for count, line in enumerate(_lines(rows)):  # noqa: B007  the last line says how many rows there are; the head is line 0
                digest.update(line)
                made.write(line)
            made.write(_line({"rows": count, "sha256": digest.hexdigest()}))
            made.flush()
            os.fsync(made.fileno())
            os.link(made.name, file)  # unlike a rename it replaces nothing
    except OSError as error:
        raise StorageError(
            f"cannot be written: {error.strerror or error}", where=str(file), hint="nothing was exported"
        ) from error


def _lines(rows: Iterable[RecordRow]) -> Iterator[bytes]:
    yield _line({_HEAD: _FORM})
    for row in rows:
        yield _line([row.table, *row.values])


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def read_record(file: Path) -> Iterator[RecordRow]:
    """The rows of a file, which is checked as a whole first.

    Raises:
        StorageError: it cannot be read, was cut off or changed, or holds what no journal has; named by its line.
    """
    try:
        for _row in _checked(file):
            pass
        yield from _checked(file)
    except OSError as error:
        raise StorageError(
            f"cannot be read: {error.strerror or error}", where=str(file), hint="check the path"
        ) from error


def _checked(file: Path) -> Iterator[RecordRow]:
    digest, number, is_whole = sha256(), 0, False
    with file.open("rb") as opened:
        while line := opened.readline(_LONGEST):
            number += 1
            value = _value(line, file, number)
            if number == 1:
                _check_head(value, file)
            elif is_whole:
                raise _wrong(file, number, "stands behind the end")
            elif isinstance(value, dict):
                if value != {"rows": number - 2, "sha256": digest.hexdigest()}:
                    raise _wrong(
                        file,
                        number,
                        "does not fit the lines before it: some were changed, added or taken out",
                    )
                is_whole = True
            else:
                yield _row(value, file, number)
            digest.update(line)
    if not is_whole:
        raise StorageError("was cut off: its last line is missing", where=str(file), hint=_AGAIN)


def _value(line: bytes, file: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        if number == 1:
            raise _no_export(file) from error
        if not line.endswith(b"\n"):
            raise StorageError(f"was cut off in line {number}", where=str(file), hint=_AGAIN) from error
        raise _wrong(file, number, "is not JSON") from error


def _check_head(value: Any, file: Path) -> None:
    form = value.get(_HEAD) if isinstance(value, dict) else None
    if not isinstance(form, int):
        raise _no_export(file)
    if form != _FORM:
        raise StorageError(
            f"was written by a newer KR (its form is {form}, this KR knows {_FORM})",
            where=str(file),
            hint="update KR",
        )


def _row(value: Any, file: Path, number: int) -> RecordRow:
    parts: list[Any] = value if isinstance(value, list) and value else [None]
    table, *values = parts
    shape = _SHAPES.get(table) if isinstance(table, str) else None
    if shape is None or [type(one) for one in values] != list(shape):
        raise _wrong(file, number, "is not a row of a journal")
    try:
        if table in _JSON_AT:
            json.loads(values[_JSON_AT[table]], parse_float=_finite, parse_constant=_finite)
        if table == "events":
            bytes.fromhex(values[6])
    except (ValueError, RecursionError) as error:
        raise _wrong(file, number, "holds a value that cannot be read") from error
    return RecordRow(str(table), tuple(values))


def _finite(text: str) -> float:
    """A number; not `1e999` or `NaN`, which KR never writes and cannot count with.

    Raises:
        ValueError: it is infinite, or none.
    """
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _no_export(file: Path) -> StorageError:
    return StorageError(
        "is not an export of a journal", where=str(file), hint="make one with `kr journal export`"
    )


def _wrong(file: Path, number: int, what: str) -> StorageError:
    return StorageError(f"the line {what}", where=f"{file}:{number}", hint=_AGAIN)
