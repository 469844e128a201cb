"""The core knows no plugin: it finds them by their entry points, and asks them what it must know of them."""

import ast
import re
from pathlib import Path

import pytest

import kr_core
from kr_core.entry_points import installed

CORE = Path(kr_core.__file__).parent
NAMES_OF_DEFAULTS = {"config/plugin_names.py", "config/schema.py", "routing/defaults.py"}
"""Where the configuration's defaults stand, which the specification names."""
WORDS_OF_LIBRARIES = {"question/vocabulary.py"}
"""Lists of libraries that questions are about; some have the name of a plugin."""
ORDINARY = {
    "anthropic", "axioms", "command", "evidence", "files", "github", "markdown", "match", "mcp", "otel", "postgres", "procrastinate", "research", "rules", "stdout", "web",
}  # fmt: skip
"""Names that are also words of the core: keys, subcommands, names of streams and extras."""


def first_party():
    return {plugin.name for plugin in installed() if plugin.package == "kr_plugins"}


def literals(tree):
    """The texts of a module, but for its docstrings; with the line of each."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.lineno, node.value


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def named(source, names):
    """Each place of a source at which a plugin, or the package of first-party plugins, is named."""
    tree = ast.parse(source)
    wanted = re.compile(rf"(?<![\w.-])(?:{'|'.join(sorted(names))})(?![\w-])|\bkr_plugins\b|\w+\.sqlite\b")
    own = re.compile(r"docs(?:-vectors-)?\.sqlite$")
    found = [(line, text) for line, text in literals(tree) if wanted.search(text) and not own.search(text)]
    return found + [(line, name) for line, name in imported(tree) if name.split(".")[0] == "kr_plugins"]


@pytest.mark.req("P1")
def test_the_core_names_no_first_party_plugin():
    """No text and no import of a core module names a plugin that comes with KR, but for the defaults of the configuration."""
    names = first_party()
    assert names > ORDINARY
    found = {
        f"{path.relative_to(CORE)}:{line}: {text!r}"
        for path in CORE.rglob("*.py")
        if path.relative_to(CORE).as_posix() not in NAMES_OF_DEFAULTS | WORDS_OF_LIBRARIES
        for line, text in named(path.read_text("utf-8"), names - ORDINARY)
    }
    assert not found


@pytest.mark.parametrize(
    "source",
    [
        "import kr_plugins.journals.sqlite",
        "from kr_plugins.journals import sqlite",
        "name = 'local_docs'",
        "module = 'kr_plugins.journals'",
        "hint = 'write `escalations: [ollama]`'",
        "path = folder + '/journal.sqlite'",
    ],
)
def test_a_name_of_a_plugin_is_seen(source):
    """The look finds names in imports, in texts and in parts of texts."""
    assert named(source, first_party() - ORDINARY)
