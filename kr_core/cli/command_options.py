"""Every command of `kr` with its options and help texts; what a command does is in the file of its name."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core._version import __version__
from kr_core.cli.command_parser import CommandParser

if TYPE_CHECKING:
    from collections.abc import Callable

EXIT_CODES = """exit codes: 0 an answer (its status says how good); 1 unexpected error; 2 wrong use, configuration or request;
3 a plugin could not be loaded; 4 no content; 5 waiting for a human; 129, 130, 131, 143 ended by a signal"""

DISPATCH_CODES = """exit codes: 0 every task asked for has succeeded; 1 one has not; 2 wrong use, configuration or repository"""

INBOX_CODES = """exit codes: 0 done; 2 refused, with the reason; 5 still waiting"""

_PHASES = "one of story-creation, story-review, dev-execution, code-review, e2e-inspection"  # pydantic is slow to import


def parser() -> CommandParser:
    """The parser of the whole command line; options of the root stand before or after the subcommand."""
    common = CommandParser(add_help=False, allow_abbrev=False)
    _root_options(common, suppress=True)
    root = CommandParser(
        prog="kr",
        description="Technical questions answered once, well, and with their sources.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    root.add_argument("-V", "--version", action="version", version=f"kr {__version__}")
    _root_options(root, suppress=False)
    commands = _Commands(root, common, "command", "COMMAND")
    commands.add(
        "research", "answer a question about a library", epilog=EXIT_CODES, describe=False, options=_research
    )
    commands.add(
        "ask",
        "ask an agent, or a human if no agent is sure enough",
        epilog=EXIT_CODES,
        describe=False,
        options=_ask,
    )
    commands.add(
        "inbox",
        "see and answer the questions that wait for a human",
        epilog=INBOX_CODES,
        options=partial(_inbox, common=common),
    )
    commands.add(
        "expedition",
        "research a large question in cycles, with sources for every fact, until no new facts turn up",
        epilog=EXIT_CODES,
        describe=False,
        options=partial(_expedition, common=common),
    )
    route = commands.add("route", "show where a question would go, without asking it")
    _question(route)
    _flag(route, "--explain", "show what decided: the rule, its file and line")
    _flag(route, "--json", "print the route as JSON")
    commands.add("verify", "check the quotes of reports against the stored passages").add_argument(
        "reports",
        metavar="REPORT",
        nargs="+",
        help="a report's file, its path in the knowledge base, or the entry's id",
    )
    versions = commands.add("versions", "show the versions in use and where KR found each")
    versions.add_argument("name", metavar="NAME", nargs="?")
    _flag(versions, "--json", "a list of {name, version, from}")
    commands.add(
        "cache",
        "inspect and maintain the knowledge base",
        describe=False,
        options=partial(_cache, common=common),
    )
    commands.add(
        "journal",
        "move the whole record to another journal",
        describe=False,
        options=partial(_journal, common=common),
    )
    commands.add(
        "docs", "index and search your own documents", describe=False, options=partial(_docs, common=common)
    )
    commands.add(
        "lessons",
        "show, list and record lessons from past mistakes",
        describe=False,
        options=partial(_lessons, common=common),
    )
    commands.add(
        "team",
        "keep running and answer a team's research requests, one message per line on standard input and output",
    ).add_argument(
        "--session",
        metavar="ID",
        dest="session_id",
        help="the session whose budgets the requests spend; default: a new one",
    )
    commands.add(
        "log", "show questions and answers of agents and people, and check the whole record", options=_log
    )
    commands.add(
        "retro",
        "look back on a feature's questions: figures, patterns, and what to change",
        options=partial(_retro, common=common),
    )
    commands.add(
        "dispatch",
        "send the tasks of spec-kit's tasks.md to specialists who keep to their folders",
        options=partial(_dispatch, common=common),
    )
    commands.add("mcp", "serve other agents as an MCP server on standard input and output", options=_mcp)
    commands.add(
        "serve",
        "serve the inbox as a page and an API over HTTP, and do what is due meanwhile",
        options=_serve,
    )
    commands.add(
        "worker",
        "answer the questions that other processes have queued, and do what is due for those that wait",
        options=_worker,
    )
    commands.add(
        "batch",
        "list, pause and resume the batches that workers research",
        options=partial(_batch, common=common),
    )
    commands.add(
        "plugins", "list the installed plugins; with -v, what each provides and what is wrong with it"
    ).add_argument("--json", action="store_true", help="print a list")
    doctor = commands.add(
        "doctor", "check installation, configuration, plugins, stores and network, and say what to do"
    )
    _flag(doctor, "--json", "print a list")
    commands.add("init", "write a configuration to start from, or register KR with a client", options=_init)
    trust = commands.add(
        "trust", "allow the programs and addresses in the project's configuration, and its templates"
    )
    _flag(trust, "--forget", "withdraw the permission")
    return root


def _root_options(target: argparse.ArgumentParser, *, suppress: bool) -> None:
    """The same options twice: a subcommand's absence of one must not undo the root's."""
    default = argparse.SUPPRESS if suppress else None
    target.add_argument(
        "-C", dest="folder", metavar="DIR", type=Path, default=default, help="work as if started in DIR"
    )
    target.add_argument("--config", metavar="FILE", type=Path, default=default, help="use this configuration")
    target.add_argument(
        "-v", "--verbose", action="store_true", default=default or False, help="show each source call"
    )
    target.add_argument(
        "-q", "--quiet", action="store_true", default=default or False, help="print only the answer"
    )


class _Commands:
    """The subcommands of a command, each with the root's options.

    Args:
        command: whose they are.
        common: the root's options.
        dest: what the parsed name of the subcommand is called.
        metavar: how the help names it.
        default: the subcommand that runs without one.
    """

    def __init__(
        self,
        command: CommandParser,
        common: CommandParser,
        dest: str,
        metavar: str,
        default: str | None = None,
    ) -> None:
        self._added = command.add_subparsers(dest=dest, metavar=metavar, required=default is None)
        self._added.default = default
        self._known = command.children
        self._common = common

    def add(
        self,
        name: str,
        text: str,
        *,
        epilog: str | None = None,
        describe: bool = True,
        options: Callable[[CommandParser], None] | None = None,
    ) -> CommandParser:
        """Add one.

        Args:
            name: of the subcommand.
            text: what the help says of it.
            epilog: the end of its help.
            describe: whether `text` is its description as well; otherwise it gets one of its own, or its actions say what it does.
            options: what adds its options and actions, once they are needed; None if the caller adds them.
        """
        added = self._added.add_parser(
            name,
            parents=[self._common],
            help=text,
            description=text[0].upper() + text[1:] + "." if describe else None,
            epilog=epilog,
            allow_abbrev=False,  # `--sess` would pass by what looks for `--session`
        )
        self._known[name] = added
        added.options = options
        return added


def _flag(command: argparse._ActionsContainer, name: str, text: str) -> None:
    command.add_argument(name, action="store_true", help=text)


def _list(command: argparse._ActionsContainer, name: str, metavar: str, dest: str, text: str) -> None:
    """Add an option that may be repeated."""
    command.add_argument(name, metavar=metavar, dest=dest, action="append", default=[], help=text)


def _comma_separated(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _research(command: CommandParser) -> None:
    command.description = (
        "Answer a question from the knowledge base or, if it is not there, from the sources."
    )
    command.add_argument("question", metavar="QUESTION", nargs="?")
    command.add_argument("--framework", metavar="F", help="the library; default: taken from the question")
    command.add_argument(
        "--version", metavar="V", dest="framework_version", help="its version; default: the one in use"
    )
    command.add_argument("--topic", metavar="T", help="the topic to file the answer under")
    _list(command, "--tag", "T", "tags", "a tag; may be repeated")
    command.add_argument(
        "--names",
        metavar="A,B",
        type=_comma_separated,
        default=(),
        help="names that the answer may hold, such as httpx.Timeout",
    )
    command.add_argument(
        "--story", metavar="3-1", dest="story_key", help="the story whose budget this run spends"
    )
    command.add_argument("--session", metavar="ID", dest="session_id", help="the session of that budget")
    command.add_argument("--max-tokens", metavar="N", type=int, help="how long its passages may be (--json)")
    command.add_argument(
        "--max-calls", metavar="N", type=int, help="how many external calls this run may make"
    )
    command.add_argument("--timeout", metavar="S", type=int, help="time limit of each source, in seconds")
    _flag(command, "--refresh", "ask the sources even if the answer is known")
    command.add_argument(
        "--why", metavar="TEXT", default="", help="what is wrong with the answer (with --wrong)"
    )
    source = command.add_mutually_exclusive_group()
    source.add_argument(
        "--wrong", metavar="ID", help="take a kept answer out of the knowledge base; its id or path"
    )
    source.add_argument("--request", metavar="FILE", help="a request as YAML or JSON; - for standard input")
    source.add_argument(
        "--batch",
        metavar="FILE",
        help="requests or questions, one JSON value per line, or a list in FILE.yaml; - for standard input",
    )
    _max_cost(command)
    _forms(command)


def _ask(command: CommandParser) -> None:
    command.description = "Ask the agent that the rules choose. KR accepts its answer if it is sure enough; otherwise a human decides."
    _question(command)
    command.add_argument(
        "--id", metavar="ID", help="an id for the question; other questions can depend on it"
    )
    _list(
        command,
        "--depends-on",
        "ID",
        "depends_on",
        "an answered question of the feature; its answer joins the context; may be repeated",
    )
    command.add_argument(
        "--from",
        metavar="FILE",
        dest="source",
        help="ask the questions that spec-kit left open in a file and write the answers into it; or ask a list of questions in JSON or YAML",
    )
    _flag(command, "--wait", "if a human has to answer, wait for the answer on any channel")
    _forms(command)


def _question(command: argparse.ArgumentParser) -> None:
    command.add_argument("question", metavar="QUESTION", nargs="?")
    command.add_argument("--topic", metavar="T", help="what it is about, such as security/oauth")
    _list(
        command,
        "--target",
        "R",
        "targets",
        "who should answer: a role, an agent or human; several agents are compared",
    )
    command.add_argument("--feature", metavar="ID", help="the feature that the question belongs to")
    command.add_argument("--context", metavar="TEXT", help="what the agent should know")
    _list(command, "--choice", "A", "choices", "a possible answer; may be repeated")


def _inbox(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION", default="list")
    command.set_defaults(all=False, json=False)
    listing = actions.add("list", "list the questions that wait, oldest first; the default")
    _flag(listing, "--all", "include answered questions")
    _flag(listing, "--json", "print a list")
    show = actions.add("show", "show everything about a question, and how to answer it")
    show.add_argument("id", metavar="ID", help="such as E7")
    _flag(show, "--json", "{id, status, revision, case, resolution}")
    poll = actions.add(
        "poll", "do everything that is due, once: show cases, read replies, notify, remind, apply time limits"
    )
    _flag(poll, "--json", "print what was done as JSON")
    check = actions.add(
        "check", "judge accepted answers that were drawn for a spot check: r right, w wrong, c cannot tell"
    )
    check.add_argument(
        "id", metavar="ID", nargs="?", help="such as S7; without one, up to 20 that wait, one after the other"
    )
    check.add_argument(
        "verdict",
        metavar="VERDICT",
        nargs="?",
        choices=("r", "right", "w", "wrong", "c", "unsure"),
        help="right, wrong or unsure, or r, w, c; without one, KR shows the card",
    )
    check.add_argument("--why", metavar="TEXT", help="what is wrong with the answer")
    check.add_argument("--by", metavar="NAME", help="your name for the record; default: your login name")
    _flag(check, "--json", "a list of cards, or {id, verdict, notes}")
    for name, text, what, about in (
        ("confirm", "confirm the agent's answer", "", ""),
        ("correct", "replace the answer with your own", "TEXT", "the answer; - for standard input"),
        ("context", "ask the agent again with more context", "TEXT", "what it should know; - for standard input"),
        ("choose", "choose one of the answers", "CHOICE", "its letter, or the choice itself"),
        ("chat", "talk with the agent about the question before you decide", "", ""),
        ("withdraw", "end a question that needs no answer", "WHY", "the reason, for the record; - for standard input"),
    ):  # fmt: skip
        reply = actions.add(name, text)
        reply.add_argument(
            "id", metavar="ID[@REVISION]", help="such as E7@2: the second answer to it; without @2 the latest"
        )
        if what:
            reply.add_argument("text", metavar=what, nargs="+", help=about)
        reply.add_argument("--by", metavar="NAME", help="your name for the record; default: your login name")
        _forms(reply)


def _dispatch(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    plan = actions.add("plan", "show who would do which task and why, and every odd line; nothing runs")
    plan.add_argument("tasks", metavar="TASKS.md", type=Path, help="spec-kit's file of tasks")
    _flag(plan, "--json", "{tasks, diagnostics}")
    run = actions.add(
        "run",
        "run the tasks that are not done, each in a worktree of its own; what stays in its scope lands on the branch",
        epilog=DISPATCH_CODES,
    )
    run.add_argument("tasks", metavar="TASKS.md", type=Path, help="spec-kit's file of tasks")
    _list(run, "--task", "T001", "wanted", "run this task only; may be repeated")
    _flag(run, "--json", "{tasks: [{id, role, status, changed, refused}]}")
    status = actions.add("status", "list the tasks that were dispatched, and where each is")
    status.add_argument("--feature", metavar="F", default="", help="those of this feature only")
    _flag(status, "--json", "{tasks: [{id, role, status, changed, refused, feature, reason, ...}]}")
    for name, text in (
        ("log", "show what happened to a task, event by event"),
        (
            "show",
            "show the latest attempt at a task: its verdict, what its agent printed, and its difference",
        ),
    ):
        about = actions.add(name, text)
        about.add_argument("task", metavar="T001", help="the task's id")
        about.add_argument(
            "--feature", metavar="F", default="", help="its feature, where several have that id"
        )
        _flag(about, "--json", "one event a line" if name == "log" else "the record")


def _retro(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    command.otherwise = "show"
    show = actions.add("show", "print the retrospective of a feature; `kr retro FEATURE` is short for it")
    show.add_argument("feature", metavar="FEATURE", help="the feature")
    show.add_argument(
        "--compare", metavar="OTHER", help="an earlier feature: show both, and the questions that both asked"
    )
    form = show.add_mutually_exclusive_group()
    _flag(form, "--json", "print the report as JSON")
    _flag(form, "--html", "print one page of HTML with figures, which needs nothing beside it")
    replay = actions.add(
        "replay",
        "ask a feature's questions again under another configuration, and compare; nothing is written",
    )
    replay.add_argument("feature", metavar="FEATURE", help="the feature")
    replay.add_argument("--against", metavar="FILE", type=Path, required=True, help="the other configuration")
    replay.add_argument(
        "--max-calls", metavar="N", type=_count, default=30, help="how many questions are asked; default: 30"
    )
    _flag(replay, "--json", "{feature, unseen, written, notes}")
    for name, text in (
        ("accept", "write what a recommendation says: show the difference, ask, then change the files"),
        ("revert", "take back what an accepted recommendation has written"),
    ):
        act = actions.add(name, text)
        act.add_argument("id", metavar="ID", help="the recommendation's id, as the retrospective shows it")
        act.add_argument("--feature", metavar="F", default="", help="the feature, where several have that id")
        if name == "accept":
            act.add_argument("--agent", metavar="A", help="the agent that a new rule or fallback names")
            act.add_argument(
                "--seen",
                metavar="N",
                help="write the difference that was shown with this number, and no other; it needs no answer",
            )
        _flag(
            act,
            "--yes",
            "write without asking; what people wrote needs --seen"
            if name == "accept"
            else "write without asking",
        )
        act.add_argument("--by", metavar="NAME", help="your name for the record; default: your login name")


def _expedition(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    run = actions.add("run", "research a question in cycles, and print the answer")
    run.add_argument("query", metavar="QUESTION")
    run.add_argument("--max-cycles", metavar="N", type=int, default=10, help="2 to 10; default: 10")
    run.add_argument(
        "--max-calls",
        metavar="N",
        type=int,
        default=30,
        help="how many searches may leave the machine; 0 for none; default: 30",
    )
    run.add_argument(
        "--max-tokens",
        metavar="N",
        type=int,
        default=200_000,
        help="how many tokens the agent may read and write, the final answer included; default: 200000",
    )
    run.add_argument(
        "--agent",
        metavar="A",
        help="the agent that expands, extracts and writes; default: knowledge_research.agent, or rules without one",
    )
    resume = actions.add("resume", "resume an interrupted expedition")
    for going in (run, resume):
        _flag(going, "--json", "print each update as a line of JSON; the last one has the answer")
    show = actions.add("show", "print an expedition's tree: its axioms and the signals that support them")
    for named in (resume, show):
        named.add_argument("id", metavar="ID", help="such as X3")
    _flag(show, "--json", "print the tree as JSON, with the passages")
    show.add_argument(
        "--export",
        metavar="FILE",
        help="write the report and its quotes to FILE: Markdown (.md), or one page (.html)",
    )
    listing = actions.add("list", "list the expeditions, oldest first")
    _flag(listing, "--json", "print a list")
    note = actions.add("note", "state or correct a fact for later expeditions and research")
    note.add_argument("text", metavar="FACT", nargs="+")
    note.add_argument(
        "--by", metavar="NAME", help="the name of the person who states it; default: your login name"
    )
    _flag(note, "--session", "the fact comes from an ongoing conversation; it counts less")
    _flag(note, "--withdraw", "withdraw a noted fact: FACT in the same words, or its id (A-...)")
    _flag(note, "--json", "print the axiom as JSON")


def _cache(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    listing = actions.add("list", "list the entries")
    _listed(listing, "entries")
    search = actions.add(
        "search", "list the entries that contain all of these words, themselves or in their reports"
    )
    search.add_argument("words", metavar="WORD", nargs="+")
    _listed(search, "entries")
    show = actions.add("show", "print an entry's report")
    show.add_argument("id", metavar="ID", help="the entry's id, or its report's path")
    gc = actions.add(
        "gc", "archive entries that are long unused, and the least recently used beyond the limit"
    )
    _flag(gc, "--json", "print the archived entries as a list")
    restore = actions.add("restore", "bring an archived entry back")
    restore.add_argument("id", metavar="ID", help="the entry's id, or its report's path")
    refresh = actions.add(
        "refresh", "mark entries as stale that describe a different major version than the one in use"
    )
    _flag(refresh, "--json", "print the marked entries as a list")
    actions.add("rebuild", "rebuild the index from the reports; KR keeps the old one as a backup")
    merge = actions.add(
        "merge", "merge two versions of an index into the second file; git runs this", describe=False
    )
    for name, said in (("base", "what both come from"), ("ours", "this side"), ("theirs", "the other side")):
        merge.add_argument(name, metavar=name.upper(), help=said)
    export = actions.add("export", "copy all entries and reports into a folder, as `files` keeps them")
    export.add_argument("target", metavar="DIR", type=Path, help="a folder; what differs there is replaced")
    into = actions.add("import", "copy the entries and reports of such a folder into the knowledge base")
    into.add_argument("origin", metavar="DIR", type=Path, help="a folder with an index.yaml")
    check = actions.add("check", "list faults and stale entries")
    _flag(check, "--ci", "exit with 1 if anything is wrong or stale")
    _flag(check, "--json", "print a list of {kind, location, message, hint}")


def _journal(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    for name, said in (
        ("export", "write the record, cases, expeditions, steps and budgets to a new file"),
        ("import", "read such a file into a journal that is empty"),
    ):
        actions.add(name, said).add_argument("file", metavar="FILE")


def _docs(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    index = actions.add(
        "index", "index folders or files, or update their index; KR reads only new and changed files"
    )
    index.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="a folder or a file; without one, all that is indexed already",
    )
    index.add_argument("--name", metavar="NAME", help="a name for it; default: the name of the folder")
    search = actions.add("search", "search the indexed documents")
    asked = search.add_mutually_exclusive_group(required=True)
    asked.add_argument("query", metavar="QUERY", nargs="?")
    asked.add_argument(
        "--batch", metavar="FILE", help="queries, one per line; prints JSON; - for standard input"
    )
    search.add_argument(
        "--limit", metavar="N", type=_count, default=10, help="hits for each query; default: 10"
    )
    _flag(search, "--json", "a line {query, hits: [{path, locator, score, text}]} for each query")
    listing = actions.add("list", "list the indexed documents")
    _flag(listing, "--json", "a list of {name, paths, files, passages, not_there: [path]}")
    actions.add("remove", "remove a name and its documents from the index").add_argument(
        "name", metavar="NAME"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError("must be a number from 1 to 1000")
    return int(text)


def _listed(command: argparse.ArgumentParser, what: str) -> None:
    _flag(command, "--archived", f"the archived {what} instead")
    _flag(command, "--json", "print a list")


def _lessons(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    show = actions.add("show", "print the lessons of a phase as an agent gets them")
    show.add_argument("--phase", metavar="P", required=True, help=_PHASES)
    show.add_argument("--framework", metavar="F", default="", help="the library that the work is about")
    show.add_argument("--topic", metavar="T", default="", help="what the work is about")
    show.add_argument(
        "--text", metavar="TEXT", default="", help="the task itself; it ranks lessons of the same day"
    )
    _forms(show)
    listing = actions.add("list", "list all lessons")
    _flag(listing, "--json", "a list of {line, date, tags, summary, path}")
    add = actions.add("add", "record a lesson, dated today")
    add.add_argument("summary", metavar="SUMMARY")
    add.add_argument("--phase", metavar="P", required=True, help=_PHASES)
    _list(add, "--tag", "T", "tags", "an additional tag; may be repeated")
    add.add_argument("--ref", metavar="PATH:LINE", help="where to look")


def _init(command: CommandParser) -> None:
    _flag(command, "--force", "overwrite kr.yaml")
    command.add_argument(
        "--client",
        choices=("claude-code", "cursor", "bmad"),
        help="add `kr mcp` to this client, and instructions for its agent; for BMAD, an agent file; shows the difference first",
    )
    _flag(command, "--git", "only tell git how to merge the index; run it in each clone")
    _flag(command, "--yes", "with --client: apply the change without asking")
    _flag(command, "--undo", "with --client: undo the change")


def _log(command: CommandParser) -> None:
    command.add_argument("feature", metavar="FEATURE", nargs="?", default="", help="a feature; else all")
    command.add_argument("--exchange", metavar="ID", default="", help="only this exchange")
    command.add_argument(
        "--topic", metavar="T", default="", help="exchanges about a topic or the topics below it"
    )
    command.add_argument(
        "--agent", metavar="A", default="", help="exchanges with an agent, a person's name, or any `human`"
    )
    command.add_argument("--text", metavar="TEXT", default="", help="exchanges that contain a text")
    _list(command, "--kind", "K", "kinds", "entries of a kind, such as `answer.received` or `escalation.*`; may be repeated")  # fmt: skip
    command.add_argument(
        "--since", metavar="TIME", help="entries from a time on, such as 2026-02-05 or 2026-02-05T10:00"
    )
    command.add_argument("--until", metavar="TIME", help="entries before a time")
    form = command.add_mutually_exclusive_group()
    _flag(form, "--json", "print each entry as a line of JSON")
    _flag(form, "--csv", "print each exchange as a line of CSV")
    _flag(form, "--verify", "check the whole record; exit with 1 if anything is wrong")
    _flag(command, "--follow", "print new entries as they arrive, until Ctrl-C")


def _mcp(command: CommandParser) -> None:
    _flag(command, "--http", "serve streamable HTTP at /mcp instead")
    command.add_argument(
        "--host", metavar="HOST", help="the address on which HTTP listens; default: 127.0.0.1"
    )
    command.add_argument("--port", metavar="PORT", type=int, help="the port; 0 for a free one; default: 8001")
    command.add_argument(
        "--token-env",
        metavar="NAME",
        help="the environment variable with the token that callers must send; required beyond this machine",
    )


def _worker(command: CommandParser) -> None:
    command.add_argument(
        "--queues", metavar="NAMES", help="what to do, with commas: ask, research, upkeep; default: all"
    )
    command.add_argument(
        "--concurrency",
        metavar="N",
        type=int,
        help="how many questions, or parts of a batch, at once; default: 4",
    )
    _flag(command, "--drain", "end when nothing waits")
    command.add_argument(
        "--health",
        metavar="ADDRESS",
        help="say over HTTP whether it is well: a port of this machine, or HOST:PORT; /metrics for Prometheus",
    )


def _batch(command: CommandParser, common: CommandParser) -> None:
    actions = _Commands(command, common, "action", "ACTION")
    listing = actions.add("list", "list the batches, oldest first")
    _flag(listing, "--json", "a list of {id, status, requests, chunks, chunks_ended, cost_usd, max_cost_usd}")
    actions.add("pause", "let no further request of a batch begin").add_argument("id", metavar="ID")
    resume = actions.add("resume", "let a batch go on")
    resume.add_argument("id", metavar="ID")
    _max_cost(resume)


def _max_cost(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--max-cost",
        metavar="USD",
        type=_usd,
        help="pause a batch of workers when its answers have cost as much as this",
    )


def _usd(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError("must be a number of dollars")
    return value


def _serve(command: CommandParser) -> None:
    command.add_argument("--host", metavar="HOST", help="the address on which it listens; default: 127.0.0.1")
    command.add_argument("--port", metavar="PORT", type=int, help="the port; 0 for a free one; default: 8420")
    command.add_argument(
        "--token-env",
        metavar="NAME",
        help="the environment variable with the token that people and programs must send; required beyond this machine",
    )
    command.add_argument(
        "--url", metavar="URL", help="the public address, if it differs, for example behind a proxy"
    )


def _forms(command: argparse.ArgumentParser) -> None:
    form = command.add_mutually_exclusive_group()
    _flag(form, "--json", "print the result as JSON")
    _flag(form, "--yaml", "print the result as YAML")
