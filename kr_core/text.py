"""Words: tokens of prose and code, stems, stop words; shared by matching, search and inference."""

from __future__ import annotations

import re
import threading
from functools import lru_cache

from Stemmer import Stemmer

from kr_core.plain_text import split_identifier, words

__all__ = [
    "BYTES_A_TOKEN",
    "STOP_WORDS",
    "WEAK_WORDS",
    "content_words",
    "infinitive",
    "is_opposite",
    "is_weak",
    "root_of",
    "roots",
    "split_identifier",
    "stem",
    "stems",
    "telling_words",
    "tokens",
    "words",
]

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being between both but by can cannot
    could did do does doing done don for from further get gets getting got had has have having he her here how i if
    in into is it its itself just let like make makes making many me more most much my need needs no nor not now of
    on once one only or other our out over own please same shall she should so some such than that the their them
    then there these they this those through to too trying under up us use used user uses using very want wants was
    way we well were what when where whether which while who whom why will with within without would you your
    ve ll re s t m d im ive id dont doesnt cant isnt won possible correct proper properly best example examples
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
    """Whether one of two stems is the other with a prefix that turns it round: `structur` and `unstructur`."""
    short, long = sorted((one, other), key=len)
    prefix = long.removesuffix(short) if len(short) >= _TURNED and long.endswith(short) else ""
    return prefix in _TURNING or short in _TURNED_BY.get(prefix, ())


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
