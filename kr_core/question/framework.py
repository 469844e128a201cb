"""Which framework a question is about, from its words and what the project has; and its topic and tags."""

from __future__ import annotations

import re
from itertools import pairwise
from keyword import iskeyword
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.project.package_names import distributions_called, normalise
from kr_core.project.project import is_python, is_standard
from kr_core.question.topics import topic_and_tags
from kr_core.question.vocabulary import (
    ALSO_WORDS,
    DEFINITE_MODULES,
    IMPORTED_AS,
    KNOWN,
    NOT_LIBRARIES,
    PLAIN_ENGLISH,
    STANDARD_NAMES,
)
from kr_core.text import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.project import LocalProject

__all__ = ["infer_framework", "named_framework", "topic_and_tags", "undeclared"]

Cue = Literal[
    "dotted", "import", "backticks", "closing", "placed", "owner", "noun", "capital", "bare", "other", "part"
]
Origin = Literal["installed", "locked", "standard", "own", "absent"]

_TOKEN = re.compile(
    r"@[A-Za-z0-9][\w.-]*/[\w.-]*\w|(?<!\d)[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*", re.ASCII
)
_PLACE = re.compile(
    r"(?:\b(?:in|inside|with|using|via|use|uses|used)\s+(?:the\s+)?(?:python(?:['\u2019]s)?\s+)?|(?:在|用|使用)\s*)[`'\"]?$",
    re.IGNORECASE,
)
_PLACED_IN_OWNER = re.compile(r"\b(?:in|with|using|via)\s+[\w.+-]+['\u2019]s\s+[`'\"]?$", re.IGNORECASE)
_FOR = re.compile(r"\bfor\s+(?:the\s+)?[`'\"]?$", re.IGNORECASE)
_USE = re.compile(r"\b(?:use|uses|used)\s+(?:the\s+)?[`'\"]?$", re.IGNORECASE)
_IMPORT = re.compile(r"(?:^|[\s`(])import\s+$|\bfrom\s+$", re.IGNORECASE)
_NOUN = re.compile(r"[`'\"]?\s+(?:library|package|module|framework|distribution)\b", re.IGNORECASE)
_AS = re.compile(r"\s+as\s+(?:an?\s+|the\s+|its\s+|my\s+)?\w")
"""What plays a part in something else: "celery with redis as broker"."""
_END = re.compile(
    r"[`'\"]?(?:\s*+(?:(?:==|v|version)\s*+)?\d[\w.]*)?\s*+(?:[,;:?!)。，？]|\.(?:\s|$)|$|中|里)"
)
_VERB_BEFORE = re.compile(
    r"\b(?:to|i|we|you|they|can|could|should|would|will|not|a|an|each|every|this|that)\s+$", re.IGNORECASE
)
_FILE_TAILS = frozenset(
    "c cfg conf css csv env html ini ipynb java js json lock log md pdf py rs rst sh sql toml ts txt xml yaml yml".split()
)
_ENGLISH_ENDINGS = re.compile(
    r"(?:ing|ings|tion|tions|sion|ment|ments|ness|ity|ities|ly|able|ible|ed|ence|ance|ism|ship|ful|less|ous|ual|ies|ss|ers|ors|ure)$"
)
_CLASS_ENDINGS = re.compile(r"(?:Error|Exception|Warning|Client|Session|Response|Request|Requests|Model|Timeout|Handler|Config|Settings|Sockets?|Pool|Queue|Field|View|Manager|Factory|Context|Type|Types|Base|Script|Hub|Event|Group|Transport|Auth|Adapter|Mixin|Loader|Dumper|Parser|Validator|Logger|Schema)$")  # fmt: skip

_SCORES: dict[Cue, int] = {
    "dotted": 100,
    "import": 98,
    "backticks": 90,
    "closing": 86,
    "placed": 80,
    "noun": 80,
    "owner": 78,
    "capital": 50,
    "bare": 50,
    "other": 50,
    "part": 35,
}
_PARTS_OF_LIBRARIES = frozenset(
    """app application argument array class client column command connection container context cookie dataframe decorator
    engine event exception field fixture form frame function group handler header hook instance job layout logger method
    middleware model module node object option page parameter parser plugin query queue request response route router
    schema script server session signal style table task template test type validator view widget worker""".split()
)
"""What an ordinary word before it makes a library's: a click option, a rich table."""
_INSTALLERS = frozenset({"pip", "setuptools", "uv", "wheel"})
"""What every environment may have, and no question means that does not name it."""
_ITSELF = frozenset("api client core js lib node orm py python sdk ts".split())
"""What is added to the name of a library in that of its package."""
_ENOUGH = 40
"""What a package must score to be what the question is about; below, it is taken only for want of another."""
_LANGUAGES = frozenset({"typescript"})
"""Packages that a question names as the language of its code: "the TypeScript type of a row"."""


_FAMILIAR_MODULES = frozenset({"logging", "os", "re", "sys"})


class _Mention(NamedTuple):
    """A name in a question: how it is written, where it stands, and what speaks for its being a package."""

    name: str
    start: int
    end: int
    cue: Cue


class _FrameworkCandidate(NamedTuple):
    framework: str
    score: int
    start: int
    origin: Origin
    is_direct: bool = False
    """Whether the project itself asks for it."""
    is_phrase: bool = False
    """Whether it is written as several words."""


class NamedFramework(NamedTuple):
    """What a question names."""

    framework: str | None
    sure: bool = True
    guess: str = ""
    """How the question spells it, if it is taken for a library that is not there by its spelling alone."""


def infer_framework(question: str, project: LocalProject) -> str | None:
    """Say which framework a question is about, or None where nothing says so.

    A name is normalised (`pyyaml`), one of npm is as npm has it (`socket.io`).

    What is installed or locked is recognised by the names of distributions and of what they are imported by; the
    standard library is `python`. An ordinary word that is also a package needs a cue ("in rich", `click.echo`), or that
    the project depends on it. A library that is not installed is recognised only where it clearly is one. Where nothing
    is named, the one direct dependency of the project is meant, if there is but one.
    """
    return named_framework(question, project).framework


def named_framework(question: str, project: LocalProject) -> NamedFramework:
    """The framework that a question is about, as `infer_framework` says, and whether the question names it for sure."""
    found = _named_framework(question, project)
    if found.framework is None or project.distribution(found.framework, own=False):
        return found
    return found._replace(framework=_as_npm_has_it(found.framework, question, project))


def _as_npm_has_it(framework: str, question: str, project: LocalProject) -> str:
    """The name of a package as npm knows it, where the project has it from there: the one that the question spells comes first."""
    known = project.npm_names(framework)
    spelled = question.lower()
    return next((name for name in known if name.lower() in spelled), known[0] if known else framework)


def _named_framework(question: str, project: LocalProject) -> NamedFramework:
    mentions = list(_mentions(question))
    packages = _rank([*_installed(mentions, question, project), *_before_endings(question, project)])
    if not packages or packages[0].score < _ENOUGH:
        packages = _rank(
            [
                *packages,
                *_locked(mentions, question, project),
                *_by_first_part(mentions, question, project),
                *_absent(mentions, question, project),
            ]
        )
    if packages and packages[0].origin == "absent" and packages[0].framework in _LANGUAGES:
        packages = [one for one in packages if one.origin != "absent"] or packages
    # what has its module before it is the standard library's, whatever it is used with: `json.dumps with NaN`
    spelled = any(mention.cue in {"dotted", "import"} and _is_about_python(mention) for mention in mentions)
    guessed = packages and packages[0].origin == "absent" and packages[0].framework not in KNOWN
    own = next((one for one in packages if one.is_direct), None)
    if guessed and own is not None:  # what the project has comes before a word that may be a library's name
        return NamedFramework(own.framework)
    if packages and packages[0].score >= _ENOUGH and not (spelled and guessed):
        best = packages[0]
        if best.is_phrase and not best.is_direct and own is not None and own.score >= _ENOUGH:
            best = own  # "turn a zod schema into JSON Schema": words that are a package's name by chance
        written = question[best.start : best.start + len(best.framework)]
        return NamedFramework(best.framework, not guessed, written if guessed else "")
    if any(_is_about_python(mention) for mention in mentions):
        return NamedFramework("python")
    sole = _sole_dependency(project)
    if sole is not None:
        return NamedFramework(sole)
    return (
        NamedFramework(packages[0].framework, packages[0].is_direct)
        if packages
        else NamedFramework(None, sure=False)
    )


def library_of(name: str, project: LocalProject) -> str | None:
    """The library that a dotted name begins with (`np.unique`), if it is installed or the standard library; else None."""
    root, dot, _rest = name.partition(".")
    module = IMPORTED_AS.get(root, root)
    if not dot:
        return None
    if is_standard(module):  # `queue.put` and `token.type` are rather objects of the asker's
        return "python" if module in DEFINITE_MODULES or module in _FAMILIAR_MODULES else None
    one = project.distribution(module, own=False) or project.module(module)
    return one.name if one is not None else None


def _mentions(question: str) -> Iterator[_Mention]:
    """The names in a question; runs of two or three words too, since `beautiful soup` is one."""
    tokens = [token for token in _TOKEN.finditer(question) if not _is_ending(question, token.start())]
    for number, token in enumerate(tokens):
        for count in (3, 2):
            run = tokens[number : number + count]
            between = [question[a.end() : b.start()] for a, b in pairwise(run)]
            if len(run) == count and all(space == " " for space in between):
                start, end = run[0].start(), run[-1].end()
                yield _Mention(question[start:end], start, end, _cue(question, start, end))
        dotted = _dotted_head(token[0])
        if dotted:
            yield _Mention(dotted, token.start(), token.end(), "dotted")
            root, _dot, rest = dotted.partition(".")
            module = IMPORTED_AS.get(root)
            if module and not is_standard(module):  # `dt` may be any variable, but `np` is numpy
                yield _Mention(f"{module}.{rest}", token.start(), token.end(), "dotted")
        yield _Mention(token[0], token.start(), token.end(), _cue(question, token.start(), token.end()))


def _is_ending(question: str, start: int) -> bool:
    """Whether a word is the ending of a file's name: `.py files`."""
    return question[start - 1 : start] == "." and (start < 2 or not question[start - 2].isalnum())


def _dotted_head(token: str) -> str | None:
    """The dotted name in a token such as `httpx.AsyncClient`, or None for a file name or plain word."""
    head, dot, _ = token.partition(".")
    tail = token.rpartition(".")[2].lower()
    return token if dot and len(head) > 1 and tail not in _FILE_TAILS else None


def _cue(question: str, start: int, end: int) -> Cue:
    before, after = _around(question, start, end)
    placed = (
        _PLACE.search(before) or _PLACED_IN_OWNER.search(before) or re.match(r"\s*(?:中|里|で|에서)", after)
    )
    if _IMPORT.search(before) and (not before.rstrip().endswith("from") or " import" in after):
        return "import"
    if _NOUN.match(after):
        return "noun"
    if placed and _AS.match(after):
        return "part"
    if placed and _END.match(after):
        return "closing"
    if before.endswith("`") and after.startswith("`"):
        return "backticks"
    if after[:2] in {"'s", "\u2019s"}:
        return "owner"
    if placed:
        return "placed"
    word = question[start:end]
    if word[:1].isupper() and not word.isupper() and not re.search(r"(?:^|[.!?]\s*)$", before):
        return "capital"
    return "bare" if not _VERB_BEFORE.search(before) else "other"


def _installed(mentions: list[_Mention], question: str, project: LocalProject) -> list[_FrameworkCandidate]:
    found = []
    for mention in mentions:
        if not _may_name(mention):
            continue
        one = project.distribution(mention.name, own=False)
        borrowed = None if one else project.distribution(mention.name)
        if one:
            found.append(_scored(mention, one.name, "installed", question, project))
        elif borrowed:
            found.append(_scored(mention, borrowed.name, "own", question, project))
    return found


def _locked(mentions: list[_Mention], question: str, project: LocalProject) -> list[_FrameworkCandidate]:
    named = project.named_packages()
    found = []
    for mention in mentions:
        head = mention.name.partition(".")[0] if mention.cue == "dotted" else mention.name
        plain = head.lower().removesuffix(".js")
        names = [normalise("-".join(plain.split())), *distributions_called(head)]
        whole = normalise(mention.name)  # `socket.io`, beside Python's `socket`
        is_whole = "." in mention.name and whole in project.direct_dependencies()
        known = whole if is_whole else next((name for name in names if name in named), None)
        if known and _may_name(mention) and (is_whole or not is_standard(mention.name)):
            found.append(_scored(mention, known, "locked", question, project))
    return found


def _by_first_part(
    mentions: list[_Mention], question: str, project: LocalProject
) -> list[_FrameworkCandidate]:
    """The direct dependency that a word is the first part of, if there is but one: `drizzle` for `drizzle-orm`.

    What has the plain name itself is another library, and so is a known one beside what adds to it (`django-environ`).
    """
    found = []
    for mention in mentions:
        lower = mention.name.lower()
        if mention.cue == "dotted" or not lower.isalnum() or _is_plain_english(lower) or _is_english(lower):
            continue
        if lower in project.named_packages() or project.distribution(lower) or project.module(lower):
            continue
        for development in (False, True):
            names = [
                name
                for name in project.direct_dependencies(development=development)
                if name.startswith(f"{lower}-") and (lower not in KNOWN or name.rpartition("-")[2] in _ITSELF)
            ]
            if names:
                break
        if len(names) == 1:
            score = _absent_score(mention, question)
            found.append(
                _FrameworkCandidate(
                    names[0], max(score, _ENOUGH) + 2, mention.start, "locked", is_direct=score > 0
                )
            )
    return found


def _before_endings(question: str, project: LocalProject) -> list[_FrameworkCandidate]:
    """Direct dependencies with a member that is called like the ending of a file's name: `express.json`."""
    found = []
    for token in _TOKEN.finditer(question):
        head, dot, tail = token[0].partition(".")
        name = normalise(head)
        if dot and tail.lower() in _FILE_TAILS and name in project.direct_dependencies(development=False):
            found.append(_FrameworkCandidate(name, _ENOUGH + 15, token.start(), "locked", is_direct=True))
    return found


def _absent(mentions: list[_Mention], question: str, project: LocalProject) -> list[_FrameworkCandidate]:
    """Libraries that are named and not there; recognised only by where and how they are written."""
    found = []
    for mention in mentions:
        if is_standard(mention.name) or mention.name in STANDARD_NAMES:
            continue
        if project.distribution(mention.name) is not None:
            continue
        called = distributions_called(mention.name)
        if called and mention.cue in {"closing", "placed"} and not mention.name.isupper():
            found.append(_FrameworkCandidate(called[0], 66, mention.start, "absent"))
        elif (
            called and " " in mention.name
        ):  # two words that are a library's name are nothing else: `vue router`
            found.append(_FrameworkCandidate(called[0], 60, mention.start, "absent"))
        elif score := _absent_score(mention, question):
            found.append(_FrameworkCandidate(mention.name.lower(), score, mention.start, "absent"))
    return found


def _absent_score(mention: _Mention, question: str) -> int:
    before, _ = _around(question, mention.start, mention.end)
    known = mention.name.lower() in KNOWN
    if known and (
        mention.cue == "capital" or (mention.cue == "bare" and mention.name.lower() not in ALSO_WORDS)
    ):
        return 42
    placed = mention.cue in {"closing", "placed", "owner", "noun", "import"} or _FOR.search(before)
    # What one uses may be anything ("use keep-alive"); what one works in or with is more often a library.
    if not placed or (_USE.search(before) and not known) or " " in mention.name:
        return 0
    if before.endswith(("'", '"')) and not known:  # what is quoted is data
        return 0
    if not _looks_like_library(mention, question):
        return 0
    if before.endswith("`") and mention.name.islower() and not known:
        return _ENOUGH  # a variable is written like this too: anything else that is named comes before
    return 70 if _PLACED_IN_OWNER.search(before) else 60 if mention.cue == "owner" else 65


def _around(question: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and after a name; a short piece, so that a long question is not read for each word."""
    return question[max(0, start - 60) : start], question[end : end + 60]


def _may_name(mention: _Mention) -> bool:
    """Whether a word may be a package's name at all: a stop word is one only where it is marked as code."""
    return mention.name.lower() not in STOP_WORDS or mention.cue in {"dotted", "import", "backticks", "noun"}


def _scored(
    mention: _Mention, framework: str, origin: Origin, question: str, project: LocalProject
) -> _FrameworkCandidate:
    direct = framework in project.direct_dependencies()
    score = _SCORES[mention.cue]
    if _is_plain_english(mention.name):
        score = _plain_score(mention, question, direct=direct)
    score += 6 if framework in project.direct_dependencies(development=False) else 3 if direct else 0
    score += 2 * mention.name.count(" ")
    return _FrameworkCandidate(
        framework, score - (12 if origin == "own" else 0), mention.start, origin, direct, " " in mention.name
    )


def _plain_score(mention: _Mention, question: str, *, direct: bool) -> int:
    """The score of an ordinary word that is also a package's name: little without a cue."""
    _, after = _around(question, mention.start, mention.end)
    following = re.match(r"\s+([A-Za-z]+)", after)
    alone = _END.match(after) or (following is not None and following[1].lower() in STOP_WORDS)
    match mention.cue:
        case "placed":
            return 75 if alone else 30
        case "capital":
            return 60
        case "bare" if direct:
            return 45
        case "bare":  # "rich text" is hardly a package, "requests" may be one, each for want of another
            return (
                10
                if alone or mention.name.endswith("s")
                else 5
                if following is not None and following[1].lower() in _PARTS_OF_LIBRARIES
                else 0
            )
        case "other":  # "make a click option"
            return 3 if following is not None and following[1].lower() in _PARTS_OF_LIBRARIES else 0
        case _:
            return _SCORES[mention.cue]


def _is_plain_english(name: str) -> bool:
    return all(
        word in PLAIN_ENGLISH
        or word in NOT_LIBRARIES
        or word.removesuffix("s") in NOT_LIBRARIES
        or word in STOP_WORDS
        for word in re.split(r"[\s_-]+", name.lower().partition(".")[0])
    )


def _is_about_python(mention: _Mention) -> bool:
    if is_python(mention.name) or mention.name in STANDARD_NAMES:
        return True
    if not is_standard(mention.name):
        return False
    return mention.cue in {"dotted", "import", "backticks", "noun"} or mention.name in DEFINITE_MODULES


def _looks_like_library(mention: _Mention, question: str) -> bool:
    name, lower = mention.name, mention.name.lower()
    if (
        lower in STOP_WORDS
        or iskeyword(lower)
        or re.search(r"[a-z]_[a-z]", name)  # a variable
        or is_standard(lower)
        or not NOT_LIBRARIES.isdisjoint({lower, lower.removesuffix("s")})
    ):
        return False
    if lower in KNOWN or lower.removesuffix(".js") in KNOWN or name.startswith("@"):
        return True
    marked = question[: mention.start].endswith("`") and question[mention.end :].startswith("`")
    if (marked or mention.cue == "import") and re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        return not _is_english(lower)
    if name.isupper() or mention.cue not in {"closing", "placed", "noun", "bare", "capital", "other"}:
        return False
    return _is_spelled_like_library(name, is_object=mention.cue in {"closing", "noun"})


def _is_spelled_like_library(name: str, *, is_object: bool) -> bool:
    """Whether a name is spelled as those of libraries are; `is_object` says that it stands where one is named."""
    lower = name.lower()
    if "." in name:
        return lower.endswith((".js", ".io"))
    if "-" in name:
        return is_object and not all(_is_english(part) for part in lower.split("-"))
    if re.search(r"[a-z][A-Z]", name):
        return name[0].isupper() and not _CLASS_ENDINGS.search(name)
    if re.search(r"[a-z]\d+$", name):
        return len(name) > 2
    return is_object and len(name) > 2 and not _is_english(lower)


def _is_english(word: str) -> bool:
    singular = word.removesuffix("s")
    known = word in NOT_LIBRARIES or singular in NOT_LIBRARIES or word in PLAIN_ENGLISH or word in STOP_WORDS
    plural = word.endswith("s") and word not in KNOWN
    return known or plural or _ENGLISH_ENDINGS.search(word) is not None


def _sole_dependency(project: LocalProject) -> str | None:
    names = project.direct_dependencies(development=False) or project.direct_dependencies()
    installed = [name for name in sorted(names) if project.distribution(name, own=False)]
    if len(installed) == 1:
        return installed[0]
    return next(iter(names)) if len(names) == 1 and not undeclared(project) else None


def undeclared(project: LocalProject) -> frozenset[str]:
    """What is installed in the project's environment, if its files name nothing of that: a question may be about any of it."""
    if any(project.distribution(name, own=False) for name in project.direct_dependencies()):
        return frozenset()
    return frozenset(normalise(one.name) for one in project.distributions()) - _INSTALLERS


def _rank(candidates: list[_FrameworkCandidate]) -> list[_FrameworkCandidate]:
    return sorted(
        (one for one in candidates if one.score > 0), key=lambda one: (-one.score, one.start, one.framework)
    )
