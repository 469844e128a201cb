"""The body of an answer, whole and bounded: neither an endless one nor a gzip bomb fills the memory."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from kr_core.errors import RequestError
from kr_core.model import Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterable

    import httpx

MAX_BYTES = 8 * 2**20
"""Of one answer to a source, decoded."""
ACCEPTED = "gzip, deflate"
"""Encodings that can be unpacked bit by bit, and so stopped."""
_STEP = 65_536


async def read(response: httpx.Response, most: int, *, cut: bool = False) -> bytes:
    """The decoded body of a response that is being streamed.

    Args:
        response: its headers are there; its stream is raw.
        most: bytes, decoded.
        cut: read no more of a longer one, in place of refusing it.

    Raises:
        RequestError: it is longer, or cannot be decoded.
        httpx.TransportError: the connection broke.
    """
    if response.is_stream_consumed:  # made in the program itself, it is there already
        if len(response.content) > most and not cut:
            raise too_long(most)
        return response.content[:most]
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length) > most and not cut:
        raise too_long(most)
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in {"", "identity"}:
        return await _plain(response.aiter_raw(), most, cut=cut)
    if encoding in {"gzip", "x-gzip", "deflate"}:
        return await _unpacked(response.aiter_raw(), most, cut=cut)
    raise not_asked_for(encoding)


async def _plain(chunks: AsyncIterable[bytes], most: int, *, cut: bool) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            return _first(body, most, cut=cut)
    return bytes(body)


async def _unpacked(chunks: AsyncIterable[bytes], most: int, *, cut: bool) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # gzip or zlib, as its head says
    body = bytearray()
    empty = True  # refusals have no body at times, whatever their head says of its packing
    try:
        async for chunk in chunks:
            rest, empty = chunk, empty and not chunk
            while rest and not unpacker.eof:
                body += unpacker.decompress(rest, _STEP)
                rest = unpacker.unconsumed_tail
                if len(body) > most:
                    return _first(body, most, cut=cut)
        body += unpacker.flush()
    except zlib.error as error:
        raise RequestError(Outcome.bad_answer, f"the answer cannot be unpacked: {error}") from error
    if not unpacker.eof and not empty:
        raise RequestError(Outcome.bad_answer, "the packed answer ends too early")
    return bytes(body)


def _first(body: bytearray, most: int, *, cut: bool) -> bytes:
    """The first bytes of a body that is too long, where they serve."""
    if not cut:
        raise too_long(most)
    return bytes(body[:most])


def too_long(most: int) -> RequestError:
    """What is said of an answer of more than so many bytes."""
    return RequestError(Outcome.bad_answer, f"the answer is longer than {most / 2**20:g} MB")


def not_asked_for(encoding: str) -> RequestError:
    """What is said of an answer that is packed in a way that was not asked for."""
    return RequestError(
        Outcome.bad_answer, f"the answer is packed as {encoding[:40]}, which was not asked for"
    )


def json_of(response: httpx.Response) -> Any:
    """The JSON value of a response.

    Raises:
        RequestError: the response is not JSON, or nested too deeply.
    """
    try:
        return json.loads(response.content)
    except RecursionError:
        raise RequestError(Outcome.bad_answer, "the answer is JSON nested too deeply") from None
    except ValueError as error:
        kind = response.headers.get("content-type", "no type")
        raise RequestError(Outcome.bad_answer, f"the answer is no JSON ({kind[:60]}): {error}") from None
