"""Lock files that were written to keep KR busy: each ends in a note or in an answer, well before anybody gives up."""

from __future__ import annotations

import json
import os
import time

import pytest
from support.regexes import at_most, seconds_for

from kr_core.files import read_bytes
from kr_core.project.lockfiles import pins, uv
from kr_core.project.project import LocalProject

PATIENCE_SECONDS = 60
"""Far more than any of them takes on a slow machine; before, they took minutes or hours."""
PNPM = "lockfileVersion: '9.0'\n"
BOMB = "".join(
    f"      d{n}: &d{n} [{', '.join([f'*d{n - 1}'] * 9 if n else ['x'] * 9)}]\n" for n in range(30)
)
UV_MEMBER = 'version = 1\n[[package]]\nname = "r"\nversion = "1"\nsource = { virtual = "." }\n'
UV_FIFTY = "".join(f'{{ name = "p{n}" }},' for n in range(50))
UV_PACKAGES = "".join(f'[[package]]\nname = "p"\nversion = "{n}"\n' for n in range(5_000))
TEXTS = {
    "blank lines in a build script": ("build.gradle", "\n" * 100_000, None),
    "an open comment in a build script": ("build.gradle", "/* " * 100_000, None),
    "spaces in a build script": ("build.gradle.kts", "implementation" + " " * 100_000, None),
    "a key of many parts": ("uv.lock", "a." * 100_000, "more than sixty parts"),
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
    "a dependency many times, locked as often": (
        "uv.lock",
        UV_MEMBER + "dependencies = [" + '{ name = "p" },' * 5_000 + "]\n" + UV_PACKAGES,
        None,
    ),
    "one package in many extras, locked as often": (
        "uv.lock",
        UV_MEMBER
        + "[package.optional-dependencies]\n"
        + "".join(f'e{n} = [{{ name = "p" }}]\n' for n in range(5_000))
        + UV_PACKAGES,
        None,
    ),
    "a long marker, asked for many times": (
        "uv.lock",
        UV_MEMBER
        + "dependencies = ["
        + '{ name = "p" },' * 30_000
        + f']\n[[package]]\nname = "p"\nversion = "1"\nresolution-markers = ["{"x" * 500_000}"]\n',
        None,
    ),
    "many forks in many extras": (
        "uv.lock",
        UV_MEMBER
        + "[package.optional-dependencies]\n"
        + "".join(f"e{n} = [{UV_FIFTY}]\n" for n in range(1_000))
        + "".join(f'[[package]]\nname = "p{n % 50}"\nversion = "{n}"\n' for n in range(1_000)),
        "more than 200,000 dependencies",
    ),
    "a file that includes itself many times": ("requirements.txt", "-r requirements.txt\n" * 40_000, None),
    "a folder included many times": ("requirements.txt", "-r .\n" * 300_000, None),
    "a member without packages": ("pnpm-lock.yaml", f"{PNPM}importers:\npackages:\n", None),
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


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_a_lock_file_of_yarn_1_with_many_dependencies_is_read_in_seconds(tmp_path):
    """Its text is not searched again for each dependency; 2.9 MB took 20 seconds so."""
    names = [f"p{number}" for number in range(20_000)]
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": dict.fromkeys(names, "^1")}))
    locked = "".join(f'{name}@^1:\n  version "1.0.0"\n  # {"-" * 100}\n\n' for name in names)
    (tmp_path / "yarn.lock").write_text(f"# yarn lockfile v1\n\n\n{locked}")
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert seconds_for(project.versions, limit=_YARN_SECONDS) < _YARN_SECONDS
    assert project.version_of("p19999") == ("1.0.0", "yarn.lock")


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_properties_of_a_pom_xml_that_make_a_long_text_are_read_in_seconds(tmp_path):
    """Each is filled in once, and a long text cannot be a version; 0.6 MB took more than a minute so."""
    dependency = (
        "<dependency><groupId>g</groupId><artifactId>a{}</artifactId><version>${{v}}</version></dependency>"
    )
    properties = f"<properties><v>{'${w}' * 250}</v><w>{'y' * 500_000}</w></properties>"
    dependencies = "".join(dependency.format(number) for number in range(200))
    (tmp_path / "pom.xml").write_text(
        f"<project>{properties}<dependencies>{dependencies}</dependencies></project>"
    )
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert seconds_for(project.versions, limit=_POM_SECONDS) < _POM_SECONDS


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_variables_of_a_gradle_script_that_make_a_long_text_are_read_in_seconds(tmp_path):
    """A long text cannot be a version, and is not put together for each dependency."""
    dependency = "implementation 'g:a{}:" + "$v" * 30 + "'\n"
    script = "".join(
        [f"def v = '{'y' * 400_000}'\n", *(dependency.format(number) for number in range(2_000))]
    )
    (tmp_path / "build.gradle").write_text(script)
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert seconds_for(project.versions, limit=_GRADLE_SECONDS) < _GRADLE_SECONDS


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_files_of_more_than_30_mb_together_are_not_all_read(tmp_path):
    """Each may be as large as a file may be, and takes its seconds and its memory."""
    for name in ("poetry.lock", "pnpm-lock.yaml"):
        (tmp_path / name).write_text("")
        os.truncate(tmp_path / name, 16_000_000)
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert not project.versions()
    together = "pnpm-lock.yaml: left out; the files that name versions have more than 30 MB together"
    assert together in project.warnings


_YARN_SECONDS = 8.0
_GRADLE_SECONDS = 2.0
_POM_SECONDS = 3.0
_NINES = "9" * 5_000
ODD = {
    "a list as the version of a package-lock": (
        {
            "package-lock.json": '{"lockfileVersion": [], "packages": {"node_modules/ms": {"version": "2.1.3"}}}'
        },
        "lockfileVersion [] is not known",
    ),
    "a list as the version of a uv.lock": (
        {"uv.lock": 'version = []\n[[package]]\nname = "ms"\nversion = "2.1.3"\n'},
        "lock version [] is not known",
    ),
    "a list as the version of a Cargo.lock": (
        {"Cargo.lock": 'version = [1]\n[[package]]\nname = "ms"\nversion = "2.1.3"\n'},
        "lock version [1] is not known",
    ),
    "a number as a name in a pnpm-lock": (
        {
            "pnpm-lock.yaml": "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      1:\n        version: 1.0.0\n"
            "      ms:\n        version: 2.1.3\npackages:\n  ms@2.1.3:\n    x: 1\n"
        },
        None,
    ),
    "a list as the version of a package": (
        {
            "uv.lock": 'version = 1\n[[package]]\nname = "p"\nversion = "1"\nsource = {virtual = "."}\n'
            'dependencies = [{name = "a"}, {name = "ms"}]\n[[package]]\nname = "a"\nversion = [1]\n[[package]]\nname = "ms"\nversion = "2.1.3"\n'
        },
        None,
    ),
    "five thousand digits in a version": (
        {"requirements.txt": f"ms==2.1.3\nclick=={_NINES}\nclick==1\n"},
        None,
    ),
    "five thousand digits in a range": (
        {
            "uv.lock": 'version = 1\n[[package]]\nname = "click"\nversion = "1.0"\n[[package]]\nname = "ms"\nversion = "2.1.3"\n',
            "sub/requirements.txt": f"click>={_NINES}\n",
        },
        None,
    ),
}


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
@pytest.mark.parametrize("case", ODD)
def test_values_of_odd_types_and_sizes_never_end_the_run(tmp_path, case):
    """What can be read of the file is; what cannot is noted, and nothing is raised."""
    files, said = ODD[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    folder = tmp_path / "sub" if (tmp_path / "sub").is_dir() else tmp_path
    project = LocalProject(tmp_path, folder, {}, own_prefix=None)
    project.versions()
    assert project.version_of("ms")[0] == "2.1.3"
    project.version_of("click")
    assert [note for note in project.warnings if said and said in note] if said else project.warnings == []


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_a_reader_that_fails_on_a_file_leaves_it_out(tmp_path, monkeypatch):
    """The warning names the file, and the other files still answer."""
    (tmp_path / "uv.lock").write_text("version = 1\n")
    (tmp_path / "requirements.txt").write_text("ms==2.1.3\n")

    def fail(text, view):
        raise AttributeError("'list' object has no attribute 'get'")

    monkeypatch.setitem(uv.READERS, "uv.lock", fail)
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert project.version_of("ms") == ("2.1.3", "requirements.txt")
    assert [note for note in project.warnings if note.startswith("uv.lock: ") and "left out" in note]


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_files_of_requirements_that_all_include_each_other_are_read_once(tmp_path):
    """Each is read once for each that is looked at: 300 of them, 2 MB, took many minutes."""
    names = [f"requirements{number}.txt" for number in range(120)]
    for number, name in enumerate(names):
        others = "".join(f"-r {each}\n" for each in names)
        (tmp_path / name).write_text(f"{others}box{number}==1.{number}\n")
    (tmp_path / "requirements.txt").write_text("".join(f"-r {name}\n" for name in names))
    opened: list[int] = []
    count = read_bytes_of(opened)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pins, "read_bytes", count)
        project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
        assert project.version_of("box7") == ("1.7", "requirements.txt")
    assert len(opened) < 150


def read_bytes_of(opened):
    """A reader that notes each file that it reads."""

    def read(path, **options):
        opened.append(1)
        return read_bytes(path, **options)

    return read


def test_links_to_one_large_file_are_read_once(tmp_path):
    """Includes that lead to the same file, and files of requirements that are links to it, cost no more than the file."""
    (tmp_path / "large").write_text("ms==2.1.3\n" + "# nothing\n" * 150_000)
    names = [f"requirements-{number:03}.txt" for number in range(300)]
    for name in names:
        (tmp_path / name).symlink_to("large")
    (tmp_path / "requirements.txt").write_text("".join(f"-r {name}\n" for name in names))
    with at_most(PATIENCE_SECONDS):
        project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
        assert project.version_of("ms") == ("2.1.3", "requirements.txt")
        assert len(project.versions()) == 1


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_what_is_read_of_a_project_has_a_limit_in_all(tmp_path):
    """A file that is included may be no larger than the file itself, and beyond the limits the others are left out with a note."""
    for number in range(30):
        (tmp_path / f"r{number}.txt").write_text(f"p{number}==1.0\n" + "#" * 1_500_000)
    (tmp_path / "large.txt").write_text("never==1.0\n" + "#" * 3_000_000)
    (tmp_path / "requirements.txt").write_text(
        "-r large.txt\n" + "".join(f"-r r{n}.txt\n" for n in range(30))
    )
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert project.version_of("p0") == ("1.0", "requirements.txt")
    assert project.version_of("never") is None
    assert project.version_of("p29") is None
    assert [note for note in project.warnings if "more than 20 MB of files are read for it" in note]


@pytest.mark.req("Z8")
@pytest.mark.req("K9")
def test_a_pom_that_is_its_own_parent_is_read_once(tmp_path):
    """The chain of parents ends at a file that was read already."""
    many = "".join(
        f"<dependency><groupId>g</groupId><artifactId>a{n}</artifactId><version>1.0</version></dependency>"
        for n in range(3_000)
    )
    own = "<groupId>g</groupId><artifactId>own</artifactId><version>1</version>"
    (tmp_path / "pom.xml").write_text(
        f"<project><parent>{own}<relativePath>pom.xml</relativePath></parent>{own}<dependencies>{many}</dependencies></project>"
    )
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert project.version_of("g:a7") == ("1.0", "pom.xml")


UNUSUAL = {
    "a comment that ends in a backslash": (
        {"requirements.txt": "# from C:\\dir\\\nb==2.0\n", "requirements-dev.txt": "b==1.0\n"},
        "b",
        "2.0",
    ),
    "a comment between the lines of one requirement": (
        {"requirements.txt": "a==1.0 \\\n  # via x \\\nb==2.0\n"},
        "b",
        "2.0",
    ),
    "a requirement in two lines": ({"requirements.txt": "b==\\\n2.0 \\\n --hash=sha256:00\n"}, "b", "2.0"),
    "three equals signs in a Pipfile.lock": (
        {"Pipfile.lock": '{"_meta": {"pipfile-spec": 6}, "default": {"b": {"version": "===2.0"}}}'},
        "b",
        "2.0",
    ),
    "a property of Maven that is there twice": (
        {
            "pom.xml": "<project><properties><v>1.0</v><v>2.0</v></properties><dependencies><dependency>"
            "<groupId>g</groupId><artifactId>b</artifactId><version>${v}</version>"
            "</dependency></dependencies></project>"
        },
        "g:b",
        "2.0",
    ),
}


@pytest.mark.req("K9")
@pytest.mark.parametrize("case", UNUSUAL)
def test_an_odd_form_is_read_as_its_tool_reads_it(tmp_path, case):
    """What pip, Pipenv and Maven make of a file decides, however it is written."""
    files, name, version = UNUSUAL[case]
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert (project.version_of(name) or ("",))[0] == version
