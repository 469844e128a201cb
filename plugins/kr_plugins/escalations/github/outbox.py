"""What a project has posted to one repository, and what it was about to post.

It is what makes a look for a marker needless where nothing can have gone wrong, and tells where one is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import Outcome, RequestError
from kr_core.plugin import Leases
from kr_plugins.escalations.github.outbox_lines import FileLines, JournalLines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kr_core.plugin import Journal
    from kr_plugins.escalations.github.outbox_lines import Lines

__all__ = ["Intent", "Outbox", "PostedItem"]

_CASE = re.compile(r"(E[0-9]+)@([0-9]+)")
_SIGNED = 32
"""Characters of a signature."""


class PostedItem(NamedTuple):
    """Something that stands on GitHub."""

    issue: int
    id: int
    """Of the comment; 0 for the issue itself."""
    url: str
    created: str
    """GitHub's time."""


class Intent(NamedTuple):
    """Something that may stand on GitHub: it was about to be posted, and nobody knows whether it was."""

    issue: int
    """0 for an issue."""
    after: str
    """A time of GitHub's before it can have been posted; empty where none is known."""


class Outbox:
    """What was posted to a repository, shared by all processes of a project; by all machines where they share its journal.

    Args:
        folder: the project's `.kr/`.
        place: the address of the API and the repository; each has a ledger of its own.
        journal: the project's; None for that of a project that has none.

    Raises:
        RequestError: it cannot be read or made.
        StorageError: the journal cannot be used.
    """

    def __init__(self, folder: Path, place: str, journal: Journal | None = None) -> None:
        self._place = place.lower()
        name = hashlib.sha256(self._place.encode()).hexdigest()[:16]
        self._lock = threading.RLock()
        self._lines = _lines_of(folder, name, journal)
        self._where = str(folder / "github" / f"{name}.jsonl")
        self._forget()
        self.refresh()

    def _forget(self) -> None:
        self._posted: dict[str, PostedItem] = {}
        self._intents: dict[str, Intent] = {}
        self._logins: dict[str, str] = {}
        self._secret = b""
        self.wait_until = 0.0
        """Seconds since 1970; GitHub has asked for nothing to be sent before."""
        self.latest = ""
        """When the last of what was posted was, by GitHub's clock; empty where nothing was."""
        self.cases: dict[str, tuple[int, int, str]] = {}
        """Cases that are posted, or may be: the issue, the latest revision, and a time before which it was not there."""
        self.over: dict[str, str] = {}
        """Cases that wait no longer, with a time of GitHub's at which that was so."""

    # -- reading -----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read what other processes have added; all of it where the file is another one than before.

        Raises:
            RequestError: it cannot be read or made.
            StorageError: the journal cannot be used.
        """
        with self._lock:  # a call that is cancelled may still be writing
            anew, lines = self._lines.new()
            if anew:
                self._forget()
            for line in lines:
                with suppress(ValueError, KeyError, TypeError, AttributeError):  # a line that was damaged
                    self._learn(line)
            if not self._secret:
                hint = "remove it; KR then opens new issues"
                raise RequestError(Outcome.unavailable, "has no secret in it", where=self._where, hint=hint)

    def _learn(self, line: Mapping[str, Any]) -> None:
        if "secret" in line:
            self._secret = self._secret or bytes.fromhex(line["secret"])
        elif "will" in line:
            intent = Intent(line["issue"], line["after"])
            earlier = self._intents.get(line["will"])
            if earlier is not None and earlier.issue == intent.issue:
                intent = earlier  # both may have been posted
            self._intents[line["will"]] = intent
            self._note_case(line["will"], intent.issue, intent.after)
        elif "is" in line:
            posted = PostedItem(line["issue"], line["id"], line["url"], line["created"])
            # The first one stays: one that was posted later, by who was held up, stands there twice and is removed.
            self._posted.setdefault(line["is"], posted)
            self._note_case(line["is"], posted.issue, posted.created)
            self._intents.pop(line["is"], None)
            self.latest = max(self.latest, posted.created)
        elif "not" in line:
            self._intents.pop(line["not"], None)
        elif "gone" in line:
            gone = line["gone"]
            self._posted = {about: one for about, one in self._posted.items() if one.issue != gone}
            self._intents = {about: one for about, one in self._intents.items() if one.issue != gone}
        elif "over" in line:
            self.over.update(dict.fromkeys(line["over"], line["time"]))
        elif "login" in line:
            self._logins[line["token"]] = line["login"]
        elif "wait" in line:
            self.wait_until = float(line["wait"])

    def _note_case(self, about: str, issue: int, time: str) -> None:
        found = _CASE.fullmatch(about)
        if found and int(found[2]) >= self.cases.get(found[1], (0, 0, ""))[1]:
            self.cases[found[1]] = (issue, int(found[2]), time)

    def posted(self, about: str) -> PostedItem | None:
        """Where something stands; None where it does not, or nobody knows."""
        return self._posted.get(about)

    def intent(self, about: str) -> Intent | None:
        """What may have been posted; None where that is not so."""
        return self._intents.get(about)

    def login(self, token: str) -> str | None:
        """Whose token it is, as GitHub has said; empty where it is nobody's, None where it was not asked yet."""
        return self._logins.get(self.signature(token))

    # -- writing -----------------------------------------------------------------------------------------

    def will_post(self, about: str, issue: int, after: str) -> None:
        """Note that something is about to be posted; durable on return."""
        self._add({"will": about, "issue": issue, "after": after})

    def is_posted(self, about: str, posted: PostedItem) -> None:
        """Note where something stands."""
        self._add({"is": about, **posted._asdict()})

    def was_not_posted(self, about: str) -> None:
        """Note that GitHub has refused to post something."""
        self._add({"not": about})

    def is_gone(self, issue: int) -> None:
        """Forget an issue, and what was posted there."""
        self._add({"gone": issue})

    def are_over(self, cases: Sequence[str], time: str) -> None:
        """Note that cases wait no longer, at a time of GitHub's."""
        self._add({"over": list(cases), "time": time})

    def belongs_to(self, token: str, login: str) -> None:
        """Note whose token it is."""
        self._add({"login": login, "token": self.signature(token)})

    def wait(self, until: float) -> None:
        """Note that nothing may be sent before a time, by any process."""
        self._add({"wait": until})

    def _add(self, line: dict[str, Any]) -> None:
        """Add one line.

        Raises:
            RequestError: it cannot be written; then nothing may be posted.
            StorageError: the journal cannot be used; the same.
        """
        self._lines.add(line)
        self.refresh()

    # -- signatures --------------------------------------------------------------------------------------

    def signature(self, text: str) -> str:
        """What only this project can say of a text."""
        told = f"{self._place}\n{text}".encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, told, hashlib.sha256).hexdigest()[:_SIGNED]


def _lines_of(folder: Path, name: str, journal: Journal | None) -> Lines:
    if journal is None:
        return FileLines(folder, name)
    kept = JournalLines(journal, name, FileLines(folder, name))
    return kept if isinstance(journal, Leases) else FileLines(folder, name, kept.read)
