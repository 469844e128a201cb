"""The package template, without installing what it makes, and the source in 30 lines as the pages show it."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from strangers.building import CONTRIB, KINDS, ROOT, render

from kr_core.hookspecs import CONTRACT_VERSION

FILES = {
    ".gitignore",
    "README.md",
    "pyproject.toml",
    "src/kr_our_{noun}/__init__.py",
    "src/kr_our_{noun}/py.typed",
    "tests/test_contract.py",
}


@pytest.mark.req("P4")
@pytest.mark.parametrize("noun", KINDS)
def test_a_package_is_these_files(noun, tmp_path):
    """Nothing of the template is left in them."""
    made = render(noun, tmp_path / "made")
    files = {path.relative_to(made).as_posix(): path for path in made.rglob("*") if path.is_file()}
    assert set(files) == {name.format(noun=noun) for name in FILES}
    for name, path in files.items():
        text = path.read_text("utf-8")
        assert "{{" not in text, name
        assert "{%" not in text, name
    entry_points = tomllib.loads(files["pyproject.toml"].read_text("utf-8"))["project"]["entry-points"]
    assert entry_points == {"kr": {f"our_{noun}": f"kr_our_{noun}"}}
    assert f"KR_CONTRACT = {CONTRACT_VERSION}\n" in files[f"src/kr_our_{noun}/__init__.py"].read_text("utf-8")


def test_its_code_is_formatted_and_typed(tmp_path):
    """A stranger's first `ruff format` and `mypy --strict` have nothing to say."""
    made = [render(noun, tmp_path / noun) for noun in KINDS]
    for command in (
        ["ruff", "format", "--check", "--config", ROOT / "pyproject.toml", *made],
        [
            "mypy",
            "--strict",
            "--config-file=",
            "--cache-dir",
            ROOT / ".mypy_cache" / "template",
            *(one / "src" for one in made),
        ],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"package": "My-Notes"}, "cannot be imported"),
        ({"package": "1st"}, "cannot be imported"),
        ({"package": "my notes"}, "cannot be imported"),
        ({"package": "class"}, "is taken"),
        ({"package": "kr_core"}, "is taken"),
        ({"package": "kr__notes"}, "no name of a distribution"),
        ({"plugin": "my notes"}, "no name of a plugin"),
        ({"plugin": "Notes"}, "no name of a plugin"),
        ({"plugin": "files"}, "comes with KR"),
        ({"description": " "}, "say in one sentence"),
        ({"description": 'It is "ours".'}, "no double quotes"),
        ({"author": ""}, "name the author"),
        ({"author": "A\nB"}, "no double quotes, backslashes and line breaks"),
    ],
)
def test_a_bad_answer_is_refused(answers, said, tmp_path):
    """What would make a package that does not work is told at once, and nothing is written."""
    with pytest.raises(ValueError, match=said):
        render("source", tmp_path / "made", **answers)
    assert not (tmp_path / "made").exists()


@pytest.mark.req("P4")
@pytest.mark.parametrize("page", ["README.md", "docs/how-to/write-a-source.md"])
def test_the_source_in_30_lines_is_the_one_that_is_run(page):
    """The pages show the file itself; with its imports it is shorter than 30 lines."""
    code = (CONTRIB / "source-in-30-lines" / "kr_decisions.py").read_text("utf-8")
    assert len(code.splitlines()) < 30
    assert f'```python title="kr_decisions.py"\n{code}```\n' in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("file", ["pyproject.toml", "test_decisions.py"])
def test_its_other_files_are_those_of_the_page(file):
    """The how-to shows the entry point and the test as they are run."""
    text = (CONTRIB / "source-in-30-lines" / file).read_text("utf-8")
    assert f'title="{file}"\n{text}```\n' in (ROOT / "docs/how-to/write-a-source.md").read_text("utf-8")
