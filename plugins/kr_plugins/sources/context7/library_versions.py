"""Which of the versions that Context7 lists is read, and what is known of the version that was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import gap

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 3
_TAG = re.compile(
    r"(?:[A-Za-z_][A-Za-z_.-]*?[-_@]?)?v?(?P<numbers>[0-9]{1,9}(?:[._][0-9]{1,9}){0,4})(?P<tail>[-_.+]?[A-Za-z].*)?",
    re.DOTALL,
)
"""`v3.1.0`, `rel_2_0_30`, `release-1.2`, `react@18.2.0`, `15.0.0-canary.2`."""
_PLAIN = re.compile(r"v?[0-9]{1,9}(?:\.[0-9]{1,9})*")


class RequestedVersion(NamedTuple):
    """What is asked for, and what is known of it."""

    tag: str = ""
    """The tag that is asked for; empty for the branch that the service tracks."""
    version: str | None = None
    """The version that is read, as far as it is known."""
    notes: tuple[str, ...] = ()

    def unpinned(self) -> RequestedVersion:
        """The same without the tag, where the service no longer has it: nobody knows then which version is read."""
        note = f"the listed version {self.tag} is not there; its current documentation was read"
        return RequestedVersion(notes=(note,))


def newest(listed: Sequence[str]) -> str | None:
    """The newest release that is listed; None where there is none."""
    releases = [tag for tag in map(_tag, listed) if tag is not None and not tag.tail]
    return max(releases, key=lambda tag: tag.numbers).version if releases else None


class _Tag(NamedTuple):
    text: str
    """As it is listed."""
    release: str
    """Its numbers: `15.0.0`."""
    tail: str
    """What follows them: `-canary.2`."""

    @property
    def version(self) -> str:
        return self.release + self.tail

    @property
    def numbers(self) -> tuple[int, ...]:
        return _numbers(self.release)


def reading(listed: Sequence[str], asked: str) -> RequestedVersion:
    """What to ask for: the best listed tag of the same major version, else the tracked branch.

    The list is not complete: versions are added to it by hand.

    Args:
        listed: the library's tags.
        asked: the version in use, a range, or what is no version (`latest`).
    """
    if not _is_known(asked):
        return RequestedVersion()
    tags = [tag for tag in map(_tag, listed) if tag is not None]
    same = [tag for tag in tags if gap(tag.release, asked) is None]
    near = [tag for tag in tags if gap(tag.release, asked) == "minor"]
    if same:
        best = _closest(same, asked)
        return RequestedVersion(best.text, best.version)
    if near:
        best = _closest(near, asked)
        return RequestedVersion(
            best.text, best.version, (f"{best.text} is the listed version closest to {asked}",)
        )
    return _tracked(tags, asked)


def _tracked(tags: Sequence[_Tag], asked: str) -> RequestedVersion:
    """The tracked branch, and what the list tells of its version: it is as new as the newest at least."""
    if not tags:
        return RequestedVersion(
            notes=(f"no versions are listed, so it may be about another one than {asked}",)
        )
    newest = max(tags, key=lambda tag: tag.numbers)
    shown = ", ".join(tag.text for tag in sorted(tags, key=lambda tag: tag.numbers, reverse=True)[:_SHOWN])
    note = f"no version close to {asked} is listed ({shown}); the current documentation was read"
    later = _PLAIN.fullmatch(asked) is not None and newest.numbers > _numbers(asked)
    return RequestedVersion(version=newest.version if later else None, notes=(note,))


def _closest(tags: Sequence[_Tag], asked: str) -> _Tag:
    """The highest that is not above the version in use, since all it tells is there; else the lowest above.

    For a range, or `3`, that is the highest. Releases come before what led to them.
    """
    exact = [tag for tag in tags if tag.text.lstrip("v") == asked.lstrip("v")]
    if exact:
        return exact[0]
    candidates = [tag for tag in tags if not tag.tail] or list(tags)
    if not _PLAIN.fullmatch(asked):
        return max(candidates, key=lambda tag: tag.numbers)
    ours = _numbers(asked)
    below = [tag for tag in candidates if tag.numbers[: len(ours)] <= ours]
    return max(below, key=lambda tag: tag.numbers) if below else min(candidates, key=lambda tag: tag.numbers)


def _tag(text: str) -> _Tag | None:
    found = _TAG.fullmatch(text)
    if found is None:
        return None
    return _Tag(text, found["numbers"].replace("_", "."), found["tail"] or "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.removeprefix("v").split("."))


def _is_known(version: str) -> bool:
    """Whether a text says a version: then it cannot agree with two major ones."""
    return any(gap(other, version) == "major" for other in ("1", "2"))
