"""Code in the text of docstrings, READMEs and pages."""

import pytest

from kr_plugins.sources.installed_docs.code_blocks import code_blocks

CODE = {
    "fenced": ("Text.\n\n```python\nf(1)\n```\n\nMore.", ["f(1)"]),
    "tildes": ("Text.\n\n~~~\nf(1)\n~~~", ["f(1)"]),
    "never closed": ("Text.\n\n```python\nf(1)\n", ["f(1)"]),
    "a longer fence": ("````md\n```\nf(1)\n```\n````\n\n```py\ng()\n```", ["g()"]),
    "another language": ("```javascript\nf(1)\n```", []),
    "literal": ("Do so::\n\n    f(1)\n    # why\n\nMore.", ["f(1)\n# why"]),
    "directive": (".. code-block:: python\n   :linenos:\n\n   f(1)\n", ["f(1)"]),
    "a note": (".. note::\n\n   f(1) is text.\n", []),
    "doctest": (">>> f(1)\n2\n>>> for x in y:\n...     pass\n...\n", ["f(1)\nfor x in y:\n    pass"]),
    "doctest in a fence": ("```python\n>>> f(1)\n<X>\n```", ["f(1)"]),
    "doctest in a list": (" - so:\n     >>> f(1)\n     1\n", ["f(1)"]),
    "unmarked": ("Text.\n\n    x = f(1)\n    y = g(x)\n\nMore.", ["x = f(1)\ny = g(x)"]),
    "prose that looks like a call": ("f(1) is what you want.\n", []),
    "prose that does not parse": ("from box import what you need\n", []),
    "a title under tildes": ("Text.\n\nNotes\n~~~~~\nProse, no code.\n", []),
}


@pytest.mark.req("R18")
@pytest.mark.parametrize("case", CODE)
def test_code_is_found_in_every_form_it_is_written(case):
    """Fenced, literal, doctest and unmarked code is found, without prompts and indentation; prose is not code."""
    text, expected = CODE[case]
    assert [block.code for block in code_blocks(text.split("\n"))] == expected


def test_code_says_on_which_lines_it_stands():
    """A block's lines are those of the code, not of its fence."""
    (block,) = code_blocks("Text.\n\n```python\nf(1)\ng(2)\n```".split("\n"))
    assert (block.line, block.end) == (3, 5)
