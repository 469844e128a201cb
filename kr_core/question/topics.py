"""The topic and the tags of a question: what it is about, without the words that only ask."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

from kr_core.knowledge.matching import POLARITY, spelt_out
from kr_core.project.package_names import spoken_names, without_name
from kr_core.text import STOP_WORDS, content_words, stem, words

TOPIC_LIMIT = 120
TAG_LIMIT = 24

_PERSON = r"(?:i|we|you|one|they|people|someone|anyone)"
_MODAL = r"(?:do|does|did|can|could|should|would|will|must|might|may|shall)"
_OPENINGS = re.compile(
    rf"""(?:
    (?:please|hi|hello|hey|so|and|ok|okay|well)\b[\s,!.]*
  | how\s+(?:{_MODAL}|to)\b(?:\s+{_PERSON}\b)?(?:\s+(?:best|properly|correctly))?\s*
  | how\s+come\s+
  | how(?:\s+(?:is|are|was|were)|['\u2019]s)\b\s*
  | (?:what|which)(?:\s+(?:is|are|was|were)|['\u2019]s)\s+(?:(?:the|a|an)\s+)?
    (?:(?:(?:best|right|correct|proper|recommended|idiomatic|preferred|easiest|simplest|usual|standard|good)\s+)*
       (?:ways?|methods?|approach(?:es)?|practices?)\s+(?:to|of|for)\s+)?
  | (?:what|which)\s+{_MODAL}\s+{_PERSON}\s+
  | is\s+it\s+possible\s+to\s+
  | (?:is|are)\s+there\s+(?:(?:a|an|any|some)\s+)?(?:(?:good|best|easy|simple)\s+)?(?:ways?\s+(?:to|of|for)\s+)?
  | {_MODAL}\s+{_PERSON}\s+
  | (?:i|we)(?:\s+am|\s+are|['\u2019]m|['\u2019]re)?\s+(?:want|need|trying|try|would\s+like|wish|have)\s+to\s+
  | i['\u2019]d\s+like\s+to\s+
  | (?:tell|show|teach)\s+(?:me|us)\s+(?:(?:how\s+to|about)\s+)?
  | explain\s+(?:to\s+(?:me|us)\s+)?(?:how\s+to\s+)?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_EDGES = " \t\n.,;:!?¿¡。，、；：！？…-–—"
_WHOLLY_QUOTED = re.compile(r"([`'\"])([^`'\"]*)\1")


def topic_and_tags(question: str, framework: str) -> tuple[str, tuple[str, ...]]:
    """Take a topic of at most 120 characters and at most 24 tags from a question.

    The topic is the question without its interrogative opening and without a trailing "in {framework}?". The
    tags are all its content words but the framework's own name, the first form of each, lower-case and in
    order, so that two phrasings with equal content words have equal stems. Of more than 24 the longest stand,
    and a last tag, `q-` and eight digits, tells the whole set from others. Neither is ever empty.
    """
    clean = _clean(question)
    whole = _topic(clean, framework) or clean or "general"
    tags = _telling(clean, framework) or content_words(without_name(whole, framework)) or ["general"]
    return _cut(whole), _limited(tags)


def _clean(question: str) -> str:
    """The question on one line, without control characters, which YAML has no place for."""
    text = unicodedata.normalize("NFC", question)
    shown = "".join(" " if unicodedata.category(mark) in {"Cc", "Cs", "Zl", "Zp"} else mark for mark in text)
    return " ".join(shown.split())


def _topic(question: str, framework: str) -> str:
    text = question.strip(_EDGES)
    quoted = _WHOLLY_QUOTED.fullmatch(text)
    leading, trailing = _framework_phrases(framework)
    rest = _without_opening(leading.sub("", _without_opening(quoted[2] if quoted else text)))
    return trailing.sub("", rest).strip(_EDGES) or rest


def _without_opening(text: str) -> str:
    while found := _OPENINGS.match(text):
        rest = text[found.end() :].lstrip(_EDGES)
        if not rest or not found.end():
            break
        text = rest
    return text


@lru_cache(maxsize=64)
def _framework_phrases(framework: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What names only the framework: "In httpx, ..." or "httpx: ..." at the start, "... in httpx" at the end."""
    names = "|".join(
        r"[-_. ]?".join(re.escape(part) for part in re.split(r"[-_.\s]+", name) if part)
        for name in sorted({framework, *spoken_names(framework)}, key=len, reverse=True)
    )
    name = rf"(?:the\s+)?(?:(?<!\w)\w++['\u2019]s\s+)?[`'\"]?(?:{names})[`'\"]?(?:\s+(?:library|package|framework))?"
    preposition = r"(?:in|with|using|via|by|for)\s+"
    return (
        re.compile(rf"(?:{preposition})?{name}\s*[,:;]\s*(?=\S)", re.IGNORECASE),
        re.compile(rf"(?<!\s)\s++{preposition}{name}$", re.IGNORECASE),
    )


def _telling(question: str, framework: str) -> list[str]:
    """The content words of a question, one for each stem, in order; empty where it has none."""
    text = spelt_out(without_name(question, framework))
    content = set(content_words(text)) - STOP_WORDS
    kept = [
        word
        for word in dict.fromkeys(words(text))
        if (word in content and _says_something(word)) or word in POLARITY
    ]
    by_stem = {stem(word): word for word in reversed(kept)}
    ordered = [word for word in kept if by_stem[stem(word)] == word]
    return ordered if any(word not in POLARITY for word in ordered) else []


def _says_something(word: str) -> bool:
    return len(word) > 1 or not word.isascii()


def _limited(tags: list[str]) -> tuple[str, ...]:
    if len(tags) <= TAG_LIMIT:
        return tuple(tags)
    roots = {tag: stem(tag) for tag in tags}
    # Chosen by the stems and not by their order, so that another phrasing keeps the same ones.
    longest = set(sorted(tags, key=lambda tag: (-len(roots[tag]), roots[tag]))[: TAG_LIMIT - 1])
    return (*(tag for tag in tags if tag in longest), f"q-{_digest(' '.join(sorted(roots.values())))}")


def _cut(topic: str) -> str:
    if len(topic) <= TOPIC_LIMIT:
        return topic
    digest = _digest(topic.casefold())
    room = TOPIC_LIMIT - len(digest) - 1
    kept = topic[: room + 1]
    kept = kept.rsplit(" ", 1)[0] if " " in kept else kept[:room]
    return f"{kept.rstrip(_EDGES)} {digest}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
