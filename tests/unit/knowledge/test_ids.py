"""Names of things in the knowledge base."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.knowledge.ids import entry_id, fold_name, framework_folder, inside, report_path, slug

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
HASHED = re.compile(r".+-[0-9a-f]{8}")


@pytest.mark.req("K1")
@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("virtual scrolling configuration", "virtual-scrolling-configuration"),
        ("Virtual Scrolling: Configuration!", "virtual-scrolling-configuration"),
        ("server-side rendering (SSR), in short", "server-side-rendering-ssr-in-short"),
        ("httpx.AsyncClient's timeout", "httpx-asyncclients-timeout"),
        ("HTTP/2 support", "http-2-support"),
    ],
)
def test_plain_english_becomes_kebab_case_without_a_hash(topic, expected):
    assert slug(topic) == expected


@pytest.mark.req("K1")
def test_topics_that_differ_by_what_ascii_loses_have_slugs_of_their_own():
    topics = [
        "C",
        "C++",
        "C#",
        "虚拟滚动",
        "虚拟滚动配置",
        "설정",
        "café",
        "cafe",
        "🎉",
        "🎊",
        "",
        "init",
        "__init__",
    ]
    topics += ["a < b", "a > b", "a & b", "--lf option", "lf option", "user@host", "empty [] default"]
    slugs = [slug(topic) for topic in topics]
    assert len(set(slugs)) == len(topics)
    assert all(SLUG.fullmatch(each) for each in slugs)


@pytest.mark.req("K1")
def test_a_long_topic_is_cut_and_stays_distinct():
    first, second = slug("word " * 60 + "one"), slug("word " * 60 + "two")
    assert first != second
    assert max(len(first), len(second)) <= 80


@pytest.mark.req("K1", "Z1")
@given(st.text())
def test_a_slug_of_any_text_is_a_short_safe_file_name(topic):
    assert SLUG.fullmatch(slug(topic))
    assert len(slug(topic)) <= 80
    assert slug(topic) == slug(f"  {topic}  ")


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_a_slug_ignores_case(topic):
    assert slug(topic.upper()) == slug(topic.lower())


def test_a_topic_that_looks_like_a_hashed_one_does_not_take_its_place():
    assert slug(slug("café")) != slug("café")


@pytest.mark.req("Z1")
@pytest.mark.parametrize("device", ["con", "NUL", "Com1", "aux"])
def test_names_that_windows_keeps_for_devices_are_hashed(device):
    assert HASHED.fullmatch(slug(device))
    assert HASHED.fullmatch(framework_folder(device))


@pytest.mark.req("K1")
@pytest.mark.parametrize("name", ["vue-easytable", "next.js", "Vue_3", "scikit-learn", "x"])
def test_a_safe_framework_names_its_folder(name):
    assert framework_folder(name) == name


@pytest.mark.req("Z1")
@pytest.mark.parametrize(
    "name",
    [
        "../etc",
        "a/b",
        "@angular/core",
        "..",
        ".",
        "a..b",
        "end.",
        "",
        "x" * 300,
        "nul\0byte",
        "🎉",
        "con.txt",
        "a b",
        "虚",
    ],
)
def test_a_framework_that_is_no_safe_folder_gets_a_hashed_slug(name):
    folder = framework_folder(name)
    assert HASHED.fullmatch(folder)
    assert SLUG.fullmatch(folder)
    assert len(folder) <= 80


@pytest.mark.req("Z1")
@given(st.text(), st.text())
def test_a_report_path_never_leaves_the_knowledge_base(tmp_path_factory, framework, topic):
    base = tmp_path_factory.getbasetemp()
    path = inside(base, report_path(framework, topic))
    assert path is not None
    assert path.parent.parent == base.resolve() / "frameworks"


@pytest.mark.req("K2")
def test_an_id_is_framework_and_topic():
    assert entry_id("vue-easytable", "virtual scroll") == "vue-easytable-virtual-scroll"
    assert report_path("vue-easytable", "virtual scroll") == "frameworks/vue-easytable/virtual-scroll.md"


@pytest.mark.req("Z1")
@pytest.mark.parametrize(
    "path",
    ["../../x", "/etc/passwd", "frameworks/../../x.md", "", ".", "a\0b", "frameworks/out/x.md", "loop/x"],
)
def test_a_path_from_the_index_that_leaves_the_base_is_refused(tmp_path, path):
    base = tmp_path / "kb"
    (base / "frameworks").mkdir(parents=True)
    (base / "frameworks" / "out").symlink_to(tmp_path)
    (base / "loop").symlink_to(base / "loop")
    assert inside(base, path) is None or path == "loop/x"


@pytest.mark.req("Z1")
def test_a_path_inside_is_resolved_also_through_a_link_to_the_base(tmp_path):
    base = tmp_path / "kb"
    (base / "frameworks").mkdir(parents=True)
    (tmp_path / "link").symlink_to(base)
    assert inside(tmp_path / "link", "frameworks/x/y.md") == base / "frameworks" / "x" / "y.md"


@pytest.mark.req("K3")
@pytest.mark.parametrize(
    ("a", "b"),
    [("vue_easytable", "Vue-EasyTable"), ("next.js", "Next JS"), ("@angular/core", "@Angular-Core")],
)
def test_folding_ignores_case_and_separators(a, b):
    assert fold_name(a) == fold_name(b)


@pytest.mark.req("K3")
def test_folding_keeps_different_names_apart():
    names = ["vue", "vue3", "@angular/core", "angular-core", "...", "---", "c++", "c"]
    assert len({fold_name(name) for name in names}) == len(names)
