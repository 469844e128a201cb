"""`kr init`: a configuration to start from."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.config import load, trust_store
from kr_core.config.plugin_names import DEFAULT_CHAIN
from kr_core.errors import ConfigError, StorageError
from kr_core.files import write_atomically
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

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
    if options.undo or options.yes:
        hint = "name the client: `kr init --client claude-code`"
        raise ConfigError("--undo and --yes need --client", where="kr init", hint=hint)
    folder = (options.folder or Path.cwd()).resolve()
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
    print('next: kr research "How do I ... in LIBRARY?"')
    return 0
