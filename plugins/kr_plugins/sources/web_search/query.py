"""What a search engine is asked: the question in a length that engines take, with nothing in it that steers them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.toolkit import content_words

if TYPE_CHECKING:
    from kr_core.plugin import ResearchQuery

__all__ = ["framework_words", "letters", "search_text"]

_MAX_WORDS = 40
_MAX_CHARACTERS = 300
"""Brave takes 400 characters and 50 words; the longer a query, the less is found."""
_MAX_WORD_LENGTH = 80
_READ = 4000
"""Characters of a question that are looked at."""
_STEERING = "!?:<+-*\"'()[{"
"""With these a word begins that is an order to a search engine: `!images`, `!!g`, `:fr`, `-not`."""
_CLOSES = {")": "(", "]": "[", "}": "{"}


def search_text(query: ResearchQuery) -> str:
    """The framework and the question on one line; empty where neither has a word.

    A long question is cut down to the words that say what it is about.
    """
    asked = _words(query.question) or _words(query.topic)
    if len(asked) > _MAX_WORDS or len(" ".join(asked)) > _MAX_CHARACTERS:
        telling = set(content_words(" ".join(asked)))
        asked = [word for word in asked if telling & set(content_words(word))]
    named = _words(framework_words(query.framework))
    said = letters("".join(asked))
    chosen = asked if all(letters(word) in said for word in named) else [*named, *asked]
    text = ""
    for word in chosen[:_MAX_WORDS]:
        longer = f"{text} {word}".strip()
        if len(longer) > _MAX_CHARACTERS:
            break
        text = longer
    return text


def framework_words(framework: str) -> str:
    """What people call a framework: `@tanstack/react-query` is react-query, `beautifulsoup4` is beautifulsoup."""
    return re.sub(r"(?<=[a-z]{4})\d$", "", framework.strip().rpartition("/")[2], flags=re.IGNORECASE)


def letters(text: str) -> str:
    """Letters and digits alone, in small letters: `Next.js` and `next js` are the same."""
    return re.sub(r"[\W_]+", "", text.lower())


def _words(text: str) -> list[str]:
    """The words of a text that are fit to be sent, without the signs that would make orders of them."""
    sendable = text[:_READ].encode("utf-8", "ignore").decode()
    bare = (re.sub(r"[\x00-\x1f\x7f-\x9f]", "", word) for word in sendable.split())
    short = (word for word in bare if len(word.lstrip(_STEERING)) <= _MAX_WORD_LENGTH)
    return [part for word in short for part in _whole_parts(word) if re.search(r"\w", part)]


def _whole_parts(word: str) -> list[str]:
    """A word cut at brackets and quotes without a partner: an engine may take half a pair for an order, or refuse it."""
    waiting, parts = [word], []
    while waiting:
        part = waiting.pop().lstrip(_STEERING)
        single = _unpaired(part)
        if single is None:
            parts.append(part)
        else:
            waiting += [part[single + 1 :], part[:single]]
    return parts


def _unpaired(word: str) -> int | None:
    """Where the first bracket or quote without a partner is in a word."""
    opened: list[int] = []
    for place, sign in enumerate(word):
        if sign in "([{" or (sign in '"`' and not (opened and word[opened[-1]] == sign)):
            opened.append(place)
        elif sign in '"`':
            opened.pop()
        elif sign in _CLOSES:
            if not opened or word[opened[-1]] != _CLOSES[sign]:
                return place
            opened.pop()
    return opened[0] if opened else None
