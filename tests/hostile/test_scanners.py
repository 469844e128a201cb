"""What reads text of others takes linear time, and ends, whatever the text is (issue 15, F6)."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from heapq import nlargest

import pytest
from support.fork_server import kr_argv
from support.hostile_texts import TEXTS, readers
from support.projects import install, make_environment
from support.regexes import seconds_for
from support.spec_files import questions_in

from kr_core.model import Passage
from kr_core.search.documents.source_code import pieces
from kr_plugins.sources.installed_docs.node.script_comments import documented_names

pytestmark = pytest.mark.req("Z8")

_SMALL, _LARGE = 2_000, 50_000
_AT_ONCE = 1.5
"""Seconds of processor time that are granted to 50 kB, beside four times what 2 kB let expect."""
_OF_CRAFTED = 6.0
_MORE_THAN_LINEAR = 4
_MAX_QUESTION_LENGTH = 10_000
_OF_QUESTIONS = {"a topic", "terms of a question", "terms without names", "first queries"}
_REFUSING = {"the depth of YAML", "a document a.ipynb"}
"""What may say that it cannot read a text; everything else reads any."""


def _read(name: str, text: str, limit: float) -> float:
    reader = readers()[name]

    def work() -> None:
        try:
            reader(text)
        except Exception as error:
            if name not in _REFUSING or isinstance(error, RecursionError | MemoryError):
                raise

    return seconds_for(work, limit=limit)


@pytest.mark.parametrize("name", sorted(readers()))
def test_a_text_of_others_is_read_in_linear_time(name: str) -> None:
    """Any text of 50 kB is read in seconds, and none brings its reader down."""
    large = _MAX_QUESTION_LENGTH if name in _OF_QUESTIONS else _LARGE
    small = [(_read(name, make(_SMALL), 1.0), kind) for kind, make in TEXTS.items()]
    slow = []
    for seconds, kind in nlargest(3, small):
        granted = _AT_ONCE + _MORE_THAN_LINEAR * seconds * large / _SMALL
        if all(_read(name, TEXTS[kind](large), granted) >= granted for _try in range(2)):
            slow.append(kind)
    assert not slow


@pytest.mark.parametrize("kind", ["no spaces", "hex", "base64", "run of ':'", "brackets nested"])
def test_a_readme_without_spaces_does_not_hold_research_up(kind: str, tmp_path) -> None:
    """`kr research` answers about a package whose README and docstring are 100 kB without a space, or says that it found nothing."""
    project = tmp_path / "project"
    project.mkdir()
    text = TEXTS[kind](100_000)
    files = {
        "parcel/__init__.py": f'"""{text[:40]} {text}"""\n\n\ndef wrap(timeout=5):\n    """Wrap it. {text}"""\n',
        "parcel/README.md": f"# parcel\n\nThe default timeout is 5 seconds.\n\n{text}\n",
    }
    metadata = install(make_environment(project), "parcel", "1.4.0", files)
    with (metadata / "METADATA").open("a") as file:
        file.write(f"Description-Content-Type: text/markdown\n\n# parcel\n\n{text}\n")
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VIRTUAL_ENV", "CONDA", "KR_"))
        },
        "KR_CACHE_DIR": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        **dict.fromkeys(("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
    }
    done = subprocess.run(
        kr_argv(environment, "research", "What is the default timeout of wrap in parcel?", "--json"),
        check=False, capture_output=True, cwd=project, env=environment, timeout=120,
    )  # fmt: skip
    assert done.returncode in {0, 4}, done.stderr.decode()
    assert isinstance(json.loads(done.stdout), dict)


_CRAFTED = {
    "comments in a specification": (questions_in, "<!---->" * 200_000),
    "tables in a specification": (questions_in, "Which?\n| Option | A |\n|---|---|\n| A | x |\n" * 8_000),
    "markers in one line of a specification": (
        questions_in,
        "# A\n\n## B\n" + "".join(f"[NEEDS CLARIFICATION: {number}?]" for number in range(20_000)),
    ),
    "blanks in a function's parentheses": (pieces, ("int f(" + " " * 393 + "x\n") * 250),
    "constructors of one class": (
        partial(documented_names, called="a"),
        "exports.A = A\nclass A {\n"
        + "".join(
            "/** x" + "".join(f"\n@param a{number}n{part} x" for part in range(10)) + "*/constructor(){\n"
            for number in range(5_000)
        ),
    ),
    "a quote in a passage of many lines": (
        lambda text: Passage(text=text, url="https://a.example/").locate("the last"),
        "a row\n" * 300_000 + "the last",
    ),
}
"""Texts that were made for one reader, each some 100 kB or as long as its time needs to tell."""


@pytest.mark.parametrize("name", sorted(_CRAFTED))
def test_a_text_made_for_a_reader_is_read_in_seconds(name: str) -> None:
    """What once took a reader minutes takes seconds."""
    reader, text = _CRAFTED[name]
    assert seconds_for(lambda: list(reader(text)), limit=_OF_CRAFTED, tries=2) < _OF_CRAFTED
