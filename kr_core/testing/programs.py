"""Which programs a plugin's settings name, in the eyes of the rule by which KR asks for `kr trust`."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from kr_core.config.trust_policy import running

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.hookspecs import Settings
    from kr_core.testing.watchers import Touch


def programs_in(settings: Settings) -> list[str]:
    """The texts in those settings, defaults too, that count as running a program."""
    values = settings.model_dump(mode="json")
    texts: list[str] = []
    for found in running(values, ("plugins", "contract")):
        value: Any = values
        for part in found.key[2:]:
            value = value[part]
        texts.extend(_texts(value))
    return texts


def starts_one_of(touch: Touch, programs: Sequence[str]) -> bool:
    """Whether what was started is one of these programs, or a shell that was given one of these texts."""
    _event, _blank, line = touch.what.partition(" ")
    started = _first_word(line)
    if not started:  # a fork: it is this program that goes on
        return True
    return any(text and (text in line or _first_word(text) == started) for text in programs)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _first_word(line: str) -> str:
    """The name of the program in a command line, without its folder."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        words = line.split()
    return PurePath(words[0]).name if words else ""
