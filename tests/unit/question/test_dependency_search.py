"""Which library a question is about, where it may name none."""

from __future__ import annotations

import pytest

from kr_core.project.project import LocalProject
from kr_core.question import dependency_search
from kr_core.question.dependency_search import choose_framework, direct_dependencies

SOURCES = {
    "wires": (
        "from wires.client import AsyncClient, Client\n",
        'class Client:\n    """Send a request and follow redirects."""\n\n    def get(self, url, follow_redirects=False): ...\n',
    ),
    "rich": (
        "from rich.table import Table\n",
        'class Table:\n    """Print a table with borders to the console."""\n\n    def add_row(self, *cells): ...\n',
    ),
    "shapes": (
        "from shapes.model import BaseModel\n",
        'class BaseModel:\n    """Validate fields of data; an error names the field."""\n\n    def model_validate(self, value): ...\n',
    ),
}


@pytest.fixture
def project(tmp_path) -> LocalProject:
    """A project that depends on three packages; a fourth is installed for them."""
    site = tmp_path / ".venv/lib/python3.11/site-packages"
    for name, (exports, body) in SOURCES.items():
        module = "client" if name == "wires" else "table" if name == "rich" else "model"
        _install(site, name, {"__init__.py": exports, f"{module}.py": body})
    _install(site, "click", {"__init__.py": "def echo(text): ...\n"})
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3.11.9\n")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "shop"\ndependencies = ["wires", "rich", "shapes", "scikit-learn"]\n'
    )
    return LocalProject(tmp_path, tmp_path, {}, own_prefix=None)


def _install(site, name, files) -> None:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\nSummary: the package {name}\n\n")
    (info / "RECORD").write_text("".join(f"{name}/{file},,\n" for file in files))
    (site / name).mkdir()
    for file, text in files.items():
        (site / name / file).write_text(text)


@pytest.mark.req("A12")
def test_a_class_far_below_the_top_of_a_large_library_leads_to_it(tmp_path):
    """As does one of a library late in the alphabet, where there are many dependencies."""
    site = tmp_path / ".venv/lib/python3.11/site-packages"
    many = [f"lib{number}" for number in range(60)]
    for name in many:
        _install(
            site, name, {"__init__.py": 'class Weights:\n    """Weights of classes in a regression."""\n'}
        )
    filler = {f"a{number}.py": f"# {'x' * 390_000}\n" for number in range(5)}
    _install(site, "zoo", {"__init__.py": "", **filler, "linear.py": "class LogisticRegression:\n    pass\n"})
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3.11.9\n")
    names = ", ".join(f'"{name}"' for name in (*many, "zoo"))
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "shop"\ndependencies = [{names}]\n')
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    asked = choose_framework("What does the class_weight parameter of LogisticRegression do?", project)
    assert asked.framework == "zoo"


@pytest.mark.req("A12", "R1")
@pytest.mark.parametrize(
    ("question", "framework", "searched"),
    [
        ("How do I print a rich table?", "rich", False),
        ("Make rich show no borders", "rich", False),
        ("How do I set the width for rich with wires as transport?", "rich", False),
        ("Can rich hide the cursor in help?", "rich", False),
        ("How do I limit the connections of an AsyncClient?", "wires", True),
        ("What does `BaseModel` do with None?", "shapes", True),
        ("What is the default of follow_redirects?", "wires", True),
        ("model_validate fails, why?", "shapes", True),
        ("How do I follow redirects?", "wires", True),
        ("How do I validate a field?", "shapes", True),
        ("How do I split the data with sklearn?", "scikit-learn", False),
        ("How do I read a row of a table in httpx?", "httpx", False),
        ("How do I use itertools.chain?", "python", False),
        ("How do I group words by vector?", None, False),
    ],
)
def test_a_question_leads_to_a_library_that_it_names_or_to_the_dependency_that_fits(
    project, question, framework, searched
):
    """Everyday words count where the project depends on them; names and words lead to one dependency where none is named."""
    choice = choose_framework(question, project)
    assert choice.framework == framework
    assert bool(choice.searched) == searched


@pytest.mark.req("A12", "A14")
@pytest.mark.parametrize(
    ("question", "names", "framework"),
    [
        ("How do I limit the size?", ["wires.Client"], "wires"),
        ("How do I limit the size?", ["model_validate"], "shapes"),
        ("How do I limit the size?", ["json.dumps"], "python"),
        ("How do I split the data with sklearn?", ["wires.Client"], "scikit-learn"),
    ],
)
def test_the_names_that_an_asker_expects_tell_the_library(project, question, names, framework):
    """Where the question names none: by what a name begins with, or by the only dependency that has it."""
    assert choose_framework(question, project, names).framework == framework


@pytest.mark.req("A12", "A14")
def test_a_name_that_several_dependencies_offer_is_of_the_one_that_others_build_on(tmp_path):
    """A member is looked for beside its class, in all of a library; one exported at the top counts more than one below."""
    site = tmp_path / ".venv/lib/python3.11/site-packages"
    padding = {f"part{number}.py": "# padding\n" * 39_000 for number in range(5)}
    sessions = "class Session:\n    def scalars(self): ...\n"
    _install(site, "arrays", {"__init__.py": "", **padding, "sessions.py": sessions})
    _install(
        site,
        "wires",
        {"__init__.py": "from wires.client import Session\n", "client.py": "class Session: ...\n"},
    )
    _install(site, "xml", {"__init__.py": "", "select.py": "def scalars(entity): ...\n"})
    for name in ("arrays", "wires"):
        (site / name / "random").mkdir()
        (site / name / "random/__init__.py").write_text("from .made import default_rng\n")
        with (site / f"{name}-1.0.dist-info/RECORD").open("a") as record:
            record.write(f"{name}/random/__init__.py,,\n")
    (site / "wires-1.0.dist-info/METADATA").write_text(
        "Name: wires\nVersion: 1.0\nRequires-Dist: arrays>=1\n\n"
    )
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3.11.9\n")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "shop"\ndependencies = ["wires", "xml", "arrays"]\n'
    )
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)

    def chosen(question, *names):
        return choose_framework(question, project, names).framework

    assert chosen("How do I get reproducible numbers?", "default_rng", "integers") == "arrays"
    assert chosen("Which one gives me entities: select one entity?", "Session.scalars") == "arrays"
    assert chosen("What does Session.scalars return for an entity?") == "arrays"


@pytest.mark.req("A12")
def test_no_framework_is_made_of_a_word_that_only_stands_where_one_might(project):
    """Neither a class, a keyword, a variable nor an everyday noun becomes a library."""
    for question in (
        "How do I remove a branch in Transformer?",
        "How do I use gizmo with yield?",
        "Which hook runs outside of current_app?",
        "How do I show the gizmo in help?",
    ):
        assert choose_framework(question, project).framework in {None, *direct_dependencies(project)}


@pytest.mark.req("A12")
@pytest.mark.parametrize(
    ("question", "framework"),
    [
        ("vue router: redirect after login", "vue-router"),
        ("How do I read a jpg with cv2?", "opencv-python"),
        ("How do I parse a date with dateutil?", "python-dateutil"),
        ("pd.read_csv with a semicolon", "pandas"),
        ("Where do I use np.where?", "numpy"),
    ],
)
def test_a_name_that_people_use_leads_to_the_package(tmp_path, question, framework):
    """A package that the project depends on is known by what people call it, though it is not installed."""
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["{framework}", "rich"]\n')
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert choose_framework(question, project).framework == framework


@pytest.mark.req("A12")
def test_the_ending_of_a_file_names_no_package(tmp_path):
    """`.py files` is not the module `py` that pytest ships."""
    site = tmp_path / ".venv/lib/python3.11/site-packages"
    _install(site, "pytest", {"__init__.py": "", "py.py": ""})
    (site / "py.py").write_text("")
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3.11.9\n")
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert choose_framework("pathlib: find all .py files below a folder", project).framework == "python"


@pytest.mark.req("A12", "R1")
def test_direct_dependencies_that_run_come_first(tmp_path):
    """A refusal lists what the project runs with before what it is developed with."""
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["zope"]\n[dependency-groups]\ndev = ["attrs"]\n'
    )
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert direct_dependencies(project) == ["zope", "attrs"]


@pytest.mark.req("A12")
def test_a_pasted_message_tells_the_library_that_raises_it(project, monkeypatch):
    """By runs of its words in the sources, though another library has more of its words."""
    site = project.root / ".venv/lib/python3.11/site-packages"
    (site / "rich/table.py").write_text(
        'def check(row):\n    raise ValueError(f"The width of a {row} is not certain")\n'
    )
    (site / "wires/client.py").write_text('"""Width, cell, certain: is the cell\'s width not certain?"""\n')
    choice = choose_framework("ValueError: The width of a Cell is not certain", project)
    assert (choice.framework, choice.searched[:1]) == ("rich", ("rich",))
    # what was not read in time may hold as much, so nothing is chosen by the message
    monkeypatch.setattr(dependency_search, "_MOST_SECONDS", -1.0)
    late = choose_framework("ValueError: The width of a Cell is not certain", project)
    assert late.framework != "rich"


@pytest.mark.req("A12")
def test_a_message_that_the_source_breaks_over_lines_tells_the_library(project, tmp_path):
    """Fewer of its words are side by side, and `a.empty` is of a variable."""
    site = tmp_path / ".venv/lib/python3.11/site-packages"
    (site / "shapes/model.py").write_text(
        'raise ValueError(\n    f"The truth value of a {name} is ambiguous. "\n    "Use a.empty, a.any() or a.all()."\n)\n'
    )
    (site / "rich/table.py").write_text("def empty(): ...\n\n# The truth value of anything\n")
    question = (
        "ValueError: The truth value of a Series is ambiguous. Use a.empty, a.item(), a.any() or a.all()."
    )
    assert choose_framework(question, project).framework == "shapes"
