# ruff: noqa: INP001  a script, not a package
"""Write the pages of `docs/reference` that are made from the code; a test checks that they are current."""

from __future__ import annotations

import argparse
import types
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel

from kr_core.cli.parser import parser
from kr_core.config.schema import LATER, PluginEntry, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"

MEANINGS = {
    "knowledge_research.enabled": "`false` ends every run at once with status `failure`.",
    "knowledge_research.knowledge_base_path": "The folder of the knowledge base; relative to the project root.",
    "knowledge_research.sources": "Names of plugins or instances, asked in this order. Not set: those of "
    "`installed_docs`, `context7`, `deepwiki`, `web_search` that are installed. An empty list asks nobody.",
    "knowledge_research.fallback_if_mcp_unavailable": "The source that takes over where the MCP sources of the "
    "list cannot be reached.",
    "knowledge_research.max_calls_per_story": "Calls that leave the machine, for each session and story.",
    "knowledge_research.timeout_seconds": "The limit of one call of a source. Not set: each source's own.",
    "knowledge_research.cache_ttl_days": "An entry not used for longer is stale.",
    "knowledge_research.archive_after_days": "An entry not used for longer is a miss.",
    "knowledge_research.max_age_days": "An entry researched longer ago is stale, used or not; `off` for never. "
    "Off where a BMAD configuration is read.",
    "knowledge_research.max_entries": "The size of the index.",
    "knowledge_research.cache_fuzzy_match": "`false`: only an equal topic is a hit.",
    "knowledge_research.cache_match_tiers": "Ways to find an entry: framework, topic and tags; framework and topic; "
    "framework and tags. A way that is not named is not tried.",
    "knowledge_research.version_match": "`auto`: another minor version makes an entry stale where both sides name "
    "one; `major`: only another major version does.",
    "knowledge_research.sufficient_at": "The score that an answer needs for the chain to stop; at 0, any answer "
    "about the question does.",
    "knowledge_research.escalate_below": "Answers below this score go to a human. No effect in this version.",
    "knowledge_research.lessons_injection_budget": "How many lessons are handed to an agent. No effect in this version.",
    "knowledge_research.git_commit": "Whether reports are committed. No effect in this version.",
    "knowledge_research.agent": "The agent that writes summaries. No effect in this version.",
    "role_mapping.knowledge_researcher_persona": "The persona for language models. No effect in this version.",
    "defaults.parallel": "How many runs BMAD starts at once.",
    "defaults.agent_timeout_seconds.knowledge_research": "The limit of a whole run.",
    "defaults.agent_timeout_action": "What follows when that limit is reached.",
    "defaults.max_concurrent": "Questions in flight in one process, as with `--batch`.",
    "status_file_search_paths": "Read because BMAD's configuration has it; KR never writes story state.",
    "store": "The plugin that keeps the knowledge base.",
    "journal": "The plugin that keeps events and budgets.",
    "scorer": "The plugin that says how sure an answer is.",
    "renderer": "The plugin that turns a report into text.",
    "logs": "The plugins that receive every event.",
    "plugins.<name>.use": "The plugin of which this is an instance under a name of its own. Not set: the name is "
    "the plugin's.",
    "plugins.<name>.*": "The plugin's own settings, checked by the plugin when it is built.",
}
"""What each key means. A key of the schema that is missing here, or one too many, is an error."""


class _Key(typing.NamedTuple):
    name: str
    default: str
    allowed: str


def configuration_page() -> str:
    """The page about the configuration."""
    found = list(_keys(Schema))
    names = [key.name for key in found]
    if odd := set(names) ^ set(MEANINGS):
        raise SystemExit(f"tools/reference.py: MEANINGS and the schema differ in {', '.join(sorted(odd))}")
    rows = "\n".join(
        f"| `{key.name}` | {key.default} | {key.allowed} | {MEANINGS[key.name]} |" for key in found
    )
    later = ", ".join(f"`{name}`" for name in sorted(LATER))
    return _CONFIGURATION.replace("@ROWS@", rows).replace("@LATER@", later)


def _keys(model: type[BaseModel], above: str = "") -> Iterator[_Key]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{above}{name}.")
        elif name == "plugins":
            yield from _keys(PluginEntry, "plugins.<name>.")
            yield _Key("plugins.<name>.*", "each plugin's own", "each plugin's own")
        else:
            default = field.get_default(call_default_factory=False)
            yield _Key(above + name, _value(default), _allowed(inner, *field.metadata))


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return f"`[{', '.join(value)}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _allowed(annotation: Any, *metadata: Any) -> str:
    """What a key may hold, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _allowed(parts[0], *parts[1:], *metadata)
    if annotation is int:
        bounds = list(_bounds(metadata))
        low = next((bound.ge for bound in bounds if isinstance(bound, Ge)), None)
        high = next((bound.le for bound in bounds if isinstance(bound, Le)), None)
        return "whole number" + _range(low, high)
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(dict.fromkeys(_allowed(part) for part in parts))
    if origin is tuple:
        inside = _allowed(parts[0])
        return f"list of {inside if inside.startswith('`') else 'texts'}"
    return {bool: "`true` or `false`", str: "text", type(None): "not set"}[annotation]


def _bounds(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for item in metadata:
        yield item
        yield from getattr(item, "metadata", ())


def _range(low: Any, high: Any) -> str:
    if low is None:
        return ""
    return f" from {low}" if high is None else f", {low} to {high}"


def command_line_page() -> str:
    """The page about the command line, made from the parser itself."""
    root = parser()
    shared = {action.dest for action in root._actions}  # noqa: SLF001  argparse has no public way to its options
    parts = [_COMMAND_LINE, "## Options of every command\n\n" + _options(root, set())]
    for name, command, help_text in _commands(root):
        usage = " ".join([f"kr {name}", *_usage(command, shared)])
        parts.append(f"## `{usage}`\n\n{help_text[0].upper()}{help_text[1:]}.\n\n{_options(command, shared)}")
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _commands(root: argparse.ArgumentParser, above: str = "") -> Iterator[tuple[str, Any, str]]:
    for action in root._actions:  # noqa: SLF001
        if not isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
        for name, command in action.choices.items():
            inner = list(_commands(command, f"{above}{name} "))
            yield from inner or [(above + name, command, helps[name])]


def _usage(command: argparse.ArgumentParser, shared: set[str]) -> Iterator[str]:
    for action in command._actions:  # noqa: SLF001
        if not action.option_strings:
            yield f"[{action.metavar}]" if action.nargs == "?" else str(action.metavar)
    if any(action.option_strings and action.dest not in {*shared, "help"} for action in command._actions):  # noqa: SLF001
        yield "[options]"


def _options(command: argparse.ArgumentParser, left_out: set[str]) -> str:
    rows = []
    for action in command._actions:  # noqa: SLF001
        # `--version` of `research` is another option than the root's
        if not action.option_strings or action.dest in {*left_out, "help"}:
            continue
        value = f" {action.metavar}" if action.metavar else ""
        names = ", ".join(f"`{name}{value}`" for name in action.option_strings)
        said = "show KR's version" if action.dest == "version" else action.help
        rows.append(f"| {names} | {said} |")
    return "\n".join(["| option | meaning |", "|---|---|", *rows]) if rows else ""


_CONFIGURATION = """\
# Configuration

<!-- made by tools/reference.py from the schema; change the text there -->

KR needs no configuration. `kr init` writes a `kr.yaml` to start from.

The project root is the folder of the nearest `kr.yaml`, `[tool.kr]` in a `pyproject.toml`, or `_bmad/`, upwards from
the working folder; else the working folder. A bare `pyproject.toml` or `.git` does not make one. One file wins;
nothing is merged. `--config FILE` names another file, `-C DIR` another folder to start from. `{project-root}` in a path
is the project root.

An unknown key, plugin or value is an error with file and line, and the nearest name that exists (exit code 2). YAML is
read so that versions stay text (`2.10` is not 2.1). In a plugin's settings, `{env: NAME}` is taken from the environment
when the plugin is built.

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

## Keys

| key | default | may be | meaning |
|---|---|---|---|
@ROWS@

Keys of later versions are refused, not passed over: @LATER@.

## Environment variables

| variable | meaning |
|---|---|
| `KR_CACHE_DIR` | where the index of installed documentation lies, shared by projects; else the user's cache folder |
| `VIRTUAL_ENV`, `CONDA_PREFIX` | an environment of the project, after `.venv` and `venv` in its folders |
| `NO_COLOR` | no colour on a terminal |
"""

_COMMAND_LINE = """\
# Command line

<!-- made by tools/reference.py from the parser; change the text there -->

The answer goes to standard output, progress and notes to standard error. On a terminal the answer is coloured and
wrapped, in a pipe it is plain Markdown. `--json` and `--yaml` print the result alone.

| exit code | meaning |
|---|---|
| 0 | an answer; its status and confidence say how good; `verify`: every quote holds |
| 1 | anything unforeseen; `verify`: a quote is false |
| 2 | wrong use, wrong configuration or an invalid request |
| 3 | a plugin could not be loaded or built |
| 4 | no content |
| 5 | waiting for a human (in a later version) |
| 130 | interrupted |

```sh
kr --version
kr research "How do I set a timeout for a single request in httpx?" --json > answer.json
kr research --request - < /dev/null || test $? = 2
kr cache list
kr verify knowledge-base/frameworks/httpx/*.md
kr versions httpx --json
```
"""


def pages() -> dict[Path, str]:
    """Each generated page and its text."""
    return {
        REFERENCE / "configuration.md": configuration_page(),
        REFERENCE / "command-line.md": command_line_page(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, "utf-8")
        print(f"wrote {path.relative_to(Path.cwd())}")
