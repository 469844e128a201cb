"""Text as it reads: words, and what is left without mark-up; and its tokens, stems and stop words, for matching, search and inference."""

from __future__ import annotations

import re
import threading
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from Stemmer import Stemmer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BYTES_A_TOKEN",
    "STOP_WORDS",
    "WEAK_WORDS",
    "content_words",
    "folded",
    "infinitive",
    "is_opposite",
    "is_weak",
    "normalised",
    "plain",
    "root_of",
    "roots",
    "split_identifier",
    "stem",
    "stems",
    "telling_words",
    "tokens",
    "unquoted",
    "words",
]

_SIMPLE = re.compile(r"[a-z0-9 \-,:;?!()\"`]*")
"""Texts without capitals, underscores, apostrophes and the like, as most topics are; their words need no closer look."""
_LOWER = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[A-Za-z]+/[0-9]+(?:\.[0-9]+)?|[^\W_]+(?:['’][a-z]+)?|(?<!_)_+[^\W_]+", re.UNICODE)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")

_SPACES = re.compile(r"\s+")
_ROLE = re.compile(
    r"(?::[\w:+.-]{1,100}:|\{[a-z][\w:+.-]{0,60}\})`[~!.]?(?:_\w{1,60}\.)?([^`<\s]*+(?:\s++[^`<\s]++)*+(?:\s*+(?=`))?)(?:\s*+<[^`>]*+>)?`"
)
_PEP = re.compile(r":pep:`(\d{1,5})`", re.IGNORECASE)
_INLINE_TAG = re.compile(
    r"(?:\[([^\[\]{}]{1,200})\])?\{@(?:link|linkcode|linkplain|code|inheritDoc)\s++([^{}|\s]++)(?:\s*+\|?\s*+([^{}]*+))?\}"
)
_REFERENCE = re.compile(r"(?<![\w\])])\[(`?[^\[\]`]{1,200}`?)\]\[[\w.:() -]{0,200}\]")
_LINK = re.compile(r"`(\s*+[^`<\s]++(?:\s++[^`<\s]++)*+)\s*+<[^`>]++>`_{1,2}")
_ADDRESSED = re.compile(r"`([^`]{1,300}?)\s*+<(?:https?:|mailto:)[^`>\s]{1,500}+>`_{1,2}")
_TILDE = re.compile(r"(?<![\w~`/.])~(?=[A-Za-z_]\w{0,60}\.\w)")
_SUFFIX = re.compile(r"(?<=`)\\(?=\w)")
_SUBSTITUTION = re.compile(r"(?<![^\s(,])\|(@?[A-Za-z](?:[\w. -]{0,60}\w)?)\|_{0,2}(?![\w|])")
"""reST's `|str|` and `|callable|_`, which its author replaces elsewhere; the cell of a table has blanks around it."""
_ESCAPED = re.compile(r"(?<=\w)\\_")
_PARAMETER_TAG = re.compile(
    r"(?<!\S)@param\s++(?:\{[^{}\n]{0,200}\}\s*+)?\[?([\w$.]{1,80}(?:=[^\[\]\s]{1,40})?)\]?(?:\s++-)?(?=\s)"
)
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)")
_TAG = re.compile(r"</?(?:abbr|a|b|i|em|strong|code|span|p|br|sup|sub)(?: [^<>]*)?/?>")
_QUOTED_LINE = re.compile(r"^[ \t]*+>(?!>>)(?:[ \t]?>)*+[ \t]*+(?:\[![A-Z]+\])?", re.MULTILINE)
"""The mark of a quotation in Markdown, which some use for notes; three of them are the prompt of Python."""
_LITERAL_OR_TAG = re.compile(rf"(``[^`]{{1,200}}``)|{_TAG.pattern}")
"""What stands between double backticks is shown as it is; a tag elsewhere is mark-up."""
_RAISED = {"<sup": "^", "<sub": "_"}
"""What is written in place of these tags: `2<sup>10</sup>` is not 210."""
_DOUBLE = re.compile(r"(?<!`)``(?!`)")

_MARK_UP: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    ("`", _PEP, r"PEP \1"),
    ("`", _ROLE, r"`\1`"),
    ("{@", _INLINE_TAG, lambda found: found[1] or f"`{found[3].strip() or found[2]}`"),
    ("][", _REFERENCE, r"\1"),
    ("@param", _PARAMETER_TAG, r"`\1`:"),
    ("|", _SUBSTITUTION, r"\1"),
    ("\\_", _ESCAPED, "_"),
    ("](", _MARKDOWN_LINK, r"\1"),
    ("<", _LITERAL_OR_TAG, lambda found: found[1] or _RAISED.get(found[0][:4], "")),
    ("<", _LINK, r"\1"),
    ("<", _ADDRESSED, r"\1"),
    ("~", _TILDE, ""),
    ("`\\", _SUFFIX, ""),
    ("``", _DOUBLE, "`"),
)
"""Each mark-up with a sign that it cannot do without, by which most texts are done: few have any mark-up."""


def split_identifier(word: str) -> list[str]:
    """The parts of a camelCase, PascalCase or mixed identifier, lower-case; one part for a plain word."""
    return [part.lower() for part in _CAMEL.findall(word)]


def words(text: str) -> list[str]:
    """The words of prose or code, in order, lower-case.

    snake_case and dotted names fall into their parts, camelCase stays whole and its parts are added,
    `HTTP/2` is one word (`http2`; `HTTP/1.1` is `http11` and `http1`), an apostrophe ends a word, and CJK runs become bigrams.
    """
    if _SIMPLE.fullmatch(text):
        return _LOWER.findall(text)
    found: list[str] = []
    for word in _WORD.findall(text):
        plain = word.replace("/", "").lstrip("_").split("'")[0].split("’")[0]
        if not plain:
            continue
        if "." in plain:  # a protocol and its version
            found += [plain.replace(".", "").lower(), plain.partition(".")[0].lower()]
            continue
        if _CJK.search(plain):
            found.extend(_bigrams(plain))
            continue
        found.append(plain.lower())
        if not plain.islower() and not plain.isupper():
            parts = split_identifier(plain)
            if len(parts) > 1:
                found.extend(parts)
    return found


def _bigrams(run: str) -> list[str]:
    pieces: list[str] = []
    for piece in re.findall(
        rf"{_CJK.pattern}++|(?:(?<![^\W_])|(?<={_CJK.pattern}))(?:(?!{_CJK.pattern})[^\W_])++(?={_CJK.pattern}|$)",
        run,
    ):
        if _CJK.search(piece) and len(piece) > 1:
            pieces.extend(piece[i : i + 2] for i in range(len(piece) - 1))
        else:
            pieces.append(piece.lower())
    return pieces


def folded(text: str) -> str:
    """A text with every run of white space as one blank: line breaks and indentation do not change what it says."""
    return _SPACES.sub(" ", text).strip()


def unquoted(text: str) -> str:
    """A text in Markdown without the marks of what it quotes."""
    return _QUOTED_LINE.sub("", text) if ">" in text else text


def plain(text: str) -> str:
    """A text as it reads: without roles, link targets, inline tags and double backticks, white space folded."""
    text = unquoted(text)
    for sign, pattern, written in _MARK_UP:
        if sign in text:
            text = pattern.sub(written, text)
    return folded(text)


@lru_cache(maxsize=16_384)
def normalised(statement: str) -> str:
    """A statement as it is compared letter by letter: without mark-up, case, punctuation and double blanks."""
    return " ".join(words(plain(statement)))


STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being between both but by can cannot
    could did do does doing done don for from further get gets getting got had has have having he her here how i if
    in into is it its itself just let like make makes making many me more most much my need needs no nor not now of
    on once one only or other our out over own please same shall she should so some such than that the their them
    then there these they this those through to too trying under up us use used user uses using very want wants was
    way we well were what when where whether which while who whom why will with within without would you your
    ve ll re s t m d im ive id dont doesnt cant isnt aren couldn didn doesn hadn hasn haven isn mustn needn shouldn
    wasn weren won wouldn possible correct proper properly best example examples
    thing things something someone anyone anything everything""".split()
)
"""Words that say nothing about a topic, question words and pleasantries of technical questions included."""

WEAK_WORDS = frozenset(
    """able actually again ahead almost alone already although always another anybody anyway apart around aside away
    back based basically behind below beside big bit both bring call called certain certainly clear clearly come comes
    common company completely concerning day deal depending different difficult done easy easily either else end ends
    ensure entire especially etc even ever every everybody exactly few final finally find fine first fit fits
    following force found full fully general give given gives go goes going gone good guess handle happen happens hard
    head help hold holds however idea important inside instead issue keep keeps kind know large last later least leave
    left less level likely line little long look looking looks lot main manner maybe mean means might mine minute
    moment month morning must myself near nearly never new next nice nobody none normal normally nothing number off
    often old ones onto order overnight own page part parts people perhaps piece pieces place plain point points
    pretty problem put puts quick quickly quite rather real really reason right rid sat say says second see seem seems
    seen self sense several short show simple simply since single sit small solution solve somebody somehow someone
    sometimes soon sort special specific start starting state step still straight strange stranger sure system take
    takes tell tells thing think thought together told top totally touch treat tried tries true turn two under unit
    unless until upon usual usually various version via warn whatever whenever wherever whether whole wish wonder
    wondering word work working works world worse worst wrong yes yet three four five ten once twice current
    currently automatically directly involve involves""".split()
)
"""Ordinary English that is rare in API documentation without being what a question is about."""

BYTES_A_TOKEN = 3
"""English and code have some four bytes of UTF-8 to a token, Chinese and Japanese three."""

_IRREGULAR = """arise arose arisen; become became; begin began begun; break broke broken; breed bred; bring brought; build built;
burn burnt; buy bought; catch caught; choose chose chosen; come came; deal dealt; dig dug; draw drew drawn; drive drove driven; eat ate
eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot
forgotten; foresee foresaw foreseen; freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear
heard; hide hid hidden; hold held; keep kept; know knew known; lead led; lean leant; learn learnt; lend lent; lose lost; make made; mean
meant; meet met; mislead misled; misspell misspelt; mistake mistook mistaken; outgrow outgrew outgrown; overcome overcame; overdo overdid
overdone; override overrode overridden; overrun overran; oversee oversaw overseen; overtake overtook overtaken; overthrow overthrew
overthrown; overwrite overwrote overwritten; pay paid; prove proven; rebuild rebuilt; redo redid redone; redraw redrew redrawn; rerun
reran; resend resent; rethink rethought; rethrow rethrew rethrown; retell retold; rewrite rewrote rewritten; ride rode ridden; ring rang;
rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; show shown; shrink shrank
shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken; speed sped; spell spelt; spend spent; spin
spun; spring sprang sprung; stand stood; steal stole stolen; stick stuck; strike struck stricken; strive strove striven; swear swore
sworn; sweep swept; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw
thrown; undergo underwent undergone; understand understood; undertake undertook undertaken; undo undid undone; uphold upheld; wake woke
woken; wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; withhold withheld; withstand withstood; write
wrote written"""
"""Irregular verbs and their past forms. Left out is what is mostly another word in technical English: `bit`, `bore`, `bound`, `ground`,
`lay`, `left`, `lit`, `shot`, `wound`."""
_INFINITIVES = {form: verb for verb, *forms in map(str.split, _IRREGULAR.split(";")) for form in forms}

_VOWEL, _CONSONANT = r"(?:[aeiou]|(?<=[^aeiou])y)", r"(?:[^aeiouy]|(?<=[aeiou])y)"
_REVISED = re.compile(
    rf"^((?>.*?{_VOWEL})(?>.*?{_CONSONANT}).*)(bl|log)(?:y(?:s|(?:ed|ing)s?)?|i(?:s|es|(?:ed|ing)s?)?)$"
)
"""`possibly`, `topology`: endings that Porter treated anew later, as SQLite does; a syllable must stand before them."""
_SHORTEST, _LONGEST = 3, 64
"""SQLite stems words of so many letters."""


class _Stemmers(threading.local):
    """A stemmer keeps the word it works on, so each thread has its own."""

    def __init__(self) -> None:
        self.porter = Stemmer("porter")


_stemmers = _Stemmers()
_TURNING = frozenset({"un", "non"})
_TURNED = 4
"""Letters of a stem that a prefix may turn round: `it` and `unit` are two words."""
_TURNED_BY = {
    "de": frozenset({"serial", "compress", "activ", "regist", "alloc", "normal"}),
    "dis": frozenset({"connect", "allow"}),
}
"""The stems that prefixes turn round which as a rule do not: `fault` and `default`, `play` and `display` are two words."""
_OTHER_WAY = ("upload download", "encode decode", "encrypt decrypt", "import export")
"""Pairs of opposite actions. Not those of a switch (`include`, `ascending`): `False` turns these round."""


def tokens(text: str) -> int:
    """About how many tokens of a language model a text has; rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The Porter stem of a lower-case word (M. F. Porter, 1980), as SQLite's `porter` tokenizer makes it."""
    if not _SHORTEST <= len(word) <= _LONGEST:
        return word
    if "bl" in word or "log" in word:  # the pattern takes as long as all the rest
        ending = _REVISED.match(word)
        if ending:
            word = ending[1] + ("ble" if ending[2] == "bl" else "log")
    return str(_stemmers.porter.stemWord(word))


def infinitive(word: str) -> str:
    """The verb that a lower-case word is an irregular form of (`kept`: `keep`); any other word as it is."""
    return _INFINITIVES.get(word, word)


def root_of(word: str) -> str:
    """What two texts' words are compared by: the stem, of an irregular form its verb's. An index of SQLite's knows stems alone."""
    return stem(infinitive(word))


def is_opposite(one: str, other: str) -> bool:
    """Whether one of two stems is the other with a prefix that turns it round (`structur`, `unstructur`), or the opposite action (`upload`, `download`)."""
    if frozenset({one, other}) in _ways():
        return True
    short, long = sorted((one, other), key=len)
    prefix = long.removesuffix(short) if len(short) >= _TURNED and long.endswith(short) else ""
    return prefix in _TURNING or short in _TURNED_BY.get(prefix, ())


@cache
def _ways() -> frozenset[frozenset[str]]:
    return frozenset(frozenset(map(stem, pair.split())) for pair in _OTHER_WAY)


def is_weak(word: str) -> bool:
    """Whether a lower-case word, or the verb that it is a form of, is ordinary English that is not what a text is about."""
    return word in WEAK_WORDS or infinitive(word) in WEAK_WORDS


def content_words(text: str) -> list[str]:
    """The distinct words of a text that carry its meaning, in order; all its words if none do."""
    return telling_words(words(text))


def telling_words(found: list[str]) -> list[str]:
    """Those of some words that carry meaning, each once, in order; all of them if none do."""
    everything = list(dict.fromkeys(found))
    telling = [
        word for word in everything if word not in STOP_WORDS and (len(word) > 1 or not word.isascii())
    ]
    return telling or everything


def stems(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(map(stem, content_words(text)))


def roots(text: str) -> frozenset[str]:
    """The roots of the words of a text, stop words aside; none where it has no others."""
    return frozenset(root_of(word) for word in words(text) if word not in STOP_WORDS)
