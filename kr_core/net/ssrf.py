"""Connections to public addresses alone: a name is resolved, each address is vetted, and that very address is connected to.

So neither a name that leads inside, nor one whose answer changes between look-ups, nor a redirect reaches what only this
machine can see (server-side request forgery).
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING, Any

import httpcore

from kr_core.errors import RequestError
from kr_core.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import httpx

PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""RFC 6052: the last four bytes are the IPv4 address that is reached."""
_ISATAP = 0x5EFE
"""RFC 5214: an interface identifier that begins 00-00-5E-FE, except for two flags, ends with the IPv4 address that is reached."""
_NOT_GIVEN_OUT = (ipaddress.ip_network("192.88.99.0/24"), ipaddress.ip_network("3fff::/20"))
"""Relays of 6to4 (RFC 7526) and documentation (RFC 9637), which not every Python knows to be none of the internet's."""
_UNICAST = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is given out (RFC 4291, 2.4); what Python calls global besides is for private use, or for nothing yet."""


def origin(url: httpx.URL) -> tuple[str, int]:
    """Host and port of a URL, as a connection is asked for; the port is 0 where the scheme has none."""
    return url.raw_host.decode("ascii"), url.port or PORTS.get(url.scheme, 0)


def is_public(address: str) -> bool:
    """Whether an address may be connected to: global, and so is the IPv4 address that it stands for, if it does."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = _last_four_bytes(ip)
        if inner is not None:
            return is_public(str(inner))
        if ip not in _UNICAST:
            return False
        if int(ip) >> 32 & 0xFCFFFFFF == _ISATAP and not is_public(str(_last_four_bytes(ip))):
            return False
    if any(ip in network for network in _NOT_GIVEN_OUT):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _last_four_bytes(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)


class PublicBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to public addresses, and to hosts that are allowed by name.

    Args:
        allowed: (host, port) as written in a URL, that may lead anywhere.
    """

    def __init__(self, allowed: Collection[tuple[str, int]]) -> None:
        self._allowed = allowed
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first of the host's addresses that may be, and answers.

        Raises:
            RequestError: none of them may be.
            httpcore.ConnectError: the name is not known, or none answers.
        """
        addresses = await _resolved(host, port, timeout)
        if (host, port) not in self._allowed:
            public = [address for address in addresses if is_public(address)]
            if not public:
                raise RequestError(
                    Outcome.blocked,
                    f"{host} leads to {addresses[0]}, which is not on the public internet",
                    hint="if it is a host of yours, name it in `allow_hosts`",
                )
            addresses = public
        error: Exception | None = None
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failed:
                error = failed
        raise error or httpcore.ConnectError(f"{host} has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's signature
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Refused: no page lies behind one."""
        del timeout, socket_options
        raise RequestError(Outcome.blocked, f"{path} is not on the public internet")

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore does between two attempts."""
        await asyncio.sleep(seconds)


async def _resolved(host: str, port: int, seconds: float | None) -> list[str]:
    """The addresses of a host, in the system's order; also of one that is written as a number."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError:
        raise httpcore.ConnectTimeout(f"{host} was not looked up in time") from None
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"{host}: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
