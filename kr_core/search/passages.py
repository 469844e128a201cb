"""What the index holds: passages with the words by which they are found."""

from __future__ import annotations

from typing import Any, NamedTuple


class IndexedPassage(NamedTuple):
    """A passage as it is put into, and comes out of, the index.

    `name` and `lead` weigh more than `text`: the words by which a reader would call the passage, and its
    first paragraph. `prose` is what is searched in place of `text`, where that holds what says nothing. `words` are
    further words by which it is found, though they do not stand in it. `prior` (0-1) says how likely any user is to
    ask for it: public before private, documented before bare. `data` is the source's own, JSON values, and comes back
    with the passage; `also` in it (other names) and `needed` (a parameter without default) help to rank symbols.
    """

    kind: str
    title: str
    text: str
    locator: str
    symbol: str | None = None
    parameter: str | None = None
    name: str = ""
    lead: str = ""
    code: tuple[str, ...] = ()
    words: str = ""
    prior: float = 1.0
    data: dict[str, Any] = {}  # noqa: RUF012  never changed; NamedTuple has no default factory
    prose: str | None = None
