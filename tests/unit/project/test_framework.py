"""What a question alone says: the framework, the topic and the tags."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.question.dependency_search import choose_framework
from kr_core.question.framework import infer_framework
from kr_core.question.topics import topic_and_tags


@pytest.fixture
def shop(tmp_path, make_environment, install, project):
    """A project that asks for httpx and PyYAML, and has much more installed."""
    names = "celery httpx requests click rich attrs six packaging build sqlalchemy pytest pytest-asyncio anyio jinja2"
    site = make_environment(tmp_path / ".venv", dict.fromkeys(names.split(), "1.0"))
    install(site, "PyYAML", "6.0", modules=("yaml", "_yaml"), top_level=True)
    install(site, "beautifulsoup4", "4.12", modules=("bs4",))
    install(site, "pillow", "10", modules=("PIL",))
    install(site, "scikit-learn", "1.5", modules=("sklearn",))
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["httpx", "pyyaml"]\n')
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "polars"\nversion = "1.0"\n')
    return project()


@pytest.mark.req("R1")
@pytest.mark.parametrize(
    ("question", "framework"),
    [
        ("How do I retry a request in httpx?", "httpx"),
        ("How do I set a timeout on httpx.AsyncClient?", "httpx"),
        ("How does `httpx` handle redirects?", "httpx"),
        ("httpx's connection pool limits", "httpx"),
        ("HTTP/2 in httpx", "httpx"),
        ("How do I use asyncio.gather with httpx?", "httpx"),
        ("在httpx中如何设置超时?", "httpx"),
        ("How do I load a file with yaml.safe_load?", "pyyaml"),
        ("How do I select by class in Beautiful Soup?", "beautifulsoup4"),
        ("How do I parse HTML with bs4?", "beautifulsoup4"),
        ("How do I build a query in sql alchemy?", "sqlalchemy"),
        ("How do I resize an image with PIL?", "pillow"),
        ("train test split in sklearn", "scikit-learn"),
        ("How do I loop in a Jinja template?", "jinja2"),
        ("How do I mark async tests in pytest asyncio?", "pytest-asyncio"),
        ("What does packaging.version.parse return?", "packaging"),
        ("How do I group by in polars?", "polars"),
        ("How do I make celery acknowledge a task only after it ran?", "celery"),
    ],
)
def test_a_package_is_known_by_any_of_its_names(shop, question, framework):
    assert infer_framework(question, shop) == framework


@pytest.mark.req("R1")
@pytest.mark.parametrize(
    ("question", "framework"),
    [
        ("How do I style a table with rich?", "rich"),
        ("How do I write rich text in httpx?", "httpx"),
        ("How do I write rich text?", None),
        ("How do I click a button?", None),
        ("How do I add an option in click?", "click"),
        ("click.echo to stderr", "click"),
        ("How do I build a query?", None),
        ("How do I build a query in SQLAlchemy?", "sqlalchemy"),
        ("How do I send requests in parallel with httpx?", "httpx"),
        ("How do I send requests with a timeout?", "requests"),
        ("How do I retry with Requests?", "requests"),
        ("from requests import Session, what does it do?", "requests"),
        ("How do I get the value of six digits?", None),
        ("What is the time limit for retries?", None),
    ],
)
def test_an_ordinary_word_is_a_package_only_with_a_cue_or_for_want_of_another(shop, question, framework):
    assert infer_framework(question, shop) == framework


@pytest.mark.req("R1")
@pytest.mark.parametrize(
    "question",
    [
        "How do I sort a list of dictionaries in Python 3?",
        "How do I use asyncio.gather?",
        "How do I use the subprocess module to capture output?",
        "How do I run a subprocess?",
        "json.loads with decimals",
        "What does json.dumps do with NaN?",
        "How do I parse XML with ElementTree?",
        "How do I limit the threads of a ThreadPoolExecutor?",
        "如何在 Python 中读取文件",
    ],
)
def test_the_standard_library_is_python(shop, question):
    assert infer_framework(question, shop) == "python"


@pytest.mark.req("R1")
@pytest.mark.parametrize(
    ("question", "framework"),
    [
        ("How do I spawn tasks in Rust's tokio?", "tokio"),
        ("How do I add middleware in FastAPI?", "fastapi"),
        ("How do I add middleware with fastapi?", "fastapi"),
        ("How do I call asyncio.gather with fastapi?", "fastapi"),
        ("How do I use a ThreadPoolExecutor with fastapi?", "fastapi"),
        ("In Django, how do I add middleware?", "django"),
        ("How do I configure virtual scrolling in vue-easytable?", "vue-easytable"),
        ("How do I use signals in @angular/core?", "@angular/core"),
        ("How do I write a plugin for Three.js?", "three.js"),
        ("How do I open a connection with `psycopg`?", "psycopg"),
        ("How do I use `useEffect` in React 18?", "react"),
        ("How do I read files in parallel?", None),
        ("How do I deal with retries?", None),
        ("How do I do it in real-time?", None),
        ("How do I use keep-alive?", None),
        ("How do I log in with OAuth2?", None),
        ("How do I set a timeout with AsyncClient?", None),
        ("How do I send it as JSON with UTF-8?", None),
        ("How do I fail with an error?", None),
        ("How do I deploy this to AWS?", None),
        ("🎉", None),
        ("", None),
    ],
)
def test_a_library_that_is_not_installed_is_taken_only_where_it_clearly_is_one(shop, question, framework):
    assert infer_framework(question, shop) == framework


@pytest.mark.req("R1")
def test_a_direct_dependency_beats_a_transitive_one(shop):
    assert infer_framework("anyio timeouts and httpx timeouts", shop) == "httpx"


@pytest.mark.req("R1")
def test_words_that_are_also_a_transitive_package_do_not_beat_a_direct_one(
    tmp_path, make_environment, project
):
    """ "Into JSON Schema" says what is made, and not what makes it."""
    make_environment(tmp_path / ".venv", {"zod": "1.0", "json-schema": "1.0"})
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["zod", "other"]\n')
    assert infer_framework("How can I turn a zod schema into JSON Schema?", project()) == "zod"
    assert infer_framework("How do I read a type in JSON Schema?", project()) == "json-schema"


def test_a_name_with_a_dot_is_that_of_a_dependency(tmp_path, project):
    """`socket.io` is not Python's `socket`, and `express.json` not a file; `package.json` is one."""
    (tmp_path / "package.json").write_text(
        '{"dependencies": {"socket.io": "4.8.4", "express": "5.3.0", "axios": "1.21.1"}}'
    )
    shop = project()
    assert infer_framework("What is the default pingInterval in socket.io?", shop) == "socket.io"
    assert infer_framework("What is the default body size in express.json?", shop) == "express"
    assert infer_framework("How do I set a base URL in axios from package.json?", shop) == "axios"


@pytest.mark.req("R1", "A12")
def test_a_name_of_npm_is_as_npm_has_it(tmp_path, project):
    """`object.assign` and `object-assign` are two packages; where the project has one, either spelling means that."""
    names = ("object.assign", "object-assign")
    manifest = tmp_path / "package.json"
    manifest.write_text(json.dumps({"dependencies": dict.fromkeys(names, "^4.0.0")}))
    asked = {name: f"How do I copy symbols with {name}?" for name in names}
    assert [infer_framework(asked[name], project()) for name in names] == list(names)
    for only in names:
        manifest.write_text(json.dumps({"dependencies": {only: "^4.0.0"}}))
        assert {infer_framework(question, project()) for question in asked.values()} == {only}


def test_the_name_by_which_a_module_is_imported_means_its_package(tmp_path, project):
    """Nobody writes `numpy.unique`."""
    (tmp_path / "requirements.txt").write_text("attrs==26.1.0\nnumpy==2.4.6\nseaborn==0.13.2\n")
    assert infer_framework("np.unique: how often is each value there", project()) == "numpy"
    assert infer_framework("how do I make sns.heatmap show the numbers in the cells", project()) == "seaborn"


@pytest.mark.req("R1")
def test_the_unit_of_a_number_is_no_library(tmp_path, project):
    """`ms` is a package too."""
    (tmp_path / "package.json").write_text(
        '{"dependencies": {"axios": "1.21.1"}, "devDependencies": {"ms": "2.1.3"}}'
    )
    error = "AxiosError: timeout of 1000ms exceeded"
    assert infer_framework(error, project()) == "axios"


def test_the_only_direct_dependency_is_meant_where_nothing_is_named(tmp_path, make_environment, project):
    make_environment(tmp_path / ".venv", {"httpx": "1", "h11": "1", "pytest": "8"})
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["httpx"]\n[dependency-groups]\ndev = ["pytest"]\n'
    )
    assert infer_framework("How do I set a timeout?", project()) == "httpx"
    assert infer_framework("How do I order Django middleware?", project()) == "django"
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["httpx", "h11"]\n')
    assert infer_framework("How do I set a timeout?", project()) is None


@pytest.mark.req("R1", "K9")
def test_krs_own_packages_are_known_in_an_empty_project_with_a_cue(tmp_path, make_environment, project):
    make_environment(tmp_path / "kr", {"httpx": "1", "rich": "1"})
    opened = project(own=tmp_path / "kr")
    assert infer_framework("How do I retry in httpx?", opened) == "httpx"
    assert infer_framework("How do I format rich text?", opened) is None


@pytest.mark.req("R1")
@pytest.mark.parametrize(
    ("question", "framework", "topic", "tags"),
    [
        ("How do I retry a request in httpx?", "httpx", "retry a request", ("retry", "request")),
        ("What is the best way to set a timeout?", "httpx", "set a timeout", ("set", "timeout")),
        ("In Django, how do I order middleware?", "django", "order middleware", ("order", "middleware")),
        (
            "Is it possible to select by class with Beautiful Soup",
            "beautifulsoup4",
            "select by class",
            ("select", "class"),
        ),
        ("How does `httpx` follow redirects?", "httpx", "`httpx` follow redirects", ("follow", "redirects")),
        ("What is httpx?", "httpx", "httpx", ("general",)),
        ("How do I use httpx?", "httpx", "use httpx", ("use",)),
        ("subprocess output in Python", "python", "subprocess output", ("subprocess", "output")),
        ("C++ bindings", "cffi", "C++ bindings", ("cplusplus", "bindings")),
        ("send without a timeout", "httpx", "send without a timeout", ("send", "without", "timeout")),
        ("如何设置超时?", "httpx", "如何设置超时", ("如何", "何设", "设置", "置超", "超时")),
        ("🎉", "httpx", "🎉", ("general",)),
        ("", "httpx", "general", ("general",)),
        ("???", "httpx", "???", ("general",)),
        ("two\nlines\x00here", "httpx", "two lines here", ("two", "lines")),
    ],
)
def test_topic_and_tags_are_what_the_question_is_about(question, framework, topic, tags):
    found = topic_and_tags(question, framework)
    assert found[0] == topic
    assert found[1] == tags


@pytest.mark.req("R1")
def test_a_long_question_keeps_a_distinct_topic_and_at_most_24_tags():
    words = [f"alpha{chr(97 + n)}" for n in range(26)]
    first, second = (
        topic_and_tags(" ".join([*words, "x1"]), "f"),
        topic_and_tags(" ".join([*words, "x2"]), "f"),
    )
    assert first[0] != second[0]
    assert max(len(first[0]), len(second[0])) <= 120
    assert len(first[1]) == 24
    assert first[1][:-1] == second[1][:-1]
    assert first[1][-1] != second[1][-1]
    assert first[1][-1].startswith("q-")


ASKING = ["how", "do", "i", "the", "a", "with", "httpx", "in"]
CONTENT = ["retry", "request", "configure", "proxy", "timeout", "http2", "asyncclient"]


@pytest.mark.req("R1")
@given(st.sets(st.sampled_from(CONTENT), min_size=1), st.lists(st.sampled_from(ASKING)), st.randoms())
def test_phrasings_of_equal_content_words_have_equal_tags(content, asking, random):
    words = [*content, *asking]
    random.shuffle(words)
    _, tags = topic_and_tags(" ".join(words), "httpx")
    assert sorted(tags) == sorted(content)


@pytest.mark.req("R1")
@given(st.text(), st.text(min_size=1))
def test_topic_and_tags_of_any_text_are_valid_and_the_same_each_time(question, framework):
    topic, tags = topic_and_tags(question, framework)
    assert 0 < len(topic) <= 120
    assert "\n" not in topic
    assert "\0" not in topic
    assert 0 < len(tags) <= 24
    assert all(tags)
    assert (topic, tags) == topic_and_tags(question, framework)


@pytest.mark.req("R1")
@given(st.text() | st.from_regex(r"(?:[a-zA-Z`'. ]{1,9}(?:in|with|using) [A-Za-z.`-]{1,9}){1,3}"))
def test_any_question_is_read_without_an_error(question):
    from pathlib import Path

    from kr_core.project.project import LocalProject

    infer_framework(question, LocalProject(Path("/nonexistent"), Path("/nonexistent"), {}, own_prefix=None))


@pytest.mark.req("A12")
def test_where_no_file_says_what_is_asked_for_the_environment_does(
    tmp_path, make_environment, install, project
):
    """An npm package that the project asks for is not meant by every question that names no library."""
    site = make_environment(tmp_path / ".venv", {"pip": "1.0"})
    install(site, "crates", "1.0", modules=("crates",))
    (site / "crates").mkdir(exist_ok=True)
    (site / "crates" / "__init__.py").write_text("class StackedCrate:\n    pass\n")
    (tmp_path / "package.json").write_text('{"dependencies": {"lodash": "4.0.0"}}')
    found = choose_framework("How do I open a StackedCrate?", project())
    assert found.framework == "crates"
    assert "pip" not in found.searched


@pytest.mark.req("A12")
@pytest.mark.parametrize(
    ("question", "framework"),
    [
        ("What is the default of n_estimators in RandomForestClassifier?", "forests"),
        ("How do I open a BoundSerializer in npm?", "forests"),
    ],
)
def test_neither_a_class_nor_a_registry_is_taken_for_a_library(
    question, framework, tmp_path, make_environment, install, project
):
    """What one of the dependencies defines is looked for there."""
    site = make_environment(tmp_path / ".venv", {"httpx": "1.0"})
    install(site, "forests", "1.0", modules=("forests",))
    (site / "forests").mkdir(exist_ok=True)
    (site / "forests" / "__init__.py").write_text(
        "class RandomForestClassifier:\n    pass\n\n\nclass BoundSerializer:\n    pass\n"
    )
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["httpx", "forests"]\n')
    assert choose_framework(question, project()).framework == framework


@pytest.mark.req("A12", "R1")
@pytest.mark.parametrize(
    ("question", "framework"),
    [
        ("How do I do an upsert with drizzle on postgres?", "drizzle-orm"),
        ("Drizzle: what does returning() do?", "drizzle-orm"),
        ("How do I insert rows with drizzle in axios?", "axios"),
        ("How do I validate a body?", None),
        ("How do I load settings in django?", "django"),
        ("What does tanstack do?", None),
    ],
)
def test_the_first_part_of_the_name_of_one_direct_dependency_means_it(tmp_path, project, question, framework):
    """An everyday word does not, nor a library beside what adds to it, nor a name that two of them begin with."""
    (tmp_path / "package.json").write_text(
        """{"dependencies": {"drizzle-orm": "1", "axios": "1", "body-parser": "1", "django-environ": "1",
        "tanstack-query": "1", "tanstack-table": "1"}, "devDependencies": {"drizzle-kit": "1"}}"""
    )
    assert infer_framework(question, project()) == framework
