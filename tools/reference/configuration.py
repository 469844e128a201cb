"""The page about the configuration, made from its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.config.schema import PluginEntry, Schema

from .keys import Key, keys, table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["configuration_page"]


def configuration_page() -> str:
    """The page about the configuration."""
    return _CONFIGURATION.replace("@KEYS@", table(_keys()))


def _keys() -> Iterator[Key]:
    for key in keys(Schema):
        if key.name != "plugins":
            yield key
            continue
        yield from keys(PluginEntry, "plugins.<name>.")
        yield Key(
            "plugins.<name>.*", "", "", "The plugin's own settings: see [what comes with KR](included.md)."
        )


_CONFIGURATION = """\
# Configuration

<!-- made by `make reference` from kr_core/config/schema.py; change the text there, or in tools/reference -->

KR needs no configuration. `kr init` writes a `kr.yaml` to start from.

The project root is the folder of the nearest `kr.yaml`, `[tool.kr]` in a `pyproject.toml`, or `_bmad/`, upwards from
the working folder; otherwise the working folder. A bare `pyproject.toml` or `.git` does not make one. One file wins;
KR merges nothing. `--config FILE` names another file, `-C DIR` another folder to start from. `{project-root}` in a path
is the project root.

An unknown key, plugin or value is an error with file and line, and the nearest name that exists (exit code 2). Versions in YAML
stay text (`2.10` is not 2.1). In a plugin's settings, KR takes `{env: NAME}` from the environment when it builds the plugin.

A `kr.yaml`:

```yaml title="kr.yaml"
knowledge_research:
  sources: [installed_docs]
  cache_ttl_days: 14
  max_age_days: off
```

`kr doctor` says which file KR read and what is wrong in it:

```sh
kr doctor
```

## Trust

A configuration comes with a project, which may be a stranger's. These settings work only after you have read the file and allowed it:

| setting | examples |
|---|---|
| a program that runs | `command`, `argv`, `environment` |
| an address that is neither the service's own nor on this machine | `url`, `base_url`, `endpoint` |
| the address of an MCP server of your choice, also on this machine: the file says which tool KR calls, and with what | `use: mcp` with `url` |
| any address except the service's own, if a secret from the environment goes there | `token: {env: NAME}` beside `url` |
| what an escalation or a log posts to | `repository`, `channel` |
| a key in the file itself: what KR sends with it goes to that key's account | `api_key: sk-...` |
| a variable of the environment, except as the value of a key, token, secret, password or passphrase | `responders: [{env: NAME}]` |
| private hosts whose pages KR may read | `allow_hosts` |
| an embedder that sends documents to a service | `base_url`, `api_key` |
| a model that an embedder loads, also from a folder in the project | `plugins.minilm.folder` |
| a path that leads out of the project, also by a link | `knowledge_base_path`, `folders` |

`localhost`, 127.0.0.0/8 and `[::1]`, written exactly so, are on this machine. The service's own address is the plugin's
default, with any path and no query.

```sh
kr trust
```

It prints what it allows, each with its line. It allows this text of the file in this place, and the folders outside to
which it leads now: after any change, allow it again. Until then a command that needs such a setting ends with exit code 2 and says what
to do, and the rest works. `kr trust --forget` undoes it; `KR_TRUST=all` allows every file, for machines on which you trust every
project, as in CI. A link in place of `knowledge-base` counts even if no file names it. KR refuses a knowledge base inside `.git`,
trusted or not.

Three settings never end a command: `plugins.local_docs.official` and `plugins.installed_docs.folders` inside the project make documents
of the project official. Before `kr trust` KR rates those like any others (`low` at most), or leaves them out beside the installed package, with
a note. `plugins.<source>.egress: code` lets the code in a question leave. Before `kr trust` the code stays at home, with a note.

## Templates

A project's own `templates/` decide what a report says, what you see of a case, and what an agent hears. So they work only after
`kr trust`, which lists them, also where there is no configuration file. KR keeps a hash of each. Until then, and when one of them
changes or another comes, KR uses its own; a note on each answer and case names those that it did not use, and what to do. No command fails for
that.

| template | replaces |
|---|---|
| `reports/research.md.j2` | the report |
| `escalations/case.md.j2` | a case of the inbox |
| `prompts/*.md.j2`, `personas/*` | what KR tells agents |
| `clients/*.j2` | what `kr init --client` writes |

KR leaves other files below `templates/` alone, unless one of these names them or a plugin asks for them.

## Keys

@KEYS@


## Environment variables

| variable | meaning |
|---|---|
| `KR_CACHE_DIR` | the folder for the index of installed documentation, shared by projects; by default the user's cache folder |
| `VIRTUAL_ENV`, `CONDA_PREFIX` | an environment of the project, after `.venv` and `venv` in its folders |
| `KR_TRUST` | `all` allows every configuration file; it has no other value |
| `NO_COLOR` | no colour on a terminal |
"""
