"""Reading a package ends: KR stops what takes too long, leaves it out and says so in the answer."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest
from support.projects import install, make_environment
from support.source_context import SourceContext

from kr_core.plugin import Outcome, ResearchQuery
from kr_core.project.project import LocalProject
from kr_plugins.sources import installed_docs
from kr_plugins.sources.installed_docs import InstalledDocs
from kr_plugins.sources.installed_docs.reading_budget import BudgetSpent, Cancelled, ReadingBudget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kr_core import Finding

pytestmark = pytest.mark.req("Z8")

_SMALL = partial(ReadingBudget, seconds=3.0, seconds_per_byte=0.0)
_SMALLER = partial(ReadingBudget, seconds=1.6, seconds_per_byte=0.0)
_NOTHING = partial(ReadingBudget, seconds=0.0, seconds_per_byte=0.0)
_DEF = "def run(speed):\n    'Run the box at a speed, as fast as it goes.'\n"
_SLOW = "".join(
    f"def f{n}(a):\n    '''Do it.\n\n    Args:\n        a (int): One {n}.\n        b (str): Two {n}, see :func:`x`.\n    '''\n"
    for n in range(16_000)
)
"""A second of work for the processor in one file, of which its parser, which nothing stops, takes a fifth."""


def endless() -> None:
    """A loop that never asks whether it may go on."""
    for _number in itertools.count():
        pass


@pytest.mark.parametrize("times", [1, 2])
def test_a_loop_without_an_end_is_stopped(times: int) -> None:
    """KR stops work that takes too long in whatever loop it is, and goes on with other work."""
    with ReadingBudget(seconds=4.0) as budget:
        for _time in range(times):
            with pytest.raises(BudgetSpent):
                budget.portion(endless)
        assert budget.portion(lambda: "read") == "read"


def test_work_that_was_given_up_is_stopped() -> None:
    """A loop without an end does not go on in the background once the research has given up."""
    asked = itertools.count()
    with ReadingBudget(lambda: next(asked) > 2) as budget, pytest.raises(Cancelled):
        budget.portion(endless)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say how much memory a process takes")
def test_work_that_fills_the_memory_is_stopped() -> None:
    """The process may grow by so much while KR reads a package, and not without an end."""

    def fill() -> None:
        assert [str(number) * 50 for number in itertools.count()]

    with ReadingBudget(seconds=600.0, memory=60_000_000) as budget, pytest.raises(BudgetSpent):
        budget.portion(fill)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory a process takes now")
def test_memory_that_is_kept_counts_for_all_that_follows() -> None:
    """Each piece may not fill as much again; once it is free, others are read."""
    kept: list[str] = []

    def fill() -> None:
        # slow enough that a fast machine does not fill as much between two looks at the memory
        kept.extend(str(number + sum(range(200))) * 50 for number in range(2_000_000))
        endless()

    with ReadingBudget(seconds=600.0, memory=60_000_000) as budget:
        for _piece in range(2):
            with pytest.raises(BudgetSpent):
                budget.portion(fill)
        assert len(kept) < 800_000
        kept.clear()
        assert budget.portion(lambda: sum(range(1000))) == 499_500


def test_what_is_made_up_to_a_limit_keeps_what_was_made() -> None:
    """KR keeps the passages that it made before one that takes too long."""

    def made() -> itertools.chain[int]:
        yield from range(100)
        endless()
        yield 100

    with ReadingBudget(seconds=4.0) as budget:
        found = list(budget.up_to("box/slow.py", made()))
    assert found == list(range(100))
    assert budget.left_out == ["box/slow.py"]


def test_observers_are_not_stopped() -> None:
    """Code of others that KR calls meanwhile comes to its end; the work that called it is stopped."""
    ended = []

    def slow(_done: int, _total: int) -> None:
        for _number in range(10_000_000):
            pass
        ended.append(True)

    with ReadingBudget(seconds=0.1) as budget, pytest.raises(BudgetSpent):
        budget.portion(lambda: (budget.undisturbed(slow)(1, 2), endless()))
    assert ended == [True]


def ask(folder: Path, question: str, framework: str, budget: partial[ReadingBudget] = _SMALL) -> Finding:
    """What the source finds in a project."""
    source = InstalledDocs(folder / "cache", budget=budget)
    project = LocalProject(folder, folder, {}, own_prefix=None)
    query = ResearchQuery(
        question=question, framework=framework, framework_version="1.0", topic="t", tags=("t",)
    )
    return asyncio.run(source.query(query, SourceContext(project)))


@pytest.mark.req("R9")
def test_a_module_that_takes_too_long_is_left_out(tmp_path: Path) -> None:
    """The answer comes from the other modules and says which one is left out, also when the index is there already."""
    for seconds in (
        1.6,
        2.4,
        3.2,
    ):  # on a busy machine the parser alone, which nothing stops, may take the first
        folder = tmp_path / str(seconds)
        site = make_environment(folder)
        install(site, "box", "1.0", {"box/__init__.py": _DEF, "box/slow.py": _SLOW, "box/z.py": _DEF})
        budget = partial(ReadingBudget, seconds=seconds, seconds_per_byte=0.0)
        found = ask(folder, "How do I run the box at a speed?", "box", budget)
        if found.outcome is Outcome.ok:
            break
    for _time in range(2):
        assert found.outcome is Outcome.ok
        assert found.passages[0].symbol == "box.run"
        (note,) = found.notes  # on a busy machine the file behind it may be left out too
        assert note.startswith("box: left out box/slow.py")
        assert note.endswith(
            ": takes more processor time or memory than reading a package may; read it yourself"
        )
        found = ask(folder, "How do I run the box at a speed?", "box", budget)


@pytest.mark.req("R9")
def test_a_neighbour_of_a_package_that_takes_too_long_is_answered_whole(tmp_path: Path) -> None:
    """What one package costs is taken from its own budget only."""
    site = make_environment(tmp_path)
    install(site, "box", "1.0", {"box/__init__.py": _SLOW})
    install(site, "crate", "1.0", {"crate/__init__.py": _DEF})
    assert ask(tmp_path, "How do I run the box?", "box", _SMALLER).notes
    found = ask(tmp_path, "How do I run the crate at a speed?", "crate", _SMALLER)
    assert found.passages[0].symbol == "crate.run"
    assert found.notes == ()


@pytest.mark.req("R9")
def test_dependencies_that_take_too_long_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KR begins no other dependency once they have taken their time, and says so."""
    monkeypatch.setattr(installed_docs, "_DEPENDENCIES_SECONDS", -1.0)
    site = make_environment(tmp_path)
    box = install(site, "box", "1.0", {"box/__init__.py": "'A box.'\n"})
    with (box / "METADATA").open("a") as metadata:
        metadata.write("Requires-Dist: crate\n")
    install(site, "crate", "1.0", {"crate/__init__.py": _DEF})
    found = ask(tmp_path, "How do I run something at a speed?", "box")
    assert found.notes == ("box: left out some of its dependencies: they take too long to read",)


@pytest.mark.req("R9")
def test_one_dependency_takes_no_more_than_all_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large dependency has no time of its own: a package and its dependencies would take minutes."""
    budgets: list[ReadingBudget] = []

    def budget(cancelled: Callable[[], bool]) -> ReadingBudget:
        budgets.append(ReadingBudget(cancelled))
        return budgets[-1]

    monkeypatch.setattr(installed_docs, "_DEPENDENCIES_SECONDS", 5.0)
    site = make_environment(tmp_path)
    box = install(site, "box", "1.0", {"box/__init__.py": "'A box.'\n"})
    with (box / "METADATA").open("a") as metadata:
        metadata.write("Requires-Dist: crate\n")
    install(site, "crate", "1.0", {"crate/__init__.py": _DEF, "crate/data.py": "# " + "x" * 1_900_000})
    ask(tmp_path, "How do I run something at a speed?", "box", budget)
    own, of_dependency = budgets
    assert own.seconds >= 20.0
    assert of_dependency.seconds <= 5.0


@pytest.mark.req("R9")
def test_declarations_that_take_too_long_leave_the_texts(tmp_path: Path) -> None:
    """Of an npm package whose declarations take too long, KR reads the README."""
    place = tmp_path / "node_modules/crate"
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"name": "crate", "version": "1.0.0"}))
    (place / "README.md").write_text("# Crate\n\n## Speed\n\nCall `run` to run the crate at a speed.\n")
    functions = "".join(
        f"/** Say {n}. */ export declare function f{n}(a: A{n}): B{n};\n" for n in range(30_000)
    )
    (place / "index.d.ts").write_text(functions)
    found = ask(tmp_path, "How do I run the crate at a speed?", "crate")
    assert found.passages[0].title.startswith("README")
    assert "left out all declarations" in found.notes[0]


@pytest.mark.req("R9")
def test_a_budget_of_nothing_gives_an_answer_that_says_so(tmp_path: Path) -> None:
    """Where reading a package takes too long altogether, the answer says so, and that is all that happens."""
    site = make_environment(tmp_path)
    install(site, "box", "1.0", {"box/__init__.py": _DEF})
    found = ask(tmp_path, "How do I run the box?", "box", _NOTHING)
    assert found.outcome is Outcome.empty
    assert found.notes[0] == "box: the search takes more processor time than it may; ask in fewer words"
    assert "left out box/__init__.py" in found.notes[1]


def test_aliases_that_name_many_aliases_are_looked_at_once(tmp_path: Path) -> None:
    """Thousands of annotations that speak of hundreds of aliases each are read as fast as the file is long."""
    aliases = "".join(
        f"A{n} = [{','.join(f'A{(n * 37 + other) % 900}' for other in range(90))}]\n" for n in range(900)
    )
    functions = "".join(
        f"def f{n}(a: 'Union[{','.join(f'A{(n * 200 + other) % 900}' for other in range(200))}]'): 'Do it.'\n"
        for n in range(300)
    )
    site = make_environment(tmp_path)
    install(site, "box", "1.0", {"box/__init__.py": _DEF + aliases + functions})
    found = ask(tmp_path, "How do I run the box at a speed?", "box", partial(ReadingBudget, seconds=40.0))
    assert found.passages[0].symbol == "box.run"
    assert found.notes == ()
