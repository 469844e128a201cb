"""The user's own state folder, where no project can write: what is trusted, kept results, and the marks of state folders.

A project's `.kr/` decides what KR takes for its own memory, and an archive or a copied folder may bring one. So KR marks
each `.kr/` that it makes with a random number in its `.gitignore`, and remembers the number's hash here. The mark moves
with the folder; a `.kr/` with no mark, or with an unknown one, came from elsewhere.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` and `pathlib` would cost a repeated question milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["STATE_FOLDER", "is_known", "is_unused", "mark", "marks_folder", "user_state_folder"]

STATE_FOLDER = ".kr"
_MARK = "# mark: "
_IGNORE = (".gitignore", "..gitignore.")
"""The beginning of the names of the file with the mark, and of its temporary file."""


def user_state_folder() -> str:
    """The folder, as `platformdirs` has it; empty if the user has none.

    To import that would take longer than the rest of a repeated question.
    """
    if os.name != "posix":
        import platformdirs

        return str(platformdirs.user_state_path("kr", appauthor=False))
    folder = os.environ.get("XDG_STATE_HOME", "")
    if not folder.startswith("/"):
        beside = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
        folder = os.path.join(os.path.expanduser("~"), beside)  # noqa: PTH111, PTH118  as above
    return os.path.join(folder, "kr") if folder.startswith("/") else ""  # noqa: PTH118  as above


def mark(ignore: str = "*\n") -> str:
    """Add a new mark to the text of a state folder's `.gitignore`; KR remembers the mark before anyone can read it.

    If the user's own folder cannot be written, the text has no mark: KR works, and does not know the folder again.

    Args:
        ignore: the present text; its lines stay, except other marks.
    """
    text = "".join(f"{line}\n" for line in ignore.splitlines() if not line.startswith(_MARK))
    number = os.urandom(16).hex()
    place = _remembered(number)
    try:
        if place is None:
            return text
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.touch(mode=0o600)
    except OSError:
        return text
    return f"{text}{_MARK}{number}\n"


def is_known(ignore: str) -> bool:
    """Whether the text of a state folder's `.gitignore` has a mark that this user's KR made."""
    places = [_remembered(line.removeprefix(_MARK)) for line in ignore.split("\n") if line.startswith(_MARK)]
    return any(place is not None and place.exists() for place in places)


def is_unused(names: Iterable[str]) -> bool:
    """Whether a state folder with files of these names holds nothing yet but its `.gitignore`."""
    return all(name.startswith(_IGNORE) for name in names)


def marks_folder() -> str:
    """The folder of the marks; the user's own folder decides where, so that another HOME has others."""
    folder = user_state_folder()
    return os.path.join(folder, "projects") if folder else "a folder of yours (there is none)"  # noqa: PTH118  as above


def _remembered(number: str) -> Path | None:
    import hashlib
    from pathlib import Path

    folder = user_state_folder()
    return Path(folder, "projects", hashlib.sha256(number.encode()).hexdigest()) if folder else None
