"""What a project has posted to one repository, and what it was about to post.

It is what makes a look for a marker needless where nothing can have gone wrong, and tells where one is needed. Its lines lie
in a file that the processes of a machine share, or in a journal that machines share.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import uuid4

from kr_core import Outcome, RequestError
from kr_core.plugin import Document, Leases
from kr_core.toolkit import make_state_folder, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core.plugin import Journal

__all__ = ["FileLines", "Intent", "JournalLines", "Lines", "Outbox", "PostedItem"]

Line = dict[str, Any]

_LARGEST = 100_000_000
_FIRST = "first"
_PAGE = 1000


class Lines(Protocol):
    """Lines of JSON, each durable before it counts; the first one has the project's secret."""

    def new(self) -> tuple[bool, list[Line]]:
        """Return the lines since the last call, and whether these are all lines again, since the file was replaced.

        Raises:
            RequestError: they cannot be read or made.
            StorageError: the journal cannot be used.
        """

    def add(self, line: Line) -> None:
        """Add one line; durable on return.

        Raises:
            RequestError: it cannot be written.
            StorageError: the journal cannot be used.
        """


class FileLines:
    """In a file of the project's `.kr/`.

    Args:
        folder: that one.
        name: of the outbox.
        kept: the lines that a journal has, for a file that is new: the project was moved from another journal.
    """

    def __init__(self, folder: Path, name: str, kept: Callable[[], list[Line]] = list) -> None:
        self._folder = folder
        self._kept = kept
        self.path = folder / "github" / f"{name}.jsonl"
        self._read_up_to = 0
        self._last = b""
        """The last line that was read, by which a file is known to be the same."""

    def new(self) -> tuple[bool, list[Line]]:
        """As `Lines.new`."""
        try:
            make_state_folder(self._folder)
            self.path.parent.mkdir(exist_ok=True)
            if not self.path.exists():
                self._make()
            content = read_bytes(self.path, limit=_LARGEST)
        except OSError as error:
            raise RequestError(
                Outcome.unavailable, f"cannot be read or made: {error}", where=str(self.path)
            ) from error
        anew = content[self._read_up_to - len(self._last) : self._read_up_to] != self._last
        if anew:
            self._read_up_to = 0
        added = content[self._read_up_to :]
        whole = added[: added.rfind(b"\n") + 1]  # the rest is being written, or was cut off by a crash
        self._read_up_to += len(whole)
        lines = whole.splitlines(keepends=True)
        self._last = lines[-1] if lines else b"" if anew else self._last
        return anew, list(_parsed(lines))

    def _make(self) -> None:
        lines = self._kept() or [_new_secret()]
        handle, name = tempfile.mkstemp(
            dir=self.path.parent, prefix=".", suffix=".tmp"
        )  # for its owner alone
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(line)}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was first
                os.link(name, self.path)
        finally:
            Path(name).unlink()

    def add(self, line: Line) -> None:
        """As `Lines.add`."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND)
            try:
                size = os.fstat(handle).st_size
                cut_off = bool(size) and os.pread(handle, 1, size - 1) != b"\n"
                written = f"{chr(10) if cut_off else ''}{json.dumps(line)}\n".encode()
                if os.write(handle, written) < len(written):
                    raise OSError("the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise RequestError(
                Outcome.unavailable, f"cannot be written: {error}", where=str(self.path)
            ) from error


class JournalLines:
    """As documents of a journal.

    Args:
        journal: which one.
        name: of the outbox.
        file: the lines of this machine from the time before the journal was shared; the first machine's are taken over.
    """

    def __init__(self, journal: Journal, name: str, file: FileLines) -> None:
        self._journal = journal
        self._kind = f"github.{name}"
        self._file = file
        self._after = ""

    def new(self) -> tuple[bool, list[Line]]:
        """As `Lines.new`."""
        lines = self.read()
        if not self._after:
            there = self._file.new()[1] if self._file.path.exists() else []
            self._keep(_FIRST, there or [_new_secret()])  # another machine may be first
            lines = self.read()
        return False, lines

    def read(self) -> list[Line]:
        """What was added since the last call; nothing is made."""
        lines: list[Line] = []
        while True:
            page = self._journal.documents(self._kind, limit=_PAGE, after=self._after)
            lines += (line for one in page for line in one.data["lines"])
            if page:
                self._after = page[-1].key
            if len(page) < _PAGE:
                return lines

    def add(self, line: Line) -> None:
        """As `Lines.add`."""
        self._keep(uuid4().hex, [line])

    def _keep(self, key: str, lines: list[Line]) -> None:
        self._journal.change(Document(self._kind, key, "", 1, {"lines": lines}))


def _new_secret() -> Line:
    return {"secret": secrets.token_hex(32)}


def _parsed(lines: list[bytes]) -> Iterator[Line]:
    for line in lines:
        with suppress(ValueError):  # a line that a crash cut off
            parsed: Mapping[str, Any] = json.loads(line)
            if isinstance(parsed, dict):
                yield parsed


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
