"""argparse with two differences: it names the nearest command or option, and shows the help where a command is missing."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["CommandParser"]

_UNKNOWN = re.compile(r"invalid choice: '([^']*)'")
_MISSING = re.compile(r"the following arguments are required: (COMMAND|ACTION)$")
_REMOVALS = frozenset({"remove", "delete", "rm", "forget", "wrong"})
_REMOVE = "kr research --wrong ID"
"""What takes an answer out of the knowledge base."""
_CUTOFF = 0.6


class CommandParser(argparse.ArgumentParser):
    """A command or subcommand."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._children: dict[str, CommandParser] = {}
        self.otherwise = ""
        """The child that takes the arguments where they name none."""
        self.options: Callable[[CommandParser], None] | None = None
        """What adds its options and children once they are needed: of all commands, most calls need one."""

    @property
    def children(self) -> dict[str, CommandParser]:
        """The subcommands, by name."""
        self.complete()
        return self._children

    def complete(self) -> None:
        """Add the options and children, if they are not there yet."""
        add, self.options = self.options, None
        if add is not None:
            add(self)

    def format_help(self) -> str:
        """The help, with all options."""
        self.complete()
        return super().format_help()

    def parse_known_args(  # type: ignore[override]  # its overloads are about the type of the namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse; arguments that name no child go to the one that takes them otherwise."""
        self.complete()
        if self.otherwise and args and not {"-h", "--help"} & {*args}:
            first = next((one for one in args if not one.startswith("-")), None)
            if first is not None and first not in self.children:
                args = [self.otherwise, *args]
        return super().parse_known_args(args, namespace)

    def parse_args(  # type: ignore[override]  # its overloads are about the type of the namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse; the error about an unknown option is that of its own command, with the nearest option."""
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            here = self
            for name in (getattr(options, "command", None), getattr(options, "action", None)):
                here = here.children.get(name or "", here)
            here.error(f"unrecognized arguments: {' '.join(rest)}")
        return options

    def error(self, message: str) -> NoReturn:
        """Say which word is wrong, and which the user may have meant."""
        missing = _MISSING.search(message)
        if missing is not None:
            top = missing[1] == "COMMAND"
            self.print_help(sys.stdout if top else sys.stderr)
            self.exit(*((0,) if top else (2, f"{self.prog}: error: name one of the actions above\n")))
        super().error(message + self._meant(message))

    def _meant(self, message: str) -> str:
        unknown = _UNKNOWN.search(message)
        if unknown is not None and self.children:
            found = _commands(self, unknown[1])
        elif message.startswith("unrecognized arguments: -"):
            word = message.split()[2].partition("=")[0]
            found = _near(word, re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", self.format_help()))
        else:
            return ""
        return f"; did you mean {' or '.join(f'`{one}`' for one in found)}?" if found else ""


def _commands(parser: CommandParser, word: str) -> list[str]:
    """The whole commands that an unknown one may mean."""
    near = [f"{parser.prog} {name}" for name in _near(word, parser.children)]
    below = [f"{child.prog} {word}" for child in parser.children.values() if word in child.children]
    removal = [_REMOVE] if word in _REMOVALS and parser.prog in {"kr", "kr cache"} else []
    return removal + below or near


def _near(word: str, names: Iterable[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word, sorted(set(names)), n=1, cutoff=_CUTOFF)
