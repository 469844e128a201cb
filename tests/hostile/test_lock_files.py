"""Lock files that were written to keep KR busy: each ends in a note or in an answer, well before anybody gives up."""

from __future__ import annotations

import time

import pytest

from kr_core.project.project import LocalProject

PATIENCE_SECONDS = 60
"""Far more than any of them takes on a slow machine; before, they took minutes or hours."""
PNPM = "lockfileVersion: '9.0'\n"
BOMB = "".join(
    f"      d{n}: &d{n} [{', '.join([f'*d{n - 1}'] * 9 if n else ['x'] * 9)}]\n" for n in range(30)
)
TEXTS = {
    "blank lines in a build script": ("build.gradle", "\n" * 100_000, None),
    "an open comment in a build script": ("build.gradle", "/* " * 100_000, None),
    "spaces in a build script": ("build.gradle.kts", "implementation" + " " * 100_000, None),
    "a key of many parts": ("uv.lock", "a." * 100_000, "more than a hundred parts"),
    "one package many times": (
        "pnpm-lock.yaml",
        PNPM + "packages:\n" + "".join(f"  p@1.{n}.0:\n    x: y\n" for n in range(20_000)),
        None,
    ),
    "aliases of aliases": ("pnpm-lock.yaml", f"{PNPM}importers:\n  .:\n    dependencies:\n{BOMB}", "anchors"),
    "lists in lists": (
        "pnpm-lock.yaml",
        f"{PNPM}importers:\n  .:\n    x: {'[' * 10_000}",
        "nested too deeply",
    ),
    "objects in objects": (
        "package-lock.json",
        '{"packages": ' + '{"a":' * 10_000 + "1" + "}" * 10_001,
        "nested",
    ),
    "spaces in a requirement": ("requirements.txt", "a" + " " * 50_000 + "b#\n", None),
    "spaces in a requirement of pyproject.toml": (
        "pyproject.toml",
        f'[project]\nname = "x"\nversion = "1"\ndependencies = ["a{" " * 50_000}b#"]\n',
        None,
    ),
    "one line that is a whole file": ("requirements.txt", "a" * 200_000, "more than 100,000 characters"),
    "a reference of many peers": (
        "pnpm-lock.yaml",
        f"{PNPM}importers:\n  .:\n    dependencies:\n      a: 1.0.0{'(b@1.0.0' * 20_000}\n",
        None,
    ),
}


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
@pytest.mark.parametrize("case", TEXTS)
def test_a_lock_file_made_to_keep_busy_is_read_or_refused_in_time(tmp_path, case):
    """What cannot be understood is noted with its place; the time grows with the size of the file, not its square."""
    name, text, said = TEXTS[case]
    (tmp_path / name).write_text(text)
    before = time.process_time()
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    project.versions()
    assert time.process_time() - before < PATIENCE_SECONDS
    assert [note for note in project.warnings if said and said in note] if said else project.warnings == []


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_aliases_of_aliases_in_the_settings_of_yarn_name_no_catalog(tmp_path):
    """The lock file serves without the settings that cannot be read."""
    (tmp_path / ".yarnrc.yml").write_text(f"catalog:\n{BOMB}")
    (tmp_path / "package.json").write_text('{"dependencies": {"ms": "catalog:"}}')
    (tmp_path / "yarn.lock").write_text(
        '__metadata:\n  version: 8\n\n"ms@npm:^2":\n  version: 2.1.3\n  resolution: "ms@npm:2.1.3"\n'
    )
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert project.version_of("ms") == ("2.1.3", "yarn.lock")
