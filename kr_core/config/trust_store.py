"""Whether the user trusts a configuration file: `kr trust`.

A configuration comes with a project, which may be anybody's. What it says is data, but for the settings that run a program,
send something to an address or into an account, load a model, or lead out of the project's folder (`trust_policy`): those work only
once the user has trusted this very text of the file in this very place, and the places outside that it led to then. What is trusted is kept in
the user's own state folder, where no project can write it.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.config.plugin_names import dotted
from kr_core.config.trust_policy import (
    ALL,
    UNKNOWN,
    VARIABLE,
    AddressPolicy,
    TrustedSetting,
    further,
    leading_out,
    loading_models,
    outside,
    posting,
    sending_documents,
    sensitive_in,
    taking,
    vouching,
    with_own_key,
)
from kr_core.errors import ConfigError, StorageError
from kr_core.files import lies_within, lock, read_bytes, write_atomically
from kr_core.user_state import user_state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from kr_core.config.config_file import KeyPath
    from kr_core.config.loader import Config

__all__ = [
    "allows",
    "follow",
    "forget",
    "ignored",
    "is_trusted",
    "knowledge_base",
    "require",
    "require_knowledge_base",
    "sensitive",
    "trust",
    "trust_templates",
    "trusted_templates",
]

_KNOWLEDGE_BASE: KeyPath = ("knowledge_research", "knowledge_base_path")
_LARGEST = 10_000_000
_PARTS = ("files", "places", "templates")


def sensitive(
    config: Config, policy: Callable[[str], AddressPolicy] = lambda _name: UNKNOWN
) -> dict[str, list[TrustedSetting]]:
    """The settings that work only in a trusted file, by the name under which they stand in `plugins`.

    Args:
        config: the configuration.
        policy: which addresses a plugin or instance may name without trust.
    """
    found = {name: _found(config, name, policy(name)) for name in config.settings.plugins}
    return {name: settings for name, settings in found.items() if settings}


def ignored(
    config: Config, policy: Callable[[str], AddressPolicy] = lambda _name: UNKNOWN
) -> list[TrustedSetting]:
    """The settings that are passed over in a file that is not trusted, where the others are refused.

    They rate documents of the project as official, or let the code in questions leave the machine.

    Args:
        config: the configuration.
        policy: which settings of a plugin or instance rate documents.
    """
    found = []
    for name, entry in config.settings.plugins.items():
        below = ("plugins", name)
        found += vouching(config.plugin_settings(name), below, policy(name).vouching)
        if entry.egress == "code":
            found.append(TrustedSetting((*below, "egress"), "sends the code in questions, too"))
    return found


def knowledge_base(config: Config) -> TrustedSetting | None:
    """The place of the knowledge base, where it lies outside of the project or inside `.git`; None where it lies well."""
    if _is_gits(config):
        hint = "name a folder that is not inside of `.git`, such as `knowledge-base`"
        return TrustedSetting(_KNOWLEDGE_BASE, "leads into a `.git` folder, which is git's alone", hint=hint)
    if lies_within(config.knowledge_base_path, config.root):
        return None
    place = os.path.realpath(config.knowledge_base_path)
    return TrustedSetting(_KNOWLEDGE_BASE, outside(place), place)


def require(config: Config, name: str, policy: AddressPolicy = UNKNOWN) -> None:
    """Refuse the settings of a plugin or instance where the user has not trusted what they would do.

    Args:
        config: the configuration.
        name: of the plugin or instance.
        policy: which addresses its settings may name without trust.

    Raises:
        ConfigError: one of them works only in a trusted file, and this is none.
    """
    for setting in _found(config, name, policy):
        if not allows(config, setting):
            raise untrusted(config, setting)


def require_knowledge_base(config: Config) -> None:
    """Refuse a knowledge base inside `.git`, and one outside of the project where the user has not trusted that.

    Raises:
        ConfigError: it lies inside `.git`, or outside of the project, and that is not trusted.
    """
    setting = knowledge_base(config)
    if setting is not None and not allows(config, setting):
        raise untrusted(config, setting)


def _found(config: Config, name: str, policy: AddressPolicy) -> list[TrustedSetting]:
    settings, below = config.plugin_settings(name), ("plugins", name)
    sent = sending_documents(settings, below) if name == config.settings.embedder else []
    found = further(sent, sensitive_in(settings, below, policy))
    if name in {*config.settings.escalations, *config.settings.logs}:
        found = further(found, posting(settings, below))
    found = further(found, leading_out(settings, below, config.root))
    if name == config.settings.embedder:
        found = further(found, loading_models(settings, below))
    return further(further(found, with_own_key(settings, below)), taking(settings, below))


def _is_gits(config: Config) -> bool:
    """Whether the knowledge base lies inside a `.git`, by its name in any letter case or by links."""
    base, root = config.knowledge_base_path, config.root
    ways = [(str(base), str(root)), (os.path.realpath(base), os.path.realpath(root))]
    parts = {
        part.casefold()
        for way, start in ways
        # the project itself may lie in one, as a work tree that git made for a while
        for part in Path(os.path.relpath(way, start) if way.startswith(start + os.sep) else way).parts
    }
    return ".git" in parts or lies_within(base, root / ".git")


def untrusted(config: Config, setting: TrustedSetting) -> ConfigError:
    """What to say about a setting that is not trusted."""
    if setting.hint:
        return ConfigError(
            f"`{dotted(setting.key)}` {setting.does}", where=config.origin(setting.key), hint=setting.hint
        )
    what, hint = "this file is not trusted", "read it, then allow it with `kr trust`"
    if config.document is None:
        what, hint = (
            "no file says so",
            "remove the link, or name its folder in a `kr.yaml` and allow it with `kr trust`",
        )
    elif setting.location and is_trusted(config):
        what = "that place is not trusted"
    return ConfigError(
        f"`{dotted(setting.key)}` {setting.does}, and {what}", where=config.origin(setting.key), hint=hint
    )


def is_trusted(config: Config) -> bool:
    """Whether the user trusts the configuration as it was read; one that a program gives is that program's own."""
    if config.by_program or config.environ.get(VARIABLE) == ALL:
        return True
    return config.document is not None and _kept("files").get(_place(config)) == config.document.sha256


def allows(config: Config, setting: TrustedSetting) -> bool:
    """Whether the user trusts what a setting does: the file as it was read, and the place outside to which it leads now."""
    if setting.hint or not is_trusted(config):
        return False
    free = not setting.location or config.by_program or config.environ.get(VARIABLE) == ALL
    return free or setting.location in (_kept("places").get(_place(config)) or ())


def trust(config: Config, settings: Collection[TrustedSetting] = ()) -> None:
    """Trust the configuration file as it was read; any change of it is asked about anew.

    Args:
        config: the configuration.
        settings: what was shown to the user; the places outside to which they lead are trusted too.

    Raises:
        ConfigError: one of them is refused, trusted or not.
        StorageError: the user's state folder cannot be written.
    """
    assert config.document is not None, "there is a file"
    for setting in settings:
        if setting.hint:
            raise untrusted(config, setting)
    places = sorted({setting.location for setting in settings if setting.location})
    _change(_place(config), config.document.sha256, places)


def follow(config: Config, sha256: str) -> None:
    """Trust the text that KR itself has written, if the user trusts the one that KR read.

    Args:
        config: as it was read before the change.
        sha256: of the new text.

    Raises:
        StorageError: the user's state folder cannot be written.
    """
    if config.document is not None and _kept("files").get(_place(config)) == config.document.sha256:
        _change(_place(config), sha256, _kept("places").get(_place(config)) or ())


def forget(config: Config) -> bool:
    """Trust the configuration file no longer; returns whether it was trusted, in this or an earlier text.

    Raises:
        StorageError: the user's state folder cannot be written.
    """
    return _change(_place(config), None, ()) is not None


def _place(config: Config) -> str:
    """Where the file is found, links resolved but for its own name.

    A link to a file that is trusted elsewhere is another place: `{project-root}/tool` would be another tool there.
    """
    assert config.file is not None, "there is a file"
    return os.path.join(os.path.realpath(config.root), os.path.relpath(config.file, config.root))  # noqa: PTH118  text, not files: part of a key


def trusted_templates(root: Path) -> dict[str, str]:
    """The templates of a project that the user trusts: the hash of each text by its name."""
    kept = _kept("templates").get(os.path.realpath(root))
    return kept if isinstance(kept, dict) else {}


def trust_templates(root: Path, templates: Mapping[str, str]) -> bool:
    """Trust these templates of a project and no others; returns whether any were trusted before.

    Args:
        root: the project root.
        templates: the hash of each text by its name; empty for none.

    Raises:
        StorageError: the user's state folder cannot be written.
    """
    with _changing() as kept:
        before = kept["templates"].pop(os.path.realpath(root), None)
        if templates:
            kept["templates"][os.path.realpath(root)] = dict(templates)
    return before is not None


def _file() -> Path:
    return Path(user_state_folder(), "trusted.json")


def _kept(part: str) -> dict[str, Any]:
    """What is trusted by place: `files`, the `places` outside or `templates`; nothing where that cannot be read."""
    try:
        kept = json.loads(read_bytes(_file(), limit=_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    found = kept.get(part) if isinstance(kept, dict) else None
    return found if isinstance(found, dict) else {}


def _change(place: str, sha256: str | None, led_to: Collection[str]) -> Any:
    """Keep or drop what is trusted in a place; returns what was kept before."""
    with _changing() as kept:
        before = kept["files"].pop(place, None)
        kept["places"].pop(place, None)
        if sha256 is not None:
            kept["files"][place] = sha256
        if led_to:
            kept["places"][place] = list(led_to)
    return before


@contextmanager
def _changing() -> Iterator[dict[str, dict[str, Any]]]:
    """All that is trusted, to be changed; it is written if it was.

    Raises:
        StorageError: the user's state folder cannot be written.
    """
    path = _file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with lock(path.parent):
            kept = {part: _kept(part) for part in _PARTS}
            before = json.dumps(kept)
            yield kept
            if json.dumps(kept) != before:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # a new file is the user's alone
                write_atomically(path, json.dumps(kept, indent=2) + "\n")
    except OSError as error:
        raise StorageError(
            f"cannot be written: {error.strerror or error}", where=str(path), hint="check its permissions"
        ) from error
