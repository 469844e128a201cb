"""`kr init`: a configuration to start from."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.config import load, trust_store
from kr_core.config.plugin_names import DEFAULT_CHAIN
from kr_core.errors import ConfigError, KRError, StorageError
from kr_core.files import write_atomically
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.config import Config

CONFIGURATION = f"""\
# KR's configuration; every key and its default: docs/reference/configuration.md
knowledge_research:
  knowledge_base_path: knowledge-base
  # sources: [{DEFAULT_CHAIN[0]}]      # asked in this order; without it, what is installed
  # max_calls_per_story: 3         # calls that leave the machine
  # cache_ttl_days: 30
  # version_match: auto            # auto: another minor version is stale too; major: only another major
"""


def run(options: argparse.Namespace) -> int:
    """Write `kr.yaml`, and trust it: its text is KR's own. With `--client` tell a client of KR instead."""
    if options.client is not None:
        from kr_core.cli import client_setup

        return client_setup.run(options)
    if options.git:
        from kr_core.git.merge_driver import set_up_merge_driver

        done = set_up_merge_driver(load(folder_of(options), options.config))
        print(
            printable("\n".join(done))
            or "nothing to do: git merges the index with KR already, or this is not a git work tree"
        )
        return 0
    if options.undo or options.yes:
        hint = "name the client: `kr init --client claude-code`"
        raise ConfigError("--undo and --yes need --client", where="kr init", hint=hint)
    folder = folder_of(options)
    path = folder / "kr.yaml"
    if path.exists() and not options.force:
        raise ConfigError("is there already", where=str(path), hint="edit it, or overwrite it with --force")
    try:
        write_atomically(path, CONFIGURATION)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror or error}", where=str(path)) from error
    print(f"wrote {path}")
    config = load(folder, path)
    ours = sha256(CONFIGURATION.encode()).hexdigest()  # not what another wrote meanwhile
    if config.document is not None and config.document.sha256 == ours:
        try:
            trust_store.trust(config)  # its text: not where a link that lies in the project leads
        except StorageError as error:  # nothing in it needs trust yet
            print(f"note: it is not trusted yet: {error}")
    base = trust_store.knowledge_base(config)
    if base is not None and not trust_store.allows(config, base):
        print(printable(f"note: {trust_store.untrusted(config, base)}"))
    elif config.document is not None and config.document.sha256 == ours:
        for said in _set_up_git(config):
            print(printable(said))
    if (folder / "_bmad").is_dir():
        print(
            "note: KR now reads this file and not BMAD's; `kr init --client bmad` gives BMAD an agent that asks KR"
        )
    print('next: kr research "How do I ... in LIBRARY?"')
    return 0


def folder_of(options: argparse.Namespace) -> Path:
    """The folder that the command works in."""
    return (options.folder or Path.cwd()).resolve()


def _set_up_git(config: Config) -> list[str]:
    """Tell git how to merge the index, where the folder lies in a work tree; returns what was done, or why it was not."""
    from kr_core.git.merge_driver import set_up_merge_driver

    try:
        return set_up_merge_driver(config)
    except KRError as error:
        return [f"note: {error}"]
