"""Whose a page is: the part of its host's name that somebody has registered."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

__all__ = ["host_of", "site_of"]

_SECOND_LEVEL = frozenset(
    "ac co com edu go gob gov govt gv id info mil ne net nic nom or org sch web".split()
)
"""Names that registries of countries hand out names below: `example.co.uk`, `example.com.au`."""
_HOSTED = frozenset(
    """blogspot.com codeberg.page fly.dev github.io gitlab.io herokuapp.com hashnode.dev netlify.app pages.dev readthedocs.io
    readthedocs.org rtfd.io substack.com surge.sh vercel.app web.app wordpress.com""".split()
)
"""Domains below which each name is somebody else's."""


def host_of(url: str) -> str:
    """The host of an address, without its port, in small letters; empty where it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def site_of(url: str) -> str:
    """The registrable domain of an address: `docs.example.co.uk` and `example.co.uk` are one site.

    It is told by a short list. Where a suffix is not on it, several sites are taken for one: then fewer agree.
    """
    host = host_of(url)
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    labels = host.split(".")
    suffix = ".".join(labels[-2:])
    is_suffix = suffix in _HOSTED or (
        len(labels[-1]) == 2 and len(labels) > 2 and labels[-2] in _SECOND_LEVEL
    )
    return ".".join(labels[-3:] if is_suffix else labels[-2:])
