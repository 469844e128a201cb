"""Which settings of a plugin run a program, or send a secret or documents to an address of the project's own.

Settings are judged by their names and values as they stand in the file, before the plugin is imported. In doubt a setting
counts: the price of a false alarm is one `kr trust`.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.config.environment import is_reference
from kr_core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core.config.documents import KeyPath

__all__ = ["Sensitive", "sending_documents", "sensitive_in"]

_PROGRAM = frozenset(
    """args argv arguments bin binary cmd cmdline command commandline commands entrypoint exe exec executable hook hooks
    interpreter launch launcher preload program python run runner script scripts shell""".split()
)
_ENVIRONMENT = frozenset({"env", "environ", "environment"})
_ADDRESS = frozenset(
    """address addresses base broker callback connection dns domain domains dsn endpoints gateway hostname hosts imap
    instance ip mirror origin proxies region remote server servers site smtp socket subdomain tenant upstream uris urls
    webhooks""".split()
)
_ADDRESS_END = ("url", "uri", "host", "endpoint", "proxy", "webhook")
_OF_THE_SECRET = frozenset("key passphrase password secret token".split())
"""What `webhook_secret` is: no address."""
_URL = re.compile(
    r"""://                             # anywhere: a template of an address is one too
      | ^\s*//\S
      | ^\S+@[\w.-]+\.                  # git@host.example:repository
      | ^\s*[\w.-]+:\d{1,5}(?:/|\s*$)   # host:port
      | ^\s*\d{1,3}(?:\.\d{1,3}){3}(?:[:/]|\s*$)
      | ^\s*\[[0-9A-Fa-f:.]+\]          # [::1]
      | ^\s*(?:[\w-]+\.)+[A-Za-z]{2,}(?::\d+)?(?:/|\s*$)   # host.example/path
    """,
    re.VERBOSE,
)

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Sensitive(NamedTuple):
    """A setting that works only in a file that the user trusts."""

    key: KeyPath
    does: str
    """What it would do: "runs `npx server`", "sends API_KEY to `https://...`"; fit to be shown, and whole."""


def sensitive_in(settings: Mapping[str, Any], below: KeyPath) -> list[Sensitive]:
    """The settings of one plugin or instance that run a program, or send a secret somewhere.

    An address counts once the entry takes anything from the environment. That holds for an address from the
    environment too: which variable is sent where is then still the project's choice.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
    """
    found = [Sensitive(key, _run(key, value)) for key, value in _walk(settings, below, _runs)]
    references = _walk(settings, below, lambda _name, value: is_reference(value))
    secrets = sorted({value["env"] for _key, value in references})
    if secrets:
        said = f"sends {' and '.join(map(printable, secrets))} to"
        found += [
            Sensitive(key, f"{said} {_shown(value)}") for key, value in _walk(settings, below, _is_address)
        ]
    return found


def sending_documents(settings: Mapping[str, Any], below: KeyPath) -> list[Sensitive]:
    """The settings of an embedder by which the text of documents leaves the machine: an address, and a key of a service.

    An embedder with neither computes here. A key may be the project's own: then what is sent lies in somebody's account.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
    """
    said = "sends the text of indexed documents to"
    addresses = [
        Sensitive(key, f"{said} {_shown(value)}") for key, value in _walk(settings, below, _is_address)
    ]
    return addresses or [Sensitive(key, f"{said} a service") for key, _key in _walk(settings, below, _is_key)]


def _walk(value: Any, key: KeyPath, wanted: Callable[[Any, Any], bool]) -> Iterator[tuple[KeyPath, Any]]:
    """The outermost settings below a value that are wanted by their name and value."""
    if is_reference(value) and key[2:]:  # the settings of a plugin as a whole are no reference
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if _is_list(value) else ()
    for name, item in items:
        if wanted(name, item):
            yield (*key, name), item
        else:
            yield from _walk(item, (*key, name), wanted)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset)  # YAML has tags for all of them


def _words(name: Any) -> list[str]:
    """`baseUrl`, `base-url` and `base_url` are the same words."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name) if isinstance(name, str) else ""
    return [word for word in re.split(r"[\W_]+", text.lower()) if word]


def _runs(name: Any, value: Any) -> bool:
    words = _words(name)
    if words[-1:] == ["arguments"] and isinstance(value, dict):
        return False  # by name: those of a tool, not of a program; what is named `command` among them counts by itself
    return _matches([word in _PROGRAM for word in words], value) or _matches(
        [word in _ENVIRONMENT for word in words[-1:]], value
    )


def _is_address(name: Any, value: Any) -> bool:
    words = _words(name)
    named = [word in _ADDRESS or word.endswith(_ADDRESS_END) for word in words]
    if not _OF_THE_SECRET & set(words[-1:]) and _matches(named, value):
        return True
    return any(_URL.search(_text(part)) for part in (name, value) if isinstance(part, str | bytes))


def _is_key(name: Any, value: Any) -> bool:
    return is_reference(value) or (bool(value) and bool(_OF_THE_SECRET & set(_words(name)[-1:])))


def _matches(words: Sequence[bool], value: Any) -> bool:
    """Whether a name with such words makes its value a program or an address; a switch or nothing is neither.

    A number is one only where the word is the last: `server_timeout: 5` is none, but 2130706433 is the host 127.0.0.1.
    """
    if isinstance(value, bool) or value in (None, "", b"", [], {}):
        return False
    number = isinstance(value, int | float) or (isinstance(value, str) and bool(_NUMBER.fullmatch(value)))
    return any(words[-1:] if number else words)


def _run(key: KeyPath, value: Any) -> str:
    if _ENVIRONMENT & set(_words(key[-1])[-1:]):
        return f"sets {_shown(value)} in the environment of a program"
    return f"runs {_shown(value)}"


def _shown(value: Any) -> str:
    """A value as a person reads it; nothing in it steers the terminal, and nothing is left out."""
    if is_reference(value):
        return printable(f"`${value['env']}`")
    if isinstance(value, dict):
        text = ", ".join(f"{name}: {_bare(item)}" for name, item in value.items())
    elif _is_list(value):
        text = " ".join(
            shlex.quote(item) if isinstance(item, str) and item else _bare(item) for item in value
        )
    else:
        text = _text(value)
    return f"`{printable(text)}`".replace("\n", "\\n")


def _bare(value: Any) -> str:
    return _shown(value).strip("`")


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
