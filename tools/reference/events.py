"""The page about events, made from the table of their kinds."""

from __future__ import annotations

import inspect
from itertools import groupby
from typing import Any

from kr_core.model.event import STAGE_NAMES
from kr_core.model.events import EVENTS
from kr_core.model.events.exchanges import OfExchange

from .reading import read_class

__all__ = ["events_page"]


def events_page() -> str:
    """A row for each kind of event, or for those side by side that carry the same data."""
    rows = []
    for data, pairs in groupby(EVENTS.items(), key=lambda pair: pair[1]):
        kinds = ", ".join(f"`{kind}`" for kind, _data in pairs)
        meaning = " ".join((inspect.getdoc(data) or "").split())
        rows.append(f"| {kinds} | {_fields(data)} | {meaning} |")
    table = "\n".join(["| kind | data | |", "|---|---|---|", *rows])
    return _PAGE.replace("@STAGES@", ", ".join(f"`{stage}`" for stage in STAGE_NAMES)).replace(
        "@KINDS@", table
    )


def _fields(data: Any) -> str:
    """Its own fields, then those of what it is made from; what every event of a question has appears once."""
    fields = {one.name: one.annotation for one in read_class(data).attributes}
    for name, annotation in data.__annotations__.items():
        if name not in OfExchange.__annotations__:
            fields.setdefault(name, inspect.formatannotation(annotation))
    return ", ".join(f"`{name}: {annotation}`".replace("|", "\\|") for name, annotation in fields.items())


_PAGE = """\
# Events

<!-- made by `make reference` from kr_core/model/events; change the text there, or in tools/reference -->

Everything that happens in a run is an event, so progress bars, traces and metrics need no change to a stage. The
journal stores them, each log receives them all, once and in order ([how to write a log](../how-to/write-a-log.md)), and
a program that embeds KR sees them at once with `Pipeline.open(on_event=...)`.

An event is a [`kr_core.Event`](python.md#event): `kind`, `run` (the same for all events of a run), `data` (JSON values),
`id` (unique) and `time`. In `.kr/log.jsonl` each is a line:

```sh
kr research "How do I follow redirects in httpx?" --quiet
tail -n 2 .kr/log.jsonl
```

The stages of a run are @STAGES@; each says `started`, and then `finished` or `failed`.

@KINDS@

A source may emit further kinds of its own through `context.emit(kind, data)`.
"""
