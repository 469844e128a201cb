"""Which settings of a plugin work only in a trusted file.

Those run a program, send a secret, documents or requests to an address that the project chose, post to an account of its choice,
work with a key of its own, take something from the environment that is no key, open the private network, load a model, or lead
out of the project's folder. Settings are judged by their names and values as they stand in the file. In doubt a setting
counts: the price of a false alarm is one `kr trust`.
"""

from __future__ import annotations

import os
import re
import shlex
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.config.environment import is_reference
from kr_core.errors import ConfigError
from kr_core.files import lies_within
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.config.config_file import KeyPath

__all__ = [
    "UNKNOWN",
    "VARIABLE",
    "AddressPolicy",
    "TrustedSetting",
    "check_variable",
    "further",
    "leading_out",
    "loading_models",
    "posting",
    "running",
    "sending_documents",
    "sensitive_in",
    "taking",
    "vouching",
    "with_own_key",
]


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
_ALLOW = frozenset("allow allowed allowlist permit permitted whitelist".split())
"""With the name of an address: what may be reached although it is private, as `allow_hosts`."""
_PATH = frozenset("dir directories directory dirs file files folder folders path paths root".split())
_OF_THE_SECRET = frozenset("key passphrase password secret token".split())
"""What `webhook_secret` is: no address."""
_KEY_END = (
    *_OF_THE_SECRET,
    *"auth authorization bearer cookie credential credentials keys passwd passwords pat secrets tokens".split(),
)
"""How the last word ends of what lets somebody into an account: `apikey`, `Authorization`."""
_RECIPIENT = frozenset(
    """account accounts bcc board bucket cc channel channels chat chats group groups inbox mail mailbox org organisation
    organization owner owners project queue receiver receivers recipient recipients repo repos repositories repository room
    rooms space team thread to topic user users workspace""".split()
)
"""Whose it is where something is posted, on a service whose address is everybody's."""
_URL = re.compile(
    r"""://                             # anywhere: a template of an address is one too
      | ^\s*//\S
      | ^\S+@[\w.-]+\.                  # git@host.example:repository
      | ^\s*\d{1,3}(?:\.\d{1,3}){3}(?:[:/]|\s*$)
      | ^\s*\[[0-9A-Fa-f:.]+\]          # [::1]
    """,
    re.VERBOSE,
)
_HOST = re.compile(
    r"""^\s*[\w.-]+:\d{1,5}(?:/|\s*$)    # host:port
      | ^\s*(?:[\w-]+\.)+[A-Za-z]{2,}(?::\d+)?(?:/|\s*$)   # host.example/path
    """,
    re.VERBOSE,
)
"""What may be a host; a name of a model or of a service looks the same, so it counts only where a secret may go there."""
_PLAIN = re.compile(
    r"""(?:(?P<scheme>https?)://)?
        (?P<host>[a-z0-9.-]+|\[[0-9a-f:.]+\])
        (?::(?P<port>[0-9]{1,5}))?
        (?:/[!-\[\]-~]*)?               # no backslash, which some take for a slash
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,  # else the long s would be an s
)
"""An address that everybody reads alike: no user, no odd number, nothing but ASCII."""
_LOOPBACK = re.compile(
    r"localhost|\[::1\]|127(?:\.(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])){3}", re.IGNORECASE | re.ASCII
)

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class TrustedSetting(NamedTuple):
    """A setting that works only in a file that the user trusts."""

    key: KeyPath
    does: str
    """What it would do: "runs `npx server`", "sends API_KEY to `https://...`"; fit to be shown, and whole."""
    location: str = ""
    """Where it leads, once links are followed, outside of the project; links change without the file."""
    hint: str = ""
    """What to do about it where trust does not help."""


class AddressPolicy(NamedTuple):
    """Which addresses the settings of a plugin may name without trust."""

    own: frozenset[str] = frozenset()
    """Those of the service that the plugin is made for; others of the same scheme, host and port are its own too."""
    vouching: tuple[str, ...] = ()
    """Settings that rate documents of the project as official, as `Settings.vouching` has it."""
    calls_are_chosen: bool = False
    """Whether the settings say what is called there, as `Settings.calls_are_chosen` has it: no other address is free then."""


UNKNOWN = AddressPolicy()
"""Of a plugin of which nothing is known."""


def sensitive_in(
    settings: Mapping[str, Any], below: KeyPath, policy: AddressPolicy = UNKNOWN
) -> list[TrustedSetting]:
    """The settings of one plugin or instance that run a program, send something somewhere, or allow private hosts.

    An address counts unless it is the service's own or on this machine. Once the entry takes anything from the environment,
    one on this machine counts too, and one from the environment: which variable is sent where is the project's choice. One
    on this machine counts as well where the settings choose what is called: a tool there may do anything.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
        policy: which addresses are free.
    """
    found = running(settings, below)
    found += [
        TrustedSetting(key, f"lets pages of {_shown(value)} be read although they are private")
        for key, value in _walk(settings, below, _allows)
    ]
    references = _walk(settings, below, lambda _name, value: is_reference(value))
    secrets = sorted({value["env"] for _key, value in references})
    requests = "calls of this file's choice" if policy.calls_are_chosen else "requests"
    said = f"sends {' and '.join(map(printable, secrets)) or requests} to"
    own = {_origin(one) for one in policy.own} - {None}
    chosen = partial(
        _is_chosen, own=own, secret=bool(secrets), local=not (secrets or policy.calls_are_chosen)
    )
    return further(
        found,
        [TrustedSetting(key, f"{said} {_shown(value)}") for key, value in _walk(settings, below, chosen)],
    )


def further(found: Sequence[TrustedSetting], more: Iterable[TrustedSetting]) -> list[TrustedSetting]:
    """What was found, and of the rest what is not part of it."""
    known = {setting.key for setting in found}
    parts = (one for one in more if known.isdisjoint(one.key[:n] for n in range(len(one.key) + 1)))
    return [*found, *parts]


def running(settings: Mapping[str, Any], below: KeyPath) -> list[TrustedSetting]:
    """The settings of one plugin or instance that run a program."""
    return [TrustedSetting(key, _run(key, value)) for key, value in _walk(settings, below, _runs)]


def leading_out(settings: Mapping[str, Any], below: KeyPath, root: Path) -> list[TrustedSetting]:
    """The settings of one plugin or instance that are paths out of the project, or whose links lead out.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
        root: the project root.
    """
    found = []
    for key, value in _walk(
        settings, below, lambda _name, value: is_reference(value) or _leads_out(value, root)
    ):
        if not is_reference(value):
            place = os.path.realpath(_path(value, root))
            found.append(TrustedSetting(key, outside(place), place))
        elif any(_PATH & set(_words(part)[-1:]) for part in key[len(below) :]):
            found.append(
                TrustedSetting(key, f"leads to {_shown(value)}, which may lie outside of the project")
            )
    return found


def outside(place: str) -> str:
    """What is said of a path that leads out of the project, to this place."""
    return f"leads to {_shown(place)}, outside of the project"


def sending_documents(settings: Mapping[str, Any], below: KeyPath) -> list[TrustedSetting]:
    """The settings of an embedder by which the text of documents leaves the machine: an address, and a key of a service.

    An embedder with neither computes here. A key may be the project's own: then what is sent lies in somebody's account.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
    """
    said = "sends the text of indexed documents to"
    addresses = [
        TrustedSetting(key, f"{said} {_shown(value)}")
        for key, value in _walk(settings, below, partial(_is_address, secret=True))
    ]
    return addresses or [
        TrustedSetting(key, f"{said} a service") for key, _key in _walk(settings, below, _is_key)
    ]


def loading_models(settings: Mapping[str, Any], below: KeyPath) -> list[TrustedSetting]:
    """The settings of an embedder that are paths: a library that KR does not bound loads what lies there.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
    """
    return [
        TrustedSetting(key, f"loads a model from {_shown(value)}")
        for key, value in _walk(settings, below, _is_path)
    ]


def posting(settings: Mapping[str, Any], below: KeyPath) -> list[TrustedSetting]:
    """The settings of a plugin that posts, an escalation or a log, that say in whose account: `repository: owner/name`.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
    """
    return [
        TrustedSetting(key, f"posts to {_shown(value)}")
        for key, value in _walk(settings, below, _is_recipient)
    ]


def with_own_key(settings: Mapping[str, Any], below: KeyPath) -> list[TrustedSetting]:
    """The keys that stand in the file itself: what is sent with one lies in the account of whoever wrote it there.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
    """
    said = "sends questions with a key of this file's own"
    return [TrustedSetting(key, said) for key, _key in _walk(settings, below, _is_own_key)]


def vouching(settings: Mapping[str, Any], below: KeyPath, names: Iterable[str]) -> list[TrustedSetting]:
    """The settings of one plugin or instance that rate documents of the project as official.

    Without trust they are passed over, and nothing is refused.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
        names: of those settings.
    """
    said = "rates documents of the project as official"
    return [
        TrustedSetting(
            (*below, name), said if settings[name] is True else f"{said}: {_shown(settings[name])}"
        )
        for name in names
        if settings.get(name)
    ]


def taking(settings: Mapping[str, Any], below: KeyPath) -> list[TrustedSetting]:
    """The settings of one plugin or instance that are taken from the environment and are no key: they may be shown or sent.

    Args:
        settings: the plugin's settings as written, `{env: NAME}` in place.
        below: the key under which they stand.
    """
    return [
        TrustedSetting(
            key,
            printable(f"puts {value['env']} from the environment into `{key[len(below)]}`").replace(
                "\n", "\\n"
            ),
        )
        for key, value in _walk(settings, below, lambda _name, value: is_reference(value))
        if not _OF_THE_SECRET & set(_words(key[-1])[-1:])
    ]


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


def _allows(name: Any, value: Any) -> bool:
    words = _words(name)
    hosts = any(word in _ADDRESS or word.endswith(_ADDRESS_END) for word in words)
    return hosts and bool(_ALLOW & set(words)) and bool(value)


def _is_chosen(name: Any, value: Any, *, own: Collection[Any], secret: bool, local: bool) -> bool:
    """Whether it is an address that the project chose; one that stands as a key is, whatever stands below it.

    Args:
        name: of the setting.
        value: of the setting.
        own: the origins of the service itself.
        secret: whether the entry takes anything from the environment.
        local: whether one on this machine is free.
    """
    if not _is_address(name, value, secret=secret) or _allows(name, value):
        return False
    return bool(_URL.search(str(name))) or not _is_harmless(value, own, local=local)


def _is_address(name: Any, value: Any, *, secret: bool) -> bool:
    words = _words(name)
    named = [word in _ADDRESS or word.endswith(_ADDRESS_END) for word in words]
    if not _OF_THE_SECRET & set(words[-1:]) and _matches(named, value):
        return True
    texts = [_text(part) for part in (name, value) if isinstance(part, str | bytes)]
    return any(_URL.search(text) or (secret and _HOST.search(text)) for text in texts)


def _is_harmless(value: Any, own: Collection[Any], *, local: bool) -> bool:
    """Whether a value is an address of the service itself, or of this machine where that is free; or only such ones."""
    if _is_list(value):
        return all(_is_harmless(item, own, local=local) for item in value)
    if isinstance(value, dict) and local:
        return all(
            _runs(name, item)  # which counts by itself
            or _is_switch_or_number(name, item)
            or _is_harmless(item, own, local=local)
            for name, item in value.items()
        )
    origin = _origin(value)
    if origin is None:
        return False
    its_own = bool(origin[0]) and origin in own and "?" not in value  # where somebody's key may stand
    return its_own or (local and bool(_LOOPBACK.fullmatch(origin[1])))


def _is_switch_or_number(name: Any, value: Any) -> bool:
    return isinstance(value, int | float | None) and not _is_address(name, value, secret=False)


def _origin(address: Any) -> tuple[str, str, str] | None:
    """Scheme, host and port of an address, each empty where it has none; None for what is not plainly an address."""
    said = _PLAIN.fullmatch(address) if isinstance(address, str) else None
    return None if said is None else tuple((said[part] or "").lower() for part in ("scheme", "host", "port"))  # type: ignore[return-value]  # three


def _leads_out(value: Any, root: Path) -> bool:
    if not isinstance(value, str | bytes):
        return False
    try:
        return not lies_within(_path(value, root), root)
    except ValueError:  # NUL, or half a character: no file has such a name
        return False


def _path(value: str | bytes, root: Path) -> Path:
    return root / os.path.expanduser(_text(value))  # noqa: PTH111  pathlib raises for an unknown user


def _is_path(name: Any, value: Any) -> bool:
    return bool(value) and bool(_PATH & set(_words(name)[-1:]))


def _is_key(name: Any, value: Any) -> bool:
    return is_reference(value) or (bool(value) and bool(_OF_THE_SECRET & set(_words(name)[-1:])))


def _is_own_key(name: Any, value: Any) -> bool:
    if is_reference(value) or isinstance(value, bool) or not value:
        return False
    *_others, last = _words(name) or [""]
    if last == "tokens" and isinstance(value, int):  # `max_tokens` counts them
        return False
    return last.endswith(_KEY_END)


def _is_recipient(name: Any, value: Any) -> bool:
    words = _words(name)
    return not _OF_THE_SECRET & set(words[-1:]) and _matches([word in _RECIPIENT for word in words], value)


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


VARIABLE = "KR_TRUST"
"""`all` trusts every file, for a machine whose every project is trusted already, as in CI."""
ALL = "all"


def check_variable(environ: Mapping[str, str]) -> None:
    """Refuse a `KR_TRUST` that means nothing.

    Raises:
        ConfigError: it is set to something else than `all`.
    """
    if environ.get(VARIABLE) not in {None, "", ALL}:
        raise ConfigError(
            f"{VARIABLE} is {environ[VARIABLE]!r}",
            where="environment",
            hint=f"its only value is `{ALL}`, which trusts every configuration file; else leave it unset",
        )
