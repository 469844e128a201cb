"""Documentation that a package adds to its compiled parts."""

import asyncio

import pytest
from support.source_context import SourceContext

from kr_core.model import ResearchQuery
from kr_plugins.sources.installed_docs import InstalledDocs

GRID = {
    "grid/__init__.py": "from ._core import Field, arrange, stack\n\n__all__ = ['Field', 'arrange', 'stack']\n",
    "grid/_core.py": "from ._compiled import *\n\n\nclass Mask(Field):\n    pass\n",
    "grid/_docs.py": '''\
from ._help import add_newdoc

add_newdoc('grid._core', 'arrange',
    """
    arrange(start_or_stop, /, stop=None, *, step=1)
    --

    arrange([start,] stop[, step])

    Return evenly spaced cells.

    Parameters
    ----------
    stop : int
        The end, which is left out.
    step : int, optional
        The width of a cell. Default is 1.
    """)

add_newdoc('grid._core', 'Field', """Field(shape)

    A field of cells.""")
add_newdoc('grid._core', 'Field', ('flatten', """
    a.flatten(order='C')

    Return a copy of the field as one row.
    """))
add_newdoc('grid._core', 'Field', ('size', "How many cells there are in the field."))
add_newdoc('grid._core', 'Field', (NAME, "Not a name."))
add_newdoc('grid._other', 'lost', "There is no module for it.")
add_newdoc()
add_newdoc('grid._core', 'stack', DOC)
''',
}


@pytest.mark.req("A7")
@pytest.mark.parametrize(
    ("question", "symbol", "locator", "signature"),
    [
        ("What does arrange do?", "grid.arrange", "grid/_docs.py:5", "arrange(start_or_stop, /, stop=None, *, step=1)"),
        ("What does Field.flatten do?", "grid.Field.flatten", "grid/_docs.py:24", "flatten(order='C')"),
        ("What is Field.size?", "grid.Field.size", "grid/_docs.py:28", "size"),
        ("What is a grid Field?", "grid.Field", "grid/_docs.py:20", "Field(shape)"),
    ],
)  # fmt: skip
def test_compiled_parts_are_documented_by_what_is_added(
    install, project, tmp_path, question, symbol, locator, signature
):
    """They come under the name that users write, with the signature and the place of the documentation; nothing is run."""
    install("grid", GRID)
    query = ResearchQuery(
        framework="grid", framework_version="1.2.0", topic="t", tags=("t",), question=question
    )
    found = asyncio.run(InstalledDocs(tmp_path / "cache").query(query, SourceContext(project())))
    first = found.passages[0]
    assert (first.symbol, first.locator, first.signature) == (symbol, locator, signature)
    assert "grid.Mask" not in first.symbol


@pytest.mark.req("A7")
def test_a_parameter_that_is_added_is_found_with_its_default(install, project, tmp_path):
    """From the signature and the section of parameters."""
    install("grid", GRID)
    query = ResearchQuery(
        framework="grid", framework_version="1.2.0", topic="t", tags=("t",),
        question="What is the default of step in grid.arrange?",
    )  # fmt: skip
    found = asyncio.run(InstalledDocs(tmp_path / "cache").query(query, SourceContext(project())))
    first = found.passages[0]
    assert (first.symbol, first.parameter, first.default) == ("grid.arrange", "step", "1")
