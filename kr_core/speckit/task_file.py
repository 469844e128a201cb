"""The tasks of spec-kit's `tasks.md`, of old and new templates, and what is odd in the file.

The grammar (`templates/commands/tasks.md` of spec-kit) is `- [ ] T001 [P] [US1] Description with src/path.py`. Real files
stray from it: each checkbox that does is a diagnostic, and a task only where it has an id. KR changes one character of the
file, the mark of a task that has landed.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kr_core.speckit.lines import lines_of, plain
from kr_core.speckit.task_paths import paths_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kr_core.speckit.lines import FileLine

__all__ = ["MOST_TASKS", "Diagnostic", "Task", "TaskFile", "look_alike", "read_tasks", "with_mark"]

MOST_TASKS = 2_000
"""Tasks of one file; spec-kit's have a hundred. Of a file with more, one more is read."""
DONE = "xX"
_STRICT = re.compile(r"- \[[ xX]\] T\d{3,}(?: \[P\])?(?: \[US\d+\])? \S")
_BOX = re.compile(r"(?P<indent>[ \t]*)[-*+][ \t]+\[(?P<mark>.)\](?P<rest>.*)", re.DOTALL)
_TASK = re.compile(
    r"[ \t]+(?P<strike>~~)?(?:\*\*|`)?\[?(?P<id>T\d{1,6}(?:\.\d+)?[A-Za-z]?)\]?(?:\*\*|`)?(?:~~)?(?:\*\*)?[:.]?"
    r"(?P<rest>[ \t].*)?$"
)
_LABEL = re.compile(r"\s*(?:\*\*)?\[([^\]\[]{1,40})\](?:\*\*)?(?!\()")
_STORY = re.compile(r"US\d+(?:\.\d+)?(?:\s*[+,/&]\s*(?:US)?\d+(?:\.\d+)?)*", re.IGNORECASE)
_HEADING_TASK = re.compile(r"#{1,6}\s+(?:\[.\]\s*)?[*`]*T\d{1,6}\b")
_PHASE = re.compile(r"phase\b|phase\s*\d", re.IGNORECASE)
_ID = r"T\d{1,6}(?:\.\d+)?[A-Za-z]?"
_IDS = re.compile(rf"({_ID})(?:\s*(?:-|–|~|to|through)\s*({_ID}))?")
_DEPENDS = re.compile(
    rf"\b(?:depends?\s+(?:up)?on|depending\s+on|dependent\s+on|dependenc(?:y|ies)|blocked\s+by|requires|needs|after)\b[:\s]*+"
    rf"(?P<ids>{_ID}(?:[\s,&]*+(?:and|to|through|-|–|~)?+\s*+{_ID})*)",
    re.IGNORECASE,
)
_MAX_DEPENDENCIES = 200
_MAX_PATHS = 50
_MAX_LINES = 200
"""Lines that belong to a task, or say in a section about dependencies what it waits for."""
_MAX_TEXT = 1_000
"""Characters of such a line, and of a heading that each task below it has."""
_MAX_LINE = 10_000
"""Characters of a task's line; spec-kit's have some hundred."""
_KIRO = re.compile(r"[ \t]*[-*+] \[.\]\*? +\d+(?:\.\d+)*[.)]? ")


class Diagnostic(NamedTuple):
    """What is odd about a line."""

    line: int
    """From 1."""
    code: str
    message: str


class Task(NamedTuple):
    """A task of the file."""

    id: str
    title: str
    line: int
    """From 1."""
    column: int
    """Of the mark, in the line."""
    done: bool
    phase: str
    """The heading of its phase; empty where it has none."""
    section: str
    """The nearest heading, of the phase or below it."""
    story: str
    """`US1`; `US1+US2` where it serves two, empty where it has no label."""
    parallel: bool
    paths: tuple[str, ...]
    """Those that its description names, relative to the repository."""
    notes: tuple[str, ...] = ()
    """The lines below it that belong to it."""
    depends_on: tuple[str, ...] = ()
    cancelled: bool = False
    """Its description is struck out."""


class TaskFile(NamedTuple):
    """A file of tasks."""

    title: str
    tasks: tuple[Task, ...]
    diagnostics: tuple[Diagnostic, ...]
    """In the order of their lines."""
    independent_tests: dict[str, str]
    """By phase: how its story is tested by itself, as the file says."""


def read_tasks(text: str) -> TaskFile:
    """Read a file of tasks; no text makes it raise.

    Args:
        text: the whole file, with its line ends and its byte order mark, if any.
    """
    reader = _Reader(lines_of(text))
    reader.read()
    return reader.file()


def with_mark(text: str, task: Task, mark: str = "X") -> str:
    """The file with the mark of one task changed, and nothing else.

    Args:
        text: the same file that the task was read from.
        task: one of its tasks.
        mark: one character.

    Raises:
        ValueError: the file has another line there.
    """
    lines = lines_of(text)
    if task.line > len(lines):
        raise ValueError("the file has fewer lines than it had")
    raw = lines[task.line - 1].raw
    found = _BOX.match(raw.removeprefix("\ufeff") if task.line == 1 else raw)
    column = task.column + (1 if task.line == 1 and raw.startswith("\ufeff") else 0)
    if (
        found is None
        or found.start("mark") != task.column
        or not re.search(rf"\b{re.escape(task.id)}\b", raw)
    ):
        raise ValueError(f"line {task.line} is not the task {task.id} any more")
    changed = raw[:column] + mark + raw[column + 1 :]
    return "".join(changed if line.number == task.line else line.raw for line in lines)


def look_alike(text: str, file: TaskFile) -> str:
    """What a file without spec-kit's tasks seems to be; empty where it has some."""
    if file.tasks:
        return ""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[{", "[\n")):
        try:
            json.loads(start)
        except ValueError:
            pass
        else:
            return "a JSON file, such as Task Master writes"
    lines = [line.text for line in lines_of(text)]
    if any(_KIRO.match(line) for line in lines):
        return "a list with numbers in place of ids, such as Kiro and OpenSpec write"
    if any(_HEADING_TASK.match(line) for line in lines):
        return "a file whose tasks are headings, without a box to tick"
    if any(_BOX.match(line) for line in lines):
        return "a list of checkboxes without ids"
    return "a file without tasks"


class _Reader:
    """One pass over the lines."""

    def __init__(self, lines: Sequence[FileLine]) -> None:
        self._lines = lines
        self._tasks: list[Task] = []
        self._odd: list[Diagnostic] = []
        self._notes: dict[int, list[str]] = defaultdict(list)
        """The lines below each task, by its own line."""
        self._headings: dict[int, str] = {}
        self._indent: int | None = None
        """Of the task whose further lines may follow."""
        self._prose: dict[str, list[str]] = defaultdict(list)
        """Tasks that a section about dependencies names, in capital letters, and what it says of each."""
        self._tests: dict[str, str] = {}

    def read(self) -> None:
        for line in self._lines:
            if len(self._tasks) > MOST_TASKS:
                return
            raw = line.raw.rstrip("\r\n")
            raw = raw.removeprefix("\ufeff") if line.number == 1 else raw
            if line.level:
                self._heading(line)
            elif (box := _BOX.match(line.text)) is not None:
                self._box(line, box, raw)
            elif _BOX.match(raw):
                self._say(line, "quoted", "is part of a code block or a comment, so it is not a task")
            else:
                self._text(line)

    def file(self) -> TaskFile:
        self._tasks = [self._with_paths(task) for task in self._tasks]
        tasks = self._with_dependencies()
        self._check_order(tasks)
        title = next((plain(line.text.lstrip("# ")) for line in self._lines if line.level == 1), "")
        return TaskFile(title, tuple(tasks), tuple(sorted(self._odd)), self._tests)

    def _say(self, line: FileLine, code: str, message: str) -> None:
        self._odd.append(Diagnostic(line.number, code, message))

    # -- lines ---------------------------------------------------------------------------------------------

    def _heading(self, line: FileLine) -> None:
        self._indent = None
        self._headings = {level: title for level, title in self._headings.items() if level < line.level}
        self._headings[line.level] = plain(line.text.strip().strip("#"))[:_MAX_TEXT]
        if _HEADING_TASK.match(line.text.lstrip()):
            self._say(line, "heading-task", "is a heading; a task is a line with a box, `- [ ] T001 ...`")

    @property
    def _phase(self) -> str:
        named = [title for _level, title in sorted(self._headings.items()) if _PHASE.match(title)]
        return named[-1] if named else self._headings.get(2, "")

    def _text(self, line: FileLine) -> None:
        text = line.text
        if not text.strip():
            return
        indent = len(text) - len(text.lstrip())
        if self._indent is not None and indent > self._indent and self._tasks:
            _add(self._notes[self._tasks[-1].line], text.strip())
            return
        self._indent = None
        if found := re.match(r"\s*+\*\*Independent Test\*\*\s*+(?::\s*+)?(.+)", text, re.IGNORECASE):
            self._tests.setdefault(self._phase, plain(found[1])[:_MAX_TEXT])
        if any("depend" in title.casefold() for title in self._headings.values()) and (
            subject := re.match(rf"\W*({_ID})\b", text)
        ):
            _add(self._prose[subject[1].upper()], text)

    def _box(self, line: FileLine, box: re.Match[str], raw: str) -> None:
        self._indent = None
        before = len(self._odd)
        if len(raw) > _MAX_LINE:
            self._say(line, "too-long", f"has more than {_MAX_LINE:,} characters, so it is not a task")
            return
        found = _TASK.match(box["rest"])
        if box["mark"] not in f" {DONE}":
            self._say(line, "bad-mark", f"has the mark `{box['mark']}`; spec-kit's are a blank, `x` and `X`")
            return
        if found is None:
            near = re.match(r"\W*(T\d[\w.~–-]*)", box["rest"])
            if near:
                self._say(line, "odd-id", f"`{near[1][:40]}` is not the id of one task")
            else:
                self._say(line, "no-id", "has no id, so it is not a task")
            return
        if found["strike"]:
            self._say(line, "struck", f"{found['id']} is struck out, and counts as cancelled")
            return
        self._tasks.append(self._task(line, box, found))
        self._indent = len(box["indent"].expandtabs(4))
        if not _STRICT.match(raw) and len(self._odd) == before:
            self._say(line, "odd-form", "is not in spec-kit's form, `- [ ] T001 [P] [US1] Description`")

    def _task(self, line: FileLine, box: re.Match[str], found: re.Match[str]) -> Task:
        id_ = found["id"]
        rest = found["rest"] or ""
        stories: list[str] = []
        parallel = False
        while (label := _LABEL.match(rest)) is not None:
            name = label[1].strip()
            if name.casefold() == "p":
                parallel = True
            elif _STORY.fullmatch(name):
                stories += [f"US{number}" for number in re.findall(r"\d+(?:\.\d+)?", name)]
            else:
                self._say(line, "unknown-label", f"has the label `[{name}]`, which spec-kit does not know")
            rest = rest[label.end() :]
        title = rest.strip()
        if not re.fullmatch(r"T\d{3,}", id_):
            self._say(
                line, "odd-id", f"has the id `{id_}`; spec-kit's have three digits or more, and nothing else"
            )
        struck = title.rfind("~~")
        cancelled = title.startswith("~~") and struck > 2 and not re.search(r"\w", title[struck:])
        if cancelled:
            self._say(line, "struck", f"{id_} is struck out, and counts as cancelled")
        if not title:
            self._say(line, "no-title", f"{id_} does not say what is to be done")
        deepest = max(self._headings, default=0)
        return Task(
            id_,
            title,
            line.number,
            box.start("mark"),
            box["mark"] in DONE,
            self._phase,
            self._headings.get(deepest, ""),
            "+".join(dict.fromkeys(stories)),
            parallel,
            (),
            cancelled=cancelled,
        )

    # -- the whole -----------------------------------------------------------------------------------------

    def _with_paths(self, task: Task) -> Task:
        """The task with the paths of its description, which may be wrapped into the line below it."""
        notes = tuple(self._notes.get(task.line, ()))
        paths = paths_in(task.title) or paths_in(" ".join(notes[:1]))
        if task.title and not paths:
            self._odd.append(Diagnostic(task.line, "no-path", f"{task.id} names no path"))
        if len(paths) > _MAX_PATHS:
            said = f"{task.id} names {len(paths)} paths, of which the first {_MAX_PATHS} count"
            self._odd.append(Diagnostic(task.line, "many-paths", said))
        return task._replace(paths=paths[:_MAX_PATHS], notes=notes)

    def _with_dependencies(self) -> list[Task]:
        known = [task.id for task in self._tasks]
        places = {id_: place for place, id_ in reversed([*enumerate(known)])}
        folded = {id_.upper(): id_ for id_ in reversed(known)}
        tasks = []
        for task in self._tasks:
            capital = task.id.upper()
            told = self._prose.get(capital, ()) if folded[capital] == task.id else ()
            lists = (
                match["ids"] for text in (task.title, *task.notes, *told) for match in _DEPENDS.finditer(text)
            )
            every = (name for ids in lists for name in _expanded(ids, known, places))
            names = dict.fromkeys(islice(every, _MAX_DEPENDENCIES))
            unknown = [name for name in names if name.upper() not in folded]
            for name in unknown:
                self._odd.append(
                    Diagnostic(
                        task.line, "unknown-dependency", f"{task.id} depends on {name}, which is not here"
                    )
                )
            needed = (folded[name.upper()] for name in names if name.upper() in folded)
            tasks.append(task._replace(depends_on=tuple(name for name in needed if name != task.id)))
        return tasks

    def _check_order(self, tasks: Sequence[Task]) -> None:
        first: dict[str, int] = {}
        last: tuple[str, int] | None = None
        for task in tasks:
            if task.id in first:
                self._odd.append(
                    Diagnostic(task.line, "dup-id", f"{task.id} is the id of line {first[task.id]} already")
                )
            first.setdefault(task.id, task.line)
            number = int(re.sub(r"\D.*", "", task.id[1:]))
            if last is not None and last[0] == task.phase and number not in {last[1], last[1] + 1}:
                self._odd.append(
                    Diagnostic(task.line, "gap-in-phase", f"{task.id} does not follow the task before it")
                )
            last = (task.phase, number)


def _expanded(text: str, known: Sequence[str], places: Mapping[str, int]) -> Iterator[str]:
    """The ids of a list such as `T012, T014-T016`; `places` has the place of each id in the file."""
    for match in _IDS.finditer(text):
        first, last = match[1], match[2]
        if last and places.get(first, len(known)) < places.get(last, -1):
            yield from (known[place] for place in range(places[first], places[last] + 1))
        else:
            yield from [first, last] if last else [first]


def _add(lines: list[str], text: str) -> None:
    if len(lines) < _MAX_LINES:
        lines.append(text[:_MAX_TEXT])
