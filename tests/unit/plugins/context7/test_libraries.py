"""Which of the libraries that Context7 offers is the framework, and whether it speaks for its maker."""

import math

import pytest

from kr_plugins.sources.context7.libraries import choose, closeness, library_of

from .conftest import library


def made(name="/acme/widget", **values):
    found = library_of(library(name, **values))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("framework", "name", "title"),
    [
        ("fastapi", "/tiangolo/fastapi", "FastAPI"),
        ("FastAPI", "/websites/fastapi_tiangolo", "FastAPI"),
        ("scikit-learn", "/websites/scikit", "scikit-learn Documentation"),
        ("django-rest-framework", "/encode/django-rest-framework", "Django REST Framework"),
        ("djangorestframework", "/websites/drf", "Django REST Framework"),
        ("vue", "/vuejs/docs", "Vue.js"),
        ("nextjs", "/vercel/next.js", "Next.js"),
        ("next.js", "/vercel/next.js", "Next.js"),
        ("three", "/mrdoob/three.js", "three.js"),
        ("vue-router", "/vuejs/router", "Vue Router"),
        ("vue_easytable", "/happy/vue-easytable", ""),
        ("@tanstack/query", "/tanstack/query", "TanStack Query"),
        ("@types/node", "/nodejs/node", "Node.js"),
        ("github.com/gin-gonic/gin", "/gin-gonic/gin", "Gin"),
        ("github.com/gorilla/mux/v2", "/gorilla/mux", "Gorilla Mux"),
        ("psr/log", "/psr/log", ""),
        ("io.ktor:ktor-client", "/io.ktor/ktor-client", ""),
    ],
)  # fmt: skip
def test_a_library_is_known_by_its_name(framework, name, title):
    """By title or repository; case, separators and a `js` that some add do not count."""
    assert closeness(made(name, title=title), framework) == 2


@pytest.mark.parametrize(
    ("framework", "name", "title"),
    [
        ("vue", "/vuejs/router", "Vue Router"),
        ("vue-router", "/vuejs/docs", "Vue.js"),
        ("react", "/software-mansion/react-native", "React Native"),
        ("jinja2", "/someone/jinja2-time", "Jinja2 Time"),
        ("psycopg2", "/psycopg/psycopg", "psycopg"),
        ("httpx2", "/encode/httpx", "HTTPX"),
        ("python-dotenv", "/motdotla/dotenv", "dotenv"),
        ("core", "/websites/core_example", "Example"),
        ("@angular/core", "/vuejs/core", "Vue core"),
        ("symfony/console", "/someone/console", "Console"),
        ("websites", "/websites/x", "X"),
        ("js", "/someone/js-x", "X"),
        ("---", "/acme/widget", "Widget"),
        ("", "/acme/widget", "Widget"),
        ("/", "/acme/widget", "Widget"),
    ],
)  # fmt: skip
def test_a_library_of_another_name_is_another(framework, name, title):
    """A wrong library would answer with confidence about something else."""
    assert closeness(made(name, title=title), framework) == 0


def test_a_package_of_a_scope_is_a_part_of_its_library():
    """Where the package has no documentation of its own, its library's is read."""
    nest, swagger = (
        made("/nestjs/docs", title="NestJS"),
        made("/nestjs/swagger", title="Swagger", trustScore=1),
    )
    assert closeness(nest, "@nestjs/swagger") == 1
    assert choose([nest], "@nestjs/swagger") == nest
    assert choose([nest, swagger], "@nestjs/swagger") == swagger
    assert closeness(nest, "nestjs/swagger") == 0


@pytest.mark.parametrize(
    ("framework", "repository", "name", "title", "close"),
    [
        ("jinja2", "pallets/jinja", "/pallets/jinja", "Jinja", 2),
        ("beautifulsoup4", "Waylan/BeautifulSoup", "/waylan/beautifulsoup", "", 2),
        ("redis", "redis/redis-py", "/redis/redis-py", "redis-py", 2),
        ("redis", "redis/redis-py", "/redis/redis", "Redis", 1),
        ("fastapi", "fastapi/fastapi", "/stranger/fastapi", "FastAPI", 1),
        ("vue", "vuejs/core", "/vuejs/docs", "Vue.js", 2),
        ("fastapi", "fastapi/fastapi", "/websites/fastapi_tiangolo", "FastAPI", 2),
        ("jinja2", "pallets/jinja", "/stranger/jinja", "Jinja", 0),
    ],
)
def test_the_repository_that_the_installed_package_names_decides(framework, repository, name, title, close):
    """It is the surest sign, and another repository of the very name is likely another library."""
    assert closeness(made(name, title=title), framework, repository) == close


def test_of_several_the_best_is_chosen():
    """By reputation, then stars, then snippets, then the service's own order."""
    plain = made()
    low, few, thin = made(trustScore=8, stars=99_999), made(stars=10), made(totalSnippets=1)
    for others in ([low, few, thin, plain], [plain, thin, few, low]):
        assert choose(others, "widget") == plain
    first, second = made("/websites/widget_a"), made("/websites/widget_b")
    assert choose([first, second], "widget") == first
    assert choose([second, first], "widget") == second


def test_one_that_can_be_read_comes_first():
    """A library that is still being prepared serves only where there is no other; a broken one never."""
    preparing, broken = made(state="processing", trustScore=10), made(state="error", trustScore=10)
    low = made("/other/widget", trustScore=1)
    assert choose([preparing, low], "widget") == low
    assert choose([preparing], "widget") == preparing
    assert choose([broken, made(state="delete")], "widget") is None


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    ("name", "trust", "official"),
    [
        ("/acme/widget", 9, True),
        ("/acme/widget", 4, True),
        ("/acme/widget", 3.9, False),
        ("/acme/widget", 0, False),
        ("/acme/widget", -1, True),
        ("/acme/widget", None, True),
        ("/websites/widget_example", 9, True),
        ("/npm/widget", 9, True),
        ("/llmstxt/widget_example_llms_txt", 10, False),
    ],
)
def test_only_what_is_plausibly_the_makers_is_official(name, trust, official):
    """What anybody may have handed in is not, nor what is known to have a low reputation."""
    assert made(name, trustScore=trust).official is official


@pytest.mark.parametrize(
    "value",
    [
        None, 7, "x", [], {}, {"id": None}, {"id": ""}, {"id": "acme/widget"}, {"id": "/acme"}, {"id": "/acme/widget/v1"},
        {"id": "/acme/wid get"}, {"id": "https://evil.example/x"}, {"id": "/a/b?c=d"}, {"id": "/acme/" + "x" * 300}, {"id": ["/a/b"]},
    ],
)  # fmt: skip
def test_what_has_no_id_is_no_library(value):
    """It is passed over."""
    assert library_of(value) is None


@pytest.mark.parametrize(
    "value", [None, "9", [], {}, True, math.nan, math.inf, -math.inf, 10**400, -(10**400), -1]
)
def test_only_the_id_must_be_there(value):
    """Anything else may be missing or odd, and is then unknown."""
    odd = library_of(
        {"id": "/acme/widget", "title": value, "state": value, "trustScore": value, "stars": value, "totalSnippets": value,
         "versions": [value, "v1.0", "a/b", "x" * 101, "v 1"]}
    )  # fmt: skip
    assert odd is not None
    assert (odd.trust, odd.stars, odd.snippets) == (-1.0, -1.0, -1.0)
    assert odd.versions == ("v1.0",) if not isinstance(value, str) else ("9", "v1.0")
    assert choose([odd], "widget") == odd
    assert library_of({"id": "/acme/widget", "versions": value}) == library_of({"id": "/acme/widget"})


def test_what_is_remembered_of_a_library_is_the_library():
    """It is read back as the service gave it."""
    assert library_of(made().kept()) == made()
