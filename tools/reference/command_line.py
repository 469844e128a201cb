"""The page about the command line, made from the parser itself."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from kr_core.cli.command_options import parser

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command_line_page"]


def command_line_page() -> str:
    """The page about the command line, made from the parser itself."""
    root = parser()
    shared = {action.dest for action in root._actions}
    parts = [_COMMAND_LINE, "## Options of every command\n\n" + _options(root, set())]
    for name, command, help_text in _commands(root):
        usage = " ".join([f"kr {name}", *_usage(command, shared)])
        parts.append(f"## `{usage}`\n\n{help_text[0].upper()}{help_text[1:]}.\n\n{_options(command, shared)}")
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _commands(root: argparse.ArgumentParser, above: str = "") -> Iterator[tuple[str, Any, str]]:
    for action in root._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, command in action.choices.items():
            command.complete()
            inner = list(_commands(command, f"{above}{name} "))
            yield from inner or [(above + name, command, helps[name])]


def _usage(command: argparse.ArgumentParser, shared: set[str]) -> Iterator[str]:
    for action in command._actions:
        if not action.option_strings:
            yield f"[{action.metavar}]" if action.nargs == "?" else str(action.metavar)
    if any(action.option_strings and action.dest not in {*shared, "help"} for action in command._actions):
        yield "[options]"


def _options(command: argparse.ArgumentParser, left_out: set[str]) -> str:
    rows = []
    for action in command._actions:
        # `--version` of `research` is another option than the root's
        if not action.option_strings or action.dest in {*left_out, "help"}:
            continue
        value = f" {action.metavar}" if action.metavar else ""
        names = ", ".join(f"`{name}{value}`" for name in action.option_strings)
        said = "show KR's version" if action.dest == "version" else action.help
        rows.append(f"| {names} | {said} |")
    return "\n".join(["| option | meaning |", "|---|---|", *rows]) if rows else ""


_COMMAND_LINE = """\
# Command line

<!-- made by `make reference` from kr_core/cli/command_options.py; change the text there, or in tools/reference -->

The answer goes to standard output, progress and notes to standard error. On a terminal the answer is coloured and
wrapped, in a pipe it is plain Markdown. `--json` and `--yaml` print the result alone.

| exit code | meaning |
|---|---|
| 0 | an answer, rated by its status and confidence; `verify`: every quote is correct |
| 1 | an unexpected error; `verify`: a quote is false |
| 2 | wrong use, wrong configuration or an invalid request |
| 3 | a plugin could not be loaded or built |
| 4 | no content; `expedition`: nothing that answers the question |
| 5 | waiting for a human |
| 129, 130, 131, 143 | stopped by SIGHUP, Ctrl-C, SIGQUIT or SIGTERM, with every program that KR started; a second signal stops at once |

```sh
kr --version
kr research "How do I set a timeout for a single request in httpx?" --json > answer.json
kr research --request - < /dev/null || test $? = 2
kr cache list
kr verify knowledge-base/frameworks/httpx/*.md
kr versions httpx --json
```
"""
