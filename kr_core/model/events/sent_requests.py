"""What is told of each request that leaves the machine, whoever sends it."""

from typing import TypedDict


class Sent(TypedDict):
    """A request as it is told of, whoever has sent it; `SourceRequest` says what the fields mean."""

    method: str
    url: str
    sent: str
    status: int | None
    received: int
    seconds: float
    error: str
