"""The errors that KR raises. Each message says where the problem is, what it is, and what to do.

    KRError
    |-- ConfigError    wrong use or configuration        exit code 2
    |-- PluginError    a plugin cannot be loaded or built  exit code 3
    |-- StorageError   the journal or a store fails  exit code 1
    `-- RequestError   a request failed                  never reaches the caller

A failing source raises none of these to the caller: its failure becomes a typed outcome.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` for this would cost every start; checkers know the name
if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORT_LIST = 8


class KRError(Exception):
    """Base of KR's errors.

    Args:
        what: the problem, in one sentence without a full stop.
        where: the file and line, plugin or path; empty if there is none.
        hint: what the reader can do; empty if there is no useful advice.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(what, where, hint)

    def __str__(self) -> str:
        message = f"{self.where}: {self.what}" if self.where else self.what
        return f"{message}; {self.hint}" if self.hint else message


class ConfigError(KRError):
    """The command line or the configuration is wrong."""

    exit_code = 2


class PluginError(KRError):
    """KR cannot import, register or build a plugin."""

    exit_code = 3


class StorageError(KRError):
    """KR cannot read or write the journal or another store."""

    exit_code = 1


class RequestError(KRError):
    """A request to a service, program or page failed.

    Args:
        outcome: the kind of failure: a value of `kr_core.Outcome`, such as `timeout` or `bad_answer`. If a source lets
            the error propagate, its consultation has this outcome.
        what: what is wrong.
        where: the address, program or service.
        hint: what the reader can do about it.
        seconds: how long to wait before the next request, if the service said so.
    """

    def __init__(
        self, outcome: str, what: str, *, where: str = "", hint: str = "", seconds: float | None = None
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.outcome = outcome
        self.seconds = seconds


def suggestion(word: str, known: Iterable[str], label: str, *, cutoff: float = 0.5) -> str:
    """What a misspelt word may have been: the nearest known one, and all of them where they are few.

    Args:
        word: what was written.
        known: what would have been right.
        label: what stands before the list of them, such as `keys`.
        cutoff: how near a name must be, 0-1; `max_call` is 0.5 near `max_calls_per_story`.
    """
    from difflib import get_close_matches

    names = sorted(set(known))
    if not names:
        return f"{label}: none"
    near = get_close_matches(word, names, n=1, cutoff=cutoff)
    listed = f"{label}: {', '.join(names)}"
    if not near:
        return listed
    question = f"did you mean `{near[0]}`?"
    return f"{question} ({listed})" if len(names) <= _SHORT_LIST else question
