"""Whose package a name means where several packages have it, or say so."""

from __future__ import annotations

import json

import pytest


def lay_modules(folder, **versions):
    """Packages in a `node_modules`, with their versions."""
    for name, version in versions.items():
        package = folder / "node_modules" / name / "package.json"
        package.parent.mkdir(parents=True)
        package.write_text(json.dumps({"name": name, "version": version}))


ASKED = '[project]\nname = "p"\ndependencies = ["redis==5.0.1", "PyYAML", "sqlalchemy"]\n'


@pytest.mark.req("K9", "Z8")
@pytest.mark.parametrize("environment", ["none", "empty", "below"])
def test_a_dependency_in_node_modules_is_not_what_the_part_of_python_asks_for(
    tmp_path, make_environment, project, environment
):
    """Anybody may give a package of npm the name of one of Python, and make it a dependency of a dependency."""
    (tmp_path / "pyproject.toml").write_text(ASKED)
    (tmp_path / "requirements.txt").write_text("requests==2.31.0\n")
    (tmp_path / "package.json").write_text('{"dependencies": {"app": "^1"}}')
    folder = tmp_path / "web"
    folder.mkdir()
    hostile = {"redis": "99.0.0", "requests": "66.6.6", "yaml": "2.4.0", "sqlalchemy.orm": "9.9.9"}
    lay_modules(folder if environment == "below" else tmp_path, app="1.0.0", other="1.0.0", **hostile)
    if environment != "none":
        make_environment(tmp_path / ".venv", {"redis": "5.0.1"} if environment == "below" else {})
    opened = project("web" if environment == "below" else ".")
    assert opened.version_of("redis")[0] in {"5.0.1", "==5.0.1"}
    assert opened.version_of("Requests") == ("2.31.0", "requirements.txt")
    assert [opened.version_of(name) for name in ("yaml", "sqlalchemy.orm")] == [None, None]
    assert [opened.module(name) for name in hostile] == [None] * 4
    assert {opened.module(name).version for name in ("app", "other")} == {"1.0.0"}


@pytest.mark.req("K9")
@pytest.mark.parametrize("asked", ["^4", "npm:redis-fork@^4"])
def test_a_package_of_node_that_the_project_asks_for_stays_beside_one_of_python(tmp_path, project, asked):
    """Also by an alias, and in a folder below; a note says that the part of Python asks for one too."""
    (tmp_path / "pyproject.toml").write_text(ASKED)
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "package.json").write_text(
        json.dumps({"dependencies": {"redis": asked, "vue": "^3"}})
    )
    lay_modules(tmp_path / "web", redis="4.6.0", vue="3.5.0")
    opened = project("web")
    assert opened.version_of("redis") == ("4.6.0", "web/node_modules")
    assert opened.disagreement("redis") == (
        "redis is taken for the package of Node in web/node_modules; "
        "pyproject.toml asks for a package of Python by this name"
    )
    assert opened.disagreement("vue") is None


POPULAR = {
    "scikit-learn": ("sklearn",),
    "beautifulsoup4": ("bs4",),
    "pillow": ("PIL",),
    "attrs": ("attr", "attrs"),
    "protobuf": ("google/protobuf",),
    "frobs": ("fribble",),
}
NAMES = ["sklearn", "bs4", "PIL", "PIL.Image", "attr", "google.protobuf", "fribble", "fribble.core"]
OWNERS = ["scikit-learn", "beautifulsoup4", "pillow", "pillow", "attrs", "protobuf", "frobs", "frobs"]


@pytest.mark.req("K9", "Z8")
@pytest.mark.parametrize("shipped", ["said only", "a part", "the modules too"])
def test_a_package_that_says_it_ships_the_module_of_another_is_not_taken_for_it(
    tmp_path, make_environment, install, project, shipped
):
    """The hostile one bears the modules' names, comes first in the alphabet, and may ship files below them."""
    site = make_environment(tmp_path / ".venv")
    for name, modules in POPULAR.items():
        install(site, name, "1.0", modules=modules)
    (tmp_path / "requirements.txt").write_text("frobs\n")
    opened = project()
    assert [opened.distribution(name).name for name in NAMES] == OWNERS
    hostile = "aa-sklearn-bs4-pil-attr-google-protobuf-fribble"
    tops = sorted({module for modules in POPULAR.values() for module in modules})
    below = ("sklearn/x", "bs4/x", "PIL/Image/x", "attr/x", "google/protobuf/x", "fribble/x")
    modules = {"said only": ("aa",), "a part": below, "the modules too": (*tops, "PIL/Image")}[shipped]
    folder = install(site, hostile, "66.6", modules=modules)
    (folder / "top_level.txt").write_text("\n".join(module.partition("/")[0] for module in tops))
    opened = project()
    assert [opened.distribution(name).name for name in NAMES] == OWNERS
    assert opened.version_of("fribble") == ("1.0", ".venv")
    assert opened.disagreement("fribble") is None


@pytest.mark.req("K9", "Z8")
def test_of_two_packages_with_one_module_a_note_names_both(tmp_path, make_environment, install, project):
    """Where the project asks for one of them it is that one, and nothing is noted."""
    site = make_environment(tmp_path / ".venv")
    install(site, "frobs", "1.0", modules=("fribble", "shared/one"))
    install(site, "aa-frobs", "66.6", modules=("fribble.py", "shared/two"))
    assert project().disagreement("fribble") == ".venv: aa-frobs, frobs ship fribble; aa-frobs is taken"
    assert project().disagreement("frobs") == ".venv: aa-frobs, frobs ship fribble; frobs is taken"
    (tmp_path / "requirements.txt").write_text("frobs==1.0\n")
    assert project().version_of("fribble") == ("1.0", ".venv")
    assert project().disagreement("fribble") is None


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("installed", "asked", "names"),
    [
        ({"opencv-python-headless": ("cv2",)}, "", {"cv2": "opencv-python-headless"}),
        (
            {"opencv-python-headless": ("cv2",), "opencv-python": ("cv2",)},
            "",
            {"cv2": "opencv-python", "opencv": "opencv-python"},
        ),
        (
            {"opencv-python-headless": ("cv2",), "opencv-python": ("cv2",)},
            "opencv-python-headless",
            {"cv2": "opencv-python-headless"},
        ),
        ({"pillow-simd": ("PIL",)}, "pillow-simd", {"PIL": "pillow-simd", "PIL.Image": "pillow-simd"}),
        ({"pillow-simd": ("PIL",), "pillow": ("PIL",)}, "", {"PIL": "pillow"}),
        ({"psycopg2-binary": ("psycopg2",)}, "", {"psycopg2.extras": "psycopg2-binary"}),
        (
            {"psycopg2-binary": ("psycopg2",), "psycopg2": ("psycopg2",)},
            "",
            {"psycopg2": "psycopg2", "psycopg2.extras": "psycopg2"},
        ),
        (
            {"zope.interface": ("zope/interface",), "zope.component": ("zope/component",)},
            "zope.interface",
            {"zope": "zope-component", "zope.interface.verify": "zope-interface"},
        ),
        (
            {"opentelemetry-api": ("opentelemetry/trace",), "opentelemetry-sdk": ("opentelemetry/sdk",)},
            "opentelemetry-sdk",
            {"opentelemetry": "opentelemetry-api", "opentelemetry.sdk.trace": "opentelemetry-sdk"},
        ),
        (
            {"apache-airflow-core": ("airflow",), "airflow-amazon": ("airflow/providers/amazon",)},
            "airflow-amazon",
            {"airflow": "apache-airflow-core", "airflow.providers.amazon": "airflow-amazon"},
        ),
    ],
)
def test_a_fork_a_namespace_and_what_adds_to_another_package_are_still_found(
    tmp_path, make_environment, install, project, installed, asked, names
):
    site = make_environment(tmp_path / ".venv")
    for name, modules in installed.items():
        install(site, name, "1.0", modules=modules, top_level=True)
    (tmp_path / "requirements.txt").write_text(asked)
    opened = project()
    assert {name: opened.distribution(name).name for name in names} == names


EVIL = {
    "a file that is not a module": ("httpx/get/x.txt",),
    "a module below": ("httpx/get/x.py",),
    "a package below": ("httpx/get/__init__.py",),
    "the package too": ("httpx/__init__.py", "httpx/get/__init__.py"),
}


def lay(site, name, files, *, version="1.0", text=""):
    """A distribution whose RECORD lists these files; they are laid too."""
    for path in files:
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (folder / "RECORD").write_text("".join(f"{path},,\n" for path in [*files, f"{folder.name}/METADATA"]))
    return folder


@pytest.mark.req("K9", "Z8")
@pytest.mark.parametrize("direct", [True, False], ids=["asked for", "required"])
@pytest.mark.parametrize("evil", EVIL)
def test_what_lays_files_into_a_package_does_not_take_its_names(
    tmp_path, make_environment, project, evil, direct
):
    """Neither from what the project asks for nor from what that requires; of two whole packages a note names both."""
    site = make_environment(tmp_path / ".venv")
    lay(site, "httpx", ("httpx/__init__.py", "httpx/_api.py"))
    lay(site, "aa-evil", (*EVIL[evil], "aa_evil/__init__.py"), version="66.6")
    (tmp_path / "requirements.txt").write_text("httpx\n" if direct else "")
    opened = project()
    whole = evil == "the package too"
    asked = ("httpx", "httpx.AsyncClient") if whole and not direct else ("httpx", "httpx.get", "httpx.get.x")
    assert [opened.distribution(name).name for name in asked] == ["httpx"] * len(asked)
    noted = ".venv: httpx, aa-evil ship httpx; httpx is taken" if whole and not direct else None
    assert opened.disagreement("httpx") == noted
    said = opened.disagreement("aa-evil")
    if whole:
        assert direct or said == ".venv: httpx, aa-evil ship httpx; aa-evil is taken"
    elif evil != "a file that is not a module":
        assert said == ".venv: httpx ships httpx; aa-evil says that it ships a part of it"


@pytest.mark.req("K9", "Z8")
@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("yaml/extra.py",), ["yaml", "yaml.safe_load", "yaml.extra"]),
        (("yaml/__init__.py",), ["yaml", "yaml.safe_load"]),
        (("yaml_safe_load/__init__.py",), ["yaml", "yaml.safe_load"]),
        ((), ["yaml", "yaml.safe_load"]),
    ],
    ids=["a part", "the module too", "another module", "nothing"],
)
@pytest.mark.parametrize("name", ["yaml", "yaml-safe-load"])
def test_a_package_that_is_called_like_a_module_is_not_taken_for_what_the_project_asks_for(
    tmp_path, make_environment, project, name, files, names
):
    site = make_environment(tmp_path / ".venv")
    lay(site, "PyYAML", ("yaml/__init__.py", "yaml/loader.py"))
    lay(site, name, files, version="66.6")
    (tmp_path / "requirements.txt").write_text("PyYAML\n")
    assert [project().distribution(each).name for each in names] == ["pyyaml"] * len(names)


@pytest.mark.req("K9")
@pytest.mark.parametrize("asked", ["beautifulsoup4", "bs4", ""])
def test_a_package_without_modules_owns_none_whatever_it_is_called(
    tmp_path, make_environment, project, asked
):
    """`bs4` requires beautifulsoup4 and is empty; `ansible` has other modules, so its own name means it."""
    site = make_environment(tmp_path / ".venv")
    lay(site, "beautifulsoup4", ("bs4/__init__.py",))
    lay(site, "bs4", ())
    lay(site, "ansible-core", ("ansible/__init__.py", "ansible/module_utils/basic.py"))
    lay(site, "ansible", ("ansible_collections/__init__.py",))
    (tmp_path / "requirements.txt").write_text(f"ansible\n{asked}\n")
    names = ("bs4", "bs4.BeautifulSoup", "ansible", "ansible.module_utils.basic")
    found = [project().distribution(name).name for name in names]
    assert found == ["beautifulsoup4", "beautifulsoup4", "ansible", "ansible-core"]


@pytest.mark.req("K9")
def test_a_member_of_a_package_is_not_what_a_package_is_called(tmp_path, make_environment, project):
    """`flask.session` is of flask, also where the project asks for flask-session; `zope.event` is of zope.event."""
    site = make_environment(tmp_path / ".venv")
    lay(site, "flask", ("flask/__init__.py",))
    lay(site, "flask-session", ("flask_session/__init__.py",))
    lay(site, "zope.event", ("zope/event/__init__.py",))
    lay(site, "discord.py", ("discord/__init__.py",))
    (tmp_path / "requirements.txt").write_text("flask\nflask-session\nzope.event\ndiscord.py\n")
    names = ("flask.session", "flask-session", "zope.event", "discord.py")
    assert [project().distribution(name).name for name in names] == ["flask", "flask-session", "zope-event", "discord-py"]  # fmt: skip


@pytest.mark.req("K9")
def test_a_package_that_lets_others_add_to_it_does_not_take_their_modules(
    tmp_path, make_environment, project
):
    """As airflow does; a note says whose the package is where the project does not ask for what adds to it."""
    site = make_environment(tmp_path / ".venv")
    lay(site, "airflow-amazon", ("airflow/providers/amazon/__init__.py",))
    extended = '__path__ = __import__("pkgutil").extend_path(__path__, __name__)\n'
    lay(site, "apache-airflow", ("airflow/__init__.py", "airflow/models.py"), text=extended)
    lay(site, "google-cloud-storage", ("google/cloud/storage/__init__.py",))
    lay(site, "protobuf3", ("google/protobuf/__init__.py",))
    (tmp_path / "requirements.txt").write_text("apache-airflow\ngoogle-cloud-storage\n")
    owners = {
        "airflow.DAG": "apache-airflow",
        "airflow.models.Variable": "apache-airflow",
        "airflow.providers.amazon.hooks": "airflow-amazon",
        "google.protobuf.Message": "protobuf3",
        "google.cloud.storage.Blob": "google-cloud-storage",
    }
    opened = project()
    assert {name: opened.distribution(name).name for name in owners} == owners
    assert opened.disagreement("airflow-amazon") == (
        ".venv: apache-airflow ships airflow; airflow-amazon says that it ships a part of it"
    )
    assert opened.disagreement("protobuf3") is None


@pytest.mark.req("K9")
def test_a_module_of_what_is_edited_in_place_or_has_no_record_is_found(
    tmp_path, make_environment, install, project
):
    """Its `top_level.txt` alone says so."""
    site = make_environment(tmp_path / ".venv")
    for name, record in (("own", "__editable___own_finder.py,,\n__editable__.own.pth,,\n"), ("system", "")):
        folder = install(site, name, "1.0", modules=(f"{name}_module",), top_level=True)
        (folder / "RECORD").write_text(record)
        part = install(site, f"a-{name}-module", "1.0", modules=(f"{name}_module/part",), top_level=True)
        assert part.is_dir()
    opened = project()
    assert [opened.distribution(f"{name}_module").name for name in ("own", "system")] == ["own", "system"]


@pytest.mark.req("K9")
def test_what_a_lock_file_names_without_a_version_has_none_of_krs_own_environment(
    tmp_path, make_environment, project
):
    """What is only asked for, in any version, is still shown from there."""
    own = tmp_path / "tools" / "kr"
    make_environment(own, {"colorama": "9", "PyYAML": "9", "click": "9", "rich": "9"})
    packages = {name: {"version": "*"} for name in ("colorama", "pyyaml")}
    (tmp_path / "Pipfile.lock").write_text(json.dumps({"default": packages}))
    (tmp_path / "requirements.txt").write_text("click\n")
    opened = project(own=own)
    assert [opened.version_of(name) for name in ("colorama", "yaml")] == [None, None]
    assert opened.version_of("click") == opened.version_of("rich") == ("9", "KR's own environment")
