"""What a cloned project can do by its templates: read nothing from elsewhere, and neither hang nor fill memory."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest
from support import agents
from support.fork_server import kr_argv

from kr_core.agents.personas import persona
from kr_core.errors import ConfigError
from kr_core.model.routing import AgentProfile
from kr_core.template_limits import RenderBudget, TemplateLimitError
from kr_core.templates import bundled_folder, render, search_folders

SECRET = "-----BEGIN KEY----- of somebody"
NAME = "prompts/system.md.j2"
SECONDS = 300
"""For a child process that is waited for; one that does not hang is much quicker."""


@pytest.fixture
def project(tmp_path):
    """A project with an empty `templates/`, beside a home folder with a key."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/key").write_text(SECRET)
    (tmp_path / "project/templates/prompts").mkdir(parents=True)
    return tmp_path / "project"


def link(project):
    """A template that is a link to the key."""
    (project / "templates" / NAME).symlink_to(project.parent / "home/key")


def link_to_link(project):
    """A template that is a link to a link to the key."""
    (project / "templates/inner").symlink_to(project.parent / "home/key")
    (project / "templates" / NAME).symlink_to(project / "templates/inner")


def linked_folder(project):
    """A folder of templates that is a link to one elsewhere."""
    (project.parent / "home/system.md.j2").write_text(SECRET)
    (project / "templates/prompts").rmdir()
    (project / "templates/prompts").symlink_to(project.parent / "home")


def linked_beside(project):
    """A template that is a link to a file of the project beside its folder."""
    (project / ".env").write_text(SECRET)
    (project / "templates" / NAME).symlink_to(project / ".env")


def included(project):
    """A template that includes a link to the key."""
    (project / "templates/part").symlink_to(project.parent / "home/key")
    (project / "templates" / NAME).write_text("{% include 'part' %}")


def imported(project):
    """A template that imports a link to the key."""
    (project / "templates/part").symlink_to(project.parent / "home/key")
    (project / "templates" / NAME).write_text("{% import 'part' as part %}{{ part }}")


def extended(project):
    """A template that extends a link to the key."""
    (project / "templates/part").symlink_to(project.parent / "home/key")
    (project / "templates" / NAME).write_text("{% extends 'part' %}")


def pipe(project):
    """A template that is a named pipe, at which nobody writes."""
    os.mkfifo(project / "templates" / NAME)


def listener(project):
    """A template that is a socket."""
    folder = os.open(project / "templates/prompts", os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(f"/proc/self/fd/{folder}/system.md.j2")  # a path of a socket must be short
    os.close(folder)


def endless(project):
    """A template that is a link to a device without end."""
    (project / "templates" / NAME).symlink_to("/dev/zero")


def huge(project):
    """A template of a terabyte."""
    with (project / "templates" / NAME).open("wb") as file:
        file.truncate(1 << 40)


PLACED = [link, link_to_link, linked_folder, linked_beside, included, imported, extended, pipe, listener, endless, huge]  # fmt: skip


@pytest.mark.req("Z8")
@pytest.mark.parametrize("place", PLACED)
def test_a_template_that_is_no_file_of_its_folder_is_refused_and_named(project, place):
    """What is a link out of the folder, no regular file, or too large is not read, and the message names the file."""
    place(project)
    with pytest.raises(ConfigError) as caught:
        render(search_folders(project), NAME)
    said = str(caught.value)
    assert SECRET not in said
    named = "part" if place in {included, imported, extended} else NAME
    assert str(project / "templates" / named) in said
    assert "remove it to use the bundled one" in said


@pytest.mark.req("Z8")
def test_a_folder_of_templates_that_leads_out_of_the_project_is_refused(project):
    """`templates` itself may not be a link to a folder elsewhere."""
    elsewhere = project.parent / "home"
    (elsewhere / "note.md.j2").write_text("shared")
    (project / "templates/prompts").rmdir()
    (project / "templates").rmdir()
    (project / "templates").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="leads out of the project") as caught:
        search_folders(project)
    assert caught.value.where == str(project / "templates")


@pytest.mark.req("R12")
def test_a_link_that_stays_in_the_folder_of_templates_is_read(project):
    """Two templates of a project may be one file."""
    (project / "templates/own.md.j2").write_text("own")
    (project / "templates" / NAME).symlink_to(project / "templates/own.md.j2")
    assert render(search_folders(project), NAME) == "own"


@pytest.mark.req("Z8", "R11")
@pytest.mark.parametrize("target", ["../../../home/key.md", "../../.env.md", "/dev/zero"])
def test_a_persona_in_the_folder_of_templates_is_no_link_out_of_it(project, target):
    """A persona that leads out of its folder is not sent to a model; the lean one serves."""
    for path in (project.parent / "home/key.md", project / ".env.md"):
        path.write_text(SECRET)
    (project / "templates/personas").mkdir()
    (project / "templates/personas/me.md").symlink_to(target)
    profile = AgentProfile(name="one", plugin="command", persona="me", role="qa")
    text, notes = persona(search_folders(project), profile, project)
    assert SECRET not in text
    assert text
    assert len(notes) == 1


@pytest.mark.req("Z8")
def test_a_question_sends_no_file_of_the_home_folder_to_an_agent(project, tmp_path):
    """`kr ask` in a project whose template is a link to a key asks nobody, and says which file it is."""
    log = agents.project(project, answers=(("", agents.SURE),))
    link(project)
    env = {**os.environ, "KR_TRUST": "all", "KR_CACHE_DIR": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}  # fmt: skip
    done = subprocess.run(
        kr_argv(env, "ask", agents.QUESTION, "--target", "duc"),
        cwd=project, env=env, capture_output=True, text=True, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert f"{project / 'templates' / NAME}: " in done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert not log.exists()


# -- what fills memory or does not end -----------------------------------------------------------------------

LOOP = "{% set ns = namespace(a=START) %}{% for i in range(99) %}{% set ns.a = EXPRESSION %}{% endfor %}{{ ns.a }}"


def grown(expression, start="'<%\"aaaaaaa'"):
    """A template that gives a value to an expression over and over."""
    return LOOP.replace("START", start).replace("EXPRESSION", expression)


TOO_MUCH = {
    "text times": '{{ "a"*3000000000 }}',
    "times text": '{{ 3000000000*"a" }}',
    "list times": "{{ [1]*3000000000 }}",
    "tuple times": "{{ (1, 2)*3000000000 }}",
    "markup times": '{{ ("a"|safe)*3000000000 }}',
    "nested ranges": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "nested ranges that show": "{% for a in range(99999) %}{% for b in range(99999) %}x{{ b }}{% endfor %}{% endfor %}",
    "nested ranges with a condition": "{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}{% endfor %}",
    "nested filters": '{% for a in range(99999) %}{{ range(99999)|select("none")|list }}{% endfor %}',
    "text in a macro": "{% macro m() %}{% for a in range(99999) %}"
    + "x" * 50000
    + "{% endfor %}{% endmacro %}{{ m() }}",
    "pieces in a macro": "{% macro m() %}{% for a in range(99999) %}"
    + "{% if 0 %}{% endif %}x" * 2000
    + "{% endfor %}{% endmacro %}{{ m() }}",
    "a value shown often": "{% for a in range(99999) %}{{ big }}{% endfor %}",
    "a value kept often": "{% macro m() %}{{ big }}{% endmacro %}{% for a in range(99999) %}{% set x = m() %}{% endfor %}",
    "printf": '{{ "%1000000000d" % 1 }}',
    "printf star": '{{ "%*d" % (1000000000, 1) }}',
    "printf precision": '{{ "%.1000000000f" % 1 }}',
    "printf of a name": '{{ "%(a(b)c)1000000000d" % {"a(b)c": 1} }}',
    "printf often": '{{ ("%(a)s"*100000) % {"a": big} }}',
    "printf of markup": '{{ ("%1000000000d"|safe) % 1 }}',
    "filter format": '{{ "%1000000000d"|format(1) }}',
    "filter format star": '{{ "%*d"|format(1000000000, 1) }}',
    "filter format often": '{{ ("%(a)s"*100000)|format(a=big) }}',
    "format": '{{ "{:1000000000}".format(1) }}',
    "format of a width": '{{ "{:{}}".format(1, 1000000000) }}',
    "format precision": '{{ "{:.1000000000f}".format(1.5) }}',
    "format often": '{{ ("{0}"*100000).format(big) }}',
    "format as code": '{{ ("{0!r}"*100000).format([big]) }}',
    "format_map": '{{ "{a:1000000000}".format_map({"a": 1}) }}',
    "format of markup": '{{ ("{:1000000000}"|safe).format(1) }}',
    "format of a date": '{{ "{:%1000000000d}".format(day) }}',
    "strftime": '{{ day.strftime("%1000000000d") }}',
    "strftime often": '{{ day.strftime("%c"*1000000) }}',
    "ljust": '{{ "a".ljust(10**10) }}',
    "rjust": '{{ "a".rjust(10**10) }}',
    "center": '{{ "a".center(10**10) }}',
    "zfill": '{{ "a".zfill(10**10) }}',
    "expandtabs": r'{{ "\t\t\t".expandtabs(2000000000) }}',
    "to_bytes": '{{ (1).to_bytes(9999999999, "big") }}',
    "filter center": '{{ "a"|center(10**10) }}',
    "filter center by name": '{{ "a"|center(width=10**10) }}',
    "filter center of each": '{{ range(99999)|map("center", 99999)|list }}',
    "indent": r'{{ ("a\n"*100000)|indent(1000000) }}',
    "indent by a text": r'{{ ("a\n"*100000)|indent("x"*100000) }}',
    "indent of other lines": r'{{ ("a\u2028"*100000)|indent(100000, true, true) }}',
    "wordwrap": '{{ ("a"*90000)|wordwrap(1, true, "x"*100000) }}',
    "wordwrap of a long word": '{{ ("a"*5000000)|wordwrap(1) }}',
    "replace": '{{ ("a"*100000).replace("a", "b"*100000) }}',
    "filter replace": '{{ ("a"*100000)|replace("a", "b"*100000) }}',
    "filter replace of nothing": '{{ ("a"*100000)|replace("", "b"*100000) }}',
    "filter replace in a list": '{{ range(99999)|list|replace("1", "b"*100000) }}',
    "translate": '{{ ("a"*100000).translate({97: "b"*100000}) }}',
    "join": '{{ ("x"*100000).join("a"*100000) }}',
    "filter join": '{{ range(99999)|join("x"*100000) }}',
    "filter join of an attribute": '{{ ([crate]*100000)|join(attribute="text") }}',
    "filter map of an attribute": '{{ ([crate]*100000)|map(attribute="text")|join }}',
    "a list of objects as text": "{{ [crate]*100000 }}",
    "power": "{{ 9**(9**9) }}",
    "power of two": "{{ 2**100000000 }}",
    "numbers that grow": grown("ns.a*ns.a", "7"),
    "shift by a number of text": '{{ ("f"*1000000)|int(0, 16) }}',
    "text that doubles by +": grown("ns.a + ns.a"),
    "text that doubles by ~": grown("ns.a ~ ns.a"),
    "list that doubles": grown("ns.a + ns.a", "[1]"),
    "lists in lists": grown("[ns.a, ns.a]"),
    "tuples in tuples": grown("(ns.a, ns.a)"),
    "mappings in mappings": grown("{1: ns.a, 2: ns.a}"),
    "mappings that are called": grown("dict(x=ns.a, y=ns.a)"),
    "namespaces in namespaces": grown("namespace(x=ns.a, y=ns.a)"),
    "a namespace in itself": "{% set ns = namespace(a=1) %}{% set ns.a = [ns, ns] %}{{ [ns] }}",
    "blocks that double": "{% set ns = namespace(a='aa') %}{% for i in range(99) %}{% set x %}{{ ns.a }}{{ ns.a }}{% endset %}{% set ns.a = x %}{% endfor %}",
    "escapes of escapes": grown("ns.a|forceescape|string|replace('&', '&&')"),
    "tojson of tojson": grown("ns.a|tojson|string"),
    "tojson with an indent": "{{ [[[[[1]]]]]|tojson(indent=1000000000) }}",
    "tojson with a text": '{{ [[[[[1]]]]]|tojson(indent="x"*1000000) }}',
    "tojson of depth": "{% set ns = namespace(a=[]) %}{% for i in range(800) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a|tojson(indent=9000) }}",
    "batch": '{{ [1]|batch(9999999999, "x")|list }}',
    "slice": "{{ [1]|slice(9999999999)|list }}",
    "sum of lists": "{{ ([[1, 2, 3, 4, 5, 6, 7, 8, 9]]*5000)|sum(start=[]) }}",
    "round": '{{ 1.5|round(1000000000, "floor") }}',
    "split": '{{ ("a "*4000000).split() }}',
    "list of characters": '{{ ("a"*9000000)|list }}',
    "many slices": '{% set a = "a"*1000000 %}{{ [' + ",".join(["a[1:]"] * 5000) + "] }}",
    "many calls": "{{ [" + ",".join(["big.upper()"] * 5000) + "] }}",
    "long literals": "{% set ns = namespace(a=[]) %}{% for i in range(99999) %}{% set ns.a = [ns.a, "
    + "1," * 40000
    + "] %}{% endfor %}",
    "a macro in itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a macro twice in itself": "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(50) }}",
    "includes itself": '{% include "note.md.j2" %}',
    "includes itself twice": '{% set n = (n|default(40)) - 1 %}{% if n > 0 %}{% include "note.md.j2" %}{% include "note.md.j2" %}{% endif %}',
    "extends itself": '{% extends "note.md.j2" %}',
    "imports itself": '{% import "note.md.j2" as m %}{{ m }}',
    "a block in itself": "{% block a %}{{ self.a() }}{% endblock %}",
    "a loop in itself": "{% for a in range(9) recursive %}{{ loop(range(9)) }}{% endfor %}",
    "calls in calls": "{% macro m() %}{{ caller() }}{{ caller() }}{% endmacro %}"
    + "{% call m() %}" * 15
    + "x" * 1000
    + "{% endcall %}" * 15,
    "cycler": '{% set c = cycler("a"*1000000, "b") %}{% for i in range(99999) %}{{ c.next() }}{% endfor %}',
    "joiner": '{% set j = joiner("a"*1000000) %}{% for i in range(99999) %}{{ j() }}{% endfor %}',
    "includes that name all that is set": "{% if 1 %}"
    + "".join(f"{{% set a{n}=1 %}}" for n in range(2000))
    + "{% include x %}" * 3000
    + "{% endif %}",
    "a text looked for from its end": '{% set n = "ab" ~ "a"*1000000 %}{{ ("a"*2000000).rfind(n) }}',
    "a text cut from its end": '{% set n = "ab" ~ "a"*100000 %}{{ ("a"*200000).rsplit(n) }}',
    "many characters stripped": '{{ ("a"*1000000).strip("b"*999999 ~ "a") }}',
    "deep parentheses": "{{ " + "(" * 40000 + "1" + ")" * 40000 + " }}",
    "deep conditions": "{% if 1 %}" * 4000 + "{% endif %}" * 4000,
    "a long sum": "{{ " + "1+" * 40000 + "1 }}",
}

CHILD = """
import datetime, json, os, resource, sys, warnings
from pathlib import Path
from typing import NamedTuple
from kr_core.errors import ConfigError
from kr_core.model.routing import AgentProfile
from kr_core.templates import render

class Crate(NamedTuple):
    text: str


warnings.simplefilter("ignore")  # of Python, about the code of a template
folder = Path(sys.argv[1])
(folder / "note.md.j2").write_text("warm")
render([folder], "note.md.j2")
values = {"big": "x" * 200_000, "day": datetime.date(2026, 2, 5), "crate": Crate("x" * 200_000)}
for line in sys.stdin:
    (folder / "note.md.j2").write_text(json.loads(line))
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            said = ["rendered", str(len(render([folder], "note.md.j2", **values)))]
        except ConfigError as error:
            said = [error.what, error.where, error.hint]
        except BaseException as error:
            said = ["raised", repr(error)[:200]]
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        os.write(writing, json.dumps({"said": said, "megabytes": grown}).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        came = pipe.read()
    status = os.waitpid(child, 0)[1]
    print(json.dumps(json.loads(came) if came else {"said": ["killed", str(status)], "megabytes": 0}), flush=True)
"""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """A folder, and what renders a template there in a process with little memory, and says what came of it."""
    folder = tmp_path_factory.mktemp("templates")
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:

        def render_there(text):
            child.stdin.write(f"{json.dumps(text)}\n")
            child.stdin.flush()
            return json.loads(child.stdout.readline())

        yield folder, render_there
        child.stdin.close()


@pytest.mark.req("Z3", "Z8")
@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_template_that_would_fill_memory_or_not_end_is_refused(rendered, name):
    """It is a fault of the template, told with its file and what to do; memory stays flat."""
    folder, render_there = rendered
    came = render_there(TOO_MUCH[name])
    said, megabytes = came["said"], came["megabytes"]
    assert said[0].startswith("the template does too much: "), said
    assert said[1].startswith(str(folder / "note.md.j2"))
    assert said[2] == "correct the template, or remove it to use the bundled one"
    assert megabytes < 400


@pytest.mark.req("Z3")
def test_a_rendering_ends_at_its_deadline():
    """Whatever is counted next after the time is over ends it."""
    left = RenderBudget(seconds=0)
    with pytest.raises(TemplateLimitError, match="more than 0 seconds"):
        left.step()


@pytest.mark.req("R12")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{{ "ab".join(["x", "y"]) }} {{ ["x", 1, [2]]|join("-") }}', "xaby x-1-[2]"),
        ('{{ "{:>8}|{a}".format("a", a=[1]) }} {{ "{a:03d}".format_map({"a": 7}) }}', "       a|[1] 007"),
        ('{{ "%5.1f%% of %s" % (3.14, "it") }} {{ "%s-%s"|format(1, 2) }}', "  3.1% of it 1-2"),
        ('{{ {"b": [1, "<"]}|tojson }} {{ [1, 2]|sum }} {{ [[1], [2]]|sum(start=[]) }}',
         '{"b": [1, "\\u003c"]} 3 [1, 2]'),
        ('{{ "a-"*40 }}{{ 2**64 }} {{ "a" ~ 1 ~ [2] }} {{ 7 // 2 }} {{ 7 % 4 }}', "a-" * 40 + "18446744073709551616 a1[2] 3 3"),
        ('{{ range(3)|map("string")|map("center", 5)|join("|") }}', "  0  |  1  |  2  "),
        ("{% for a in range(5) if a is odd %}{{ loop.index }}/{{ loop.length }}:{{ a }} {% endfor %}", "1/2:1 2/2:3 "),
        ("{% for k, v in {'a': 1}|dictsort %}{{ k }}{{ v }}{% endfor %}{% set a, b = 1, 2 %}{{ a }}{{ b }}", "a112"),
        ("{{ 'one two three'|wordwrap(7) }}|{{ 'a\nb'|indent(2) }}|{{ 'abc'[1:] }}", "one two\nthree|a\n  b|bc"),
        ("{{ [3, 1, 2]|sort|batch(2)|list }} {{ 'aXa'|replace('X', '--') }}", "[[1, 2], [3]] a--a"),
    ],
)  # fmt: skip
def test_what_templates_use_works_within_the_limits(project, text, shown):
    """Loops, filters, formats and methods of usual sizes give what Jinja gives."""
    (project / "templates/note.md.j2").write_text(text)
    assert render(search_folders(project), "note.md.j2") == shown


@pytest.mark.req("R12")
def test_a_long_report_is_within_the_limits(project):
    """A hundred times the text of a usual report is rendered."""
    del project
    lines = [f"Sentence {number} of a very long report." for number in range(20_000)]
    names = ("framework", "topic", "version", "question", "research_date", "confidence", "mark")
    lists = ("sources", "summary", "code", "caveats", "reasons", "notes", "attributions", "citations")
    values = {
        **dict.fromkeys(names, "x"),
        **dict.fromkeys(lists, ()),
        "score": 1,
        "details": lines,
        "has_summary_code": False,
    }
    text = render([bundled_folder()], "reports/research.md.j2", **values)
    assert all(line in text for line in (lines[0], lines[-1]))


@pytest.mark.req("Z3")
@pytest.mark.parametrize("text", ['{{ {}.fromkeys("ab") }}', "{{ dict([[1, 2]]) }}"])
def test_a_template_makes_no_mapping_of_keys_that_may_collide(project, text):
    """Numbers with one hash would take time by the square of their count, in a single operation."""
    (project / "templates" / NAME).parent.mkdir(exist_ok=True, parents=True)
    (project / "templates" / NAME).write_text(text)
    with pytest.raises(ConfigError):
        render(search_folders(project), NAME)
