"""What leaves the machine: the question as a source's policy allows it, and never a secret (R19)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.question.topics import topic_and_tags

if TYPE_CHECKING:
    from kr_core.model import Egress, ResearchQuery

REDACTED = "[redacted]"

_SECRETS = re.compile(
    r"""
    -----BEGIN[ A-Z]*PRIVATE\ KEY-----.*?(?:-----END[ A-Z]*PRIVATE\ KEY-----|\Z)
    | \b(?:sk|pk|rk)[-_](?:ant-|proj-|live[-_]|test[-_])[A-Za-z0-9_-]{16,}    # OpenAI, Anthropic, Stripe
    | \b(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{16,}         # not the index pk_users_of_projects
    | \bctx7sk[-_A-Za-z0-9]{8,} | \btvly-[A-Za-z0-9_-]{8,} | \bBSA[A-Za-z0-9_-]{20,}
    | \bgh[opsur]_[A-Za-z0-9]{16,} | \bgithub_pat_[A-Za-z0-9_]{16,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bnpm_[A-Za-z0-9]{20,} | \bpypi-[A-Za-z0-9_-]{20,} | \bhf_[A-Za-z0-9]{20,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{8,} | \bAIza[A-Za-z0-9_-]{30,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | (?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]++\.[A-Za-z0-9_-]{8,}+\.)            # a JSON Web Token: looked for once in a run
      [A-Za-z0-9_-]*?\beyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]++\.[A-Za-z0-9_-]*+
    """,
    re.VERBOSE | re.DOTALL,
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")
_BEARER = re.compile(
    r"""(?x)
    ( (?i: authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+ )
    | \b(?i: bearer|basic )\s+(?=\S{0,200}(?:[0-9]|=|[a-z][A-Z]\S*[a-z][A-Z])) )  # not basic authentication
    [A-Za-z0-9._~+/=-]{12,}"""
)
_ASSIGNED = re.compile(
    r"""(?ix)
    ((?:password|passwd|pwd|secret|token(?!s)|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)[\w.-]{0,40}
     ["']?\s*[:=]\s*)
    (?: "([^"\s]{4,})" | '([^'\s]{4,})' | ([^\s"',;(){}\[\]]{6,}) )
    """
)
_NAME_OF_A_VALUE = re.compile(
    r"(?i)(?:[a-z_]+(?:\.[a-z_]+)*|same-origin|\$\{?\w+\}?|os\.environ.*+|<.*>|\.\.\.)[?.!]*"
)
"""What stands where a secret would: a name, a variable, a placeholder."""

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_A_NAME = re.compile(r"[\w.@/:*-]+(?:\(\)|(?: [\w.@/:*-]+){1,2})?|\W+")
"""A name, up to three words (`async with`), an operator."""
_PATH = re.compile(r"(?<![\w:/.])(?:~|[A-Za-z]:)?[\\/](?=[\w.@-])(?:[\w.@ -]++[\\/])+([\w.@-]+)")
_CODE_LINE = re.compile(
    r"""(?x)
    \s*+(?:
        (?:from\s+[\w.]+\s+import|import\s+[\w.{*]|def\s+\w+\(|async\s+def|class\s+\w+[(:]|return\b.*[;()]|@\w[\w.]*+(?:\(|$)
         |(?:const|let|var|function|public|private|fn|func|use|package|\#include|\#define)\s++\S.*[;{=(]
         |(?:if|for|while|with|try|else|elif|except|finally|switch|catch)\b.*[:{]\s*$
         |>>>|\.\.\.\s|\$\s|File\ ".*",\ line\ \d+|at\s++\S[^\s(]*+\(.*:\d+\)|Traceback\b)
        | [\w.\[\]"']+\s*(?:=|\+=|:=)\s*\S.* | .*[;{}]\s*$ | [)\]}]+[,;]?\s*$ | [\w.]+\(.*\)\s*$
    )"""
)


class RedactedQuery(NamedTuple):
    """A query as it may leave the machine, and what was kept at home."""

    query: ResearchQuery
    kept: tuple[str, ...]
    """`a secret`, `code`: for a note; the policy `names` is no news to who chose it."""


def redacted(text: str) -> str:
    """A text without likely secrets: keys of known services, tokens, passwords in addresses and assignments."""
    text = _SECRETS.sub(REDACTED, text)
    text = _CREDENTIALS.sub(REDACTED, text)
    text = _BEARER.sub(rf"\g<1>{REDACTED}", text)
    return _ASSIGNED.sub(_without_value, text)


def outgoing(query: ResearchQuery, policy: Egress) -> RedactedQuery:
    """What a source that leaves the machine may know of a query."""
    clean = redacted(query.question)
    kept = ["a secret"] if clean != query.question else []
    if policy != "code":
        prose = _without_code(clean)
        kept += ["code"] if _words(prose) != _words(clean) else []
        clean = prose
    says_something = policy != "names" and re.search(r"\w", clean) is not None
    topic, tags = _about(query, clean if says_something else "")
    if not says_something:
        clean = redacted(f"{query.framework} {topic}".strip())
    names = () if policy == "names" else tuple(name for name in query.names if redacted(name) == name)
    return RedactedQuery(
        query.model_copy(update={"question": clean, "topic": topic, "tags": tags, "names": names}),
        tuple(kept),
    )


def _about(query: ResearchQuery, clean: str) -> tuple[str, tuple[str, ...]]:
    """Topic and tags as they may leave: those that were made of the question tell no more than what goes of it."""
    topic, tags = redacted(query.topic), tuple(map(redacted, query.tags))
    if clean == query.question or query.inferred.isdisjoint({"topic", "tags"}):
        return topic, tags
    of_clean, tags_of_clean = topic_and_tags(clean, query.framework) if clean else ("", ())
    return (
        of_clean if "topic" in query.inferred else topic,
        tags_of_clean if "tags" in query.inferred else tags,
    )


def _without_value(found: re.Match[str]) -> str:
    value = next(group for group in found.groups()[1:] if group is not None)
    return found.group() if _NAME_OF_A_VALUE.fullmatch(value) else f"{found.group(1)}{REDACTED}"


def _without_code(text: str) -> str:
    """The prose of a question: no fenced blocks, no lines of code, no expressions, and no folders of this machine."""
    text = _FENCED.sub(" ", text)
    text = _INLINE.sub(lambda found: found.group(1) if _A_NAME.fullmatch(found.group(1)) else " ", text)
    text = _PATH.sub(r"\1", text)
    first, *others = text.split("\n")
    # The first line is what was asked, however it looks; code is pasted below it.
    return "\n".join([first, *(line for line in others if not _CODE_LINE.match(line))]).strip()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)
