"""Whose a page is: the part of its host's name that somebody has registered.

A short list tells it. The public suffix list (https://publicsuffix.org) knows 9,000 more, and takes 0.2 s to load in each
process; what it would add are mostly registries and hosts that document no software.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

__all__ = ["host_of", "site_of"]

_SECOND_LEVEL = frozenset(
    "ac co com edu go gob gov govt gv id info mil ne net nic nom or org sch web".split()
)
"""Names that registries of countries hand out names below: `example.co.uk`, `example.com.au`."""
_HOSTED = frozenset(
    """azurewebsites.net bitbucket.io blogspot.com codeberg.page firebaseapp.com fly.dev gitbook.io github.io gitlab.io
    hashnode.dev herokuapp.com hf.space medium.com neocities.org netlify.app notion.site onrender.com pages.dev
    pythonanywhere.com readthedocs.io readthedocs.org rtfd.io sourceforge.io streamlit.app substack.com surge.sh tumblr.com
    vercel.app web.app wordpress.com workers.dev""".split()
)
"""Domains below which each name is somebody else's."""


def host_of(url: str) -> str:
    """The host of an address, without its port, in lower case; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def site_of(url: str) -> str:
    """The registrable domain of an address: `docs.example.co.uk` and `example.co.uk` are one site.

    If a suffix is not on its short list, it takes several sites for one, so that fewer seem to agree.
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
