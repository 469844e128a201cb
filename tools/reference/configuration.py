"""The page about the configuration, made from its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.config.schema import LATER, NO_EFFECT, PluginEntry, Schema

from .keys import Key, keys, table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["configuration_page"]


def configuration_page() -> str:
    """The page about the configuration."""
    later = ", ".join(f"`{name}`" for name in sorted(LATER))
    return _CONFIGURATION.replace("@KEYS@", table(_keys())).replace("@LATER@", later)


def _keys() -> Iterator[Key]:
    for key in keys(Schema):
        if key.name in NO_EFFECT:
            yield key._replace(meaning=f"{key.meaning} No effect in this version.")
            continue
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
the working folder; else the working folder. A bare `pyproject.toml` or `.git` does not make one. One file wins;
nothing is merged. `--config FILE` names another file, `-C DIR` another folder to start from. `{project-root}` in a path
is the project root.

An unknown key, plugin or value is an error with file and line, and the nearest name that exists (exit code 2). YAML is
read so that versions stay text (`2.10` is not 2.1). In a plugin's settings, `{env: NAME}` is taken from the environment
when the plugin is built.

A `kr.yaml`:

```yaml title="kr.yaml"
knowledge_research:
  sources: [installed_docs]
  cache_ttl_days: 14
  max_age_days: off
```

`kr doctor` says which file was read and what was wrong in it:

```sh
kr doctor
```

## Trust

A configuration comes with a project, which may be anybody's. These settings work only after you have read the file and allowed it:

| setting | examples |
|---|---|
| a program that runs | `command`, `argv`, `environment` |
| an address that is neither the service's own nor on this machine | `url`, `base_url`, `endpoint` |
| any address but the service's own, where a secret from the environment goes there | `token: {env: NAME}` beside `url` |
| what an escalation or a log posts to | `repository`, `channel` |
| a key that stands in the file itself: what is sent with it lies in somebody's account | `api_key: sk-...` |
| a variable of the environment, but as the value of a key, token, secret, password or passphrase | `responders: [{env: NAME}]` |
| private hosts whose pages may be read | `allow_hosts` |
| an embedder that sends documents to a service | `base_url`, `api_key` |
| a path that leads out of the project, also by a link | `knowledge_base_path`, `folders` |

On this machine are `localhost`, 127.0.0.0/8 and `[::1]`, written just so. The service's own is the address that the plugin has
where none is set, with any path and no query.

```sh
kr trust
```

It prints what it allows, each with its line. What is allowed is this text of the file in this place, and the folders outside to
which it leads now: any change asks anew. Until then whatever needs such a setting ends with exit code 2 and says what to do, and
the rest works. `kr trust --forget` undoes it; `KR_TRUST=all` allows every file, for machines whose every project is trusted
already, as in CI. A link in place of `knowledge-base` counts even where no file names it. A knowledge base inside `.git` is refused,
trusted or not.

## Keys

@KEYS@

Keys of later versions are refused, not passed over: @LATER@.

## Environment variables

| variable | meaning |
|---|---|
| `KR_CACHE_DIR` | where the index of installed documentation lies, shared by projects; else the user's cache folder |
| `VIRTUAL_ENV`, `CONDA_PREFIX` | an environment of the project, after `.venv` and `venv` in its folders |
| `KR_TRUST` | `all` allows every configuration file; it has no other value |
| `NO_COLOR` | no colour on a terminal |
"""
