"""The command line's grammar."""

from __future__ import annotations

import argparse
from pathlib import Path

from kr_core._version import __version__

EXIT_CODES = """exit codes: 0 an answer (its status says how good); 1 unforeseen; 2 wrong use, configuration or request;
3 a plugin could not be loaded; 4 no content; 5 waiting for a human; 129, 130, 131, 143 ended by a signal"""

INBOX_CODES = """exit codes: 0 done; 2 refused, with the reason; 5 it waits still"""

_PHASES = "one of story-creation, story-review, dev-execution, code-review, e2e-inspection"  # pydantic is slow to import


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; options of the root stand before or after the subcommand."""
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    _root_options(common, suppress=True)
    root = argparse.ArgumentParser(
        prog="kr",
        description="Technical questions answered once, well, and with their sources.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    root.add_argument("-V", "--version", action="version", version=f"kr {__version__}")
    _root_options(root, suppress=False)
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _research(_bare(commands, common, "research", "answer a question about a library", epilog=EXIT_CODES))
    _ask(
        _bare(
            commands,
            common,
            "ask",
            "ask an agent, or a human where no agent is sure enough",
            epilog=EXIT_CODES,
        )
    )
    _inbox(
        _with(
            commands,
            common,
            "inbox",
            "see and answer the questions that wait for a human",
            epilog=INBOX_CODES,
        ),
        common,
    )
    _expedition(
        _bare(
            commands,
            common,
            "expedition",
            "research a large question in cycles, every fact with its sources, until nothing new comes",
            epilog=EXIT_CODES,
        ),
        common,
    )
    route = _with(commands, common, "route", "say where a question would go; nobody is asked")
    _question(route)
    route.add_argument(
        "--explain", action="store_true", help="with what decided: the rule, its file and line"
    )
    route.add_argument("--json", action="store_true", help="print the route as JSON")
    _with(commands, common, "verify", "check reports' quotes against the kept passages").add_argument(
        "reports",
        metavar="REPORT",
        nargs="+",
        help="a report's file, its path in the knowledge base, or the entry's id",
    )
    versions = _with(commands, common, "versions", "show the versions in use and where each was found")
    versions.add_argument("name", metavar="NAME", nargs="?")
    versions.add_argument("--json", action="store_true", help="a list of {name, version, from}")
    _cache(_bare(commands, common, "cache", "look into the knowledge base, and keep it in order"), common)
    _docs(_bare(commands, common, "docs", "index documents of your own, and search them"), common)
    _lessons(_bare(commands, common, "lessons", "hand out, list and record what went wrong once"), common)
    _with(
        commands,
        common,
        "team",
        "stay up and answer a team's research requests, a message a line on standard input and output",
    ).add_argument(
        "--session",
        metavar="ID",
        dest="session_id",
        help="the session whose budgets are spent; else a new one",
    )
    _log(
        _with(
            commands,
            common,
            "log",
            "show what agents and people were asked and answered, and check that the whole record is in order",
        )
    )
    _mcp(_with(commands, common, "mcp", "serve other agents as an MCP server, on standard input and output"))
    _serve(
        _with(
            commands,
            common,
            "serve",
            "serve the inbox as a page and an API over HTTP, and do what is due by the way",
        )
    )
    _with(
        commands,
        common,
        "plugins",
        "list the plugins that are installed; with -v what each provides, and what is wrong with it",
    ).add_argument("--json", action="store_true", help="print a list")
    doctor = _with(
        commands,
        common,
        "doctor",
        "check installation, configuration, plugins, stores and network, and say what to do",
    )
    doctor.add_argument("--json", action="store_true", help="print a list")
    _init(_with(commands, common, "init", "write a configuration to start from, or tell a client of KR"))
    trust = _with(
        commands, common, "trust", "allow the programs and addresses in the project's configuration"
    )
    trust.add_argument("--forget", action="store_true", help="allow them no longer")
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
        "-q", "--quiet", action="store_true", default=default or False, help="nothing but the answer"
    )


def _with(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    common: argparse.ArgumentParser,
    name: str,
    text: str,
    epilog: str | None = None,
) -> argparse.ArgumentParser:
    command = _bare(commands, common, name, text, epilog)
    command.description = text[0].upper() + text[1:] + "."
    return command


def _bare(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    common: argparse.ArgumentParser,
    name: str,
    text: str,
    epilog: str | None = None,
) -> argparse.ArgumentParser:
    """A command without a description: it has one of its own, or its actions say what it does."""
    return commands.add_parser(
        name,
        parents=[common],
        help=text,
        epilog=epilog,
        allow_abbrev=False,  # `--sess` would pass by what looks for `--session`
    )


def _research(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Answer a question from the knowledge base or, if it is not there, from the sources."
    )
    command.add_argument("question", metavar="QUESTION", nargs="?")
    command.add_argument(
        "--framework", metavar="F", help="the library asked about; else told from the question"
    )
    command.add_argument(
        "--version", metavar="V", dest="framework_version", help="its version; else the one in use"
    )
    command.add_argument("--topic", metavar="T", help="the topic to file the answer under")
    command.add_argument(
        "--tag", metavar="T", dest="tags", action="append", default=[], help="a tag; may be repeated"
    )
    command.add_argument("--story", metavar="3-1", dest="story_key", help="the story whose budget is spent")
    command.add_argument("--session", metavar="ID", dest="session_id", help="the session of that budget")
    command.add_argument("--max-calls", metavar="N", type=int, help="external calls that this run may take")
    command.add_argument("--timeout", metavar="S", type=int, help="seconds for each source")
    command.add_argument("--refresh", action="store_true", help="ask the sources though the answer is known")
    source = command.add_mutually_exclusive_group()
    source.add_argument("--request", metavar="FILE", help="a request as YAML or JSON; - for standard input")
    source.add_argument(
        "--batch", metavar="FILE", help="requests or questions, one JSON value a line; - for standard input"
    )
    _forms(command)


def _ask(command: argparse.ArgumentParser) -> None:
    command.description = "Ask a question of the agent that the rules say; its answer is accepted if it is sure enough, else a human decides."
    _question(command)
    command.add_argument("--id", metavar="ID", help="the question's own id, which others may depend on")
    command.add_argument(
        "--depends-on",
        metavar="ID",
        dest="depends_on",
        action="append",
        default=[],
        help="an answered question of the feature whose answer joins the context; may be repeated",
    )
    command.add_argument(
        "--from",
        metavar="FILE",
        dest="source",
        help="ask what spec-kit left open in a file, and write the answers into it; or a JSON list of questions",
    )
    command.add_argument(
        "--wait",
        action="store_true",
        help="wait until a human has answered, by whatever way, where it comes to that",
    )
    _forms(command)


def _question(command: argparse.ArgumentParser) -> None:
    command.add_argument("question", metavar="QUESTION", nargs="?")
    command.add_argument("--topic", metavar="T", help="what it is about, such as security/oauth")
    command.add_argument(
        "--target",
        metavar="R",
        dest="targets",
        action="append",
        default=[],
        help="who should answer: a role, an agent or human; several agents are compared",
    )
    command.add_argument("--feature", metavar="ID", help="the feature that it belongs to")
    command.add_argument("--context", metavar="TEXT", help="what the agent should know")
    command.add_argument(
        "--choice",
        metavar="A",
        dest="choices",
        action="append",
        default=[],
        help="an answer to choose; may be repeated",
    )


def _inbox(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = _with(actions, common, "list", "list what waits, oldest first")
    listing.add_argument("--all", action="store_true", help="what is answered, too")
    listing.add_argument("--json", action="store_true", help="print a list")
    show = _with(actions, common, "show", "show all that is known of a question, and how to answer it")
    show.add_argument("id", metavar="ID", help="such as E7")
    show.add_argument("--json", action="store_true", help="{id, status, revision, case, resolution}")
    poll = _with(
        actions, common, "poll", "do once all that is due: show, read replies, tell, remind, keep time limits"
    )
    poll.add_argument("--json", action="store_true", help="what was done, as JSON")
    for name, text, what, about in (
        ("confirm", "say that the agent's answer is right", "", ""),
        ("correct", "give the answer", "TEXT", "the answer; - for standard input"),
        ("context", "ask the agent again, which should know this as well", "TEXT", "what it should know; - for standard input"),
        ("choose", "choose one of the answers", "CHOICE", "its letter, or the choice itself"),
        ("chat", "talk with the agent about the question before you decide", "", ""),
    ):  # fmt: skip
        reply = _with(actions, common, name, text)
        reply.add_argument(
            "id", metavar="ID[@REVISION]", help="such as E7@2: the second answer to it; without @2 the latest"
        )
        if what:
            reply.add_argument("text", metavar=what, nargs="+", help=about)
        reply.add_argument("--by", metavar="NAME", help="who you are, for the record; else your login name")
        _forms(reply)


def _expedition(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    run = _with(actions, common, "run", "research a question in cycles, and print the answer")
    run.add_argument("query", metavar="QUESTION")
    run.add_argument("--max-cycles", metavar="N", type=int, default=10, help="2 to 10; else 10")
    run.add_argument(
        "--max-calls",
        metavar="N",
        type=int,
        default=30,
        help="searches that may leave the machine; else 30, and 0 for none",
    )
    run.add_argument(
        "--max-tokens",
        metavar="N",
        type=int,
        default=200_000,
        help="what the agent may read and write, its ending included; else 200000",
    )
    run.add_argument(
        "--agent",
        metavar="A",
        help="the agent that expands, extracts and writes; else knowledge_research.agent, and rules without one",
    )
    resume = _with(actions, common, "resume", "go on with an expedition that was ended before its end")
    for going in (run, resume):
        going.add_argument(
            "--json", action="store_true", help="a line of JSON for each update; the last one has the answer"
        )
    show = _with(
        actions, common, "show", "print an expedition's tree: its axioms, and what says each of them"
    )
    for named in (resume, show):
        named.add_argument("id", metavar="ID", help="such as X3")
    show.add_argument("--json", action="store_true", help="the same as JSON, with the passages")
    listing = _with(actions, common, "list", "list the expeditions, oldest first")
    listing.add_argument("--json", action="store_true", help="print a list")
    note = _with(actions, common, "note", "state or correct a fact, which later expeditions and research use")
    note.add_argument("text", metavar="FACT", nargs="+")
    note.add_argument("--by", metavar="NAME", help="who says so; else your login name")
    note.add_argument(
        "--session", action="store_true", help="it was only said in a conversation that runs; it counts less"
    )
    note.add_argument(
        "--withdraw",
        action="store_true",
        help="take back what was noted: FACT in the same words, or its id (A-...)",
    )
    note.add_argument("--json", action="store_true", help="print the axiom as JSON")


def _cache(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = _with(actions, common, "list", "list the entries")
    _listed(listing, "entries")
    search = _with(
        actions, common, "search", "list the entries that hold all of these words, or whose reports do"
    )
    search.add_argument("words", metavar="WORD", nargs="+")
    _listed(search, "entries")
    show = _with(actions, common, "show", "print an entry's report")
    show.add_argument("id", metavar="ID", help="the entry's id, or its report's path")
    gc = _with(
        actions,
        common,
        "gc",
        "archive what was not used for too long, and the least recently used beyond the limit",
    )
    gc.add_argument("--json", action="store_true", help="print the archived entries as a list")
    restore = _with(actions, common, "restore", "bring an archived entry back")
    restore.add_argument("id", metavar="ID", help="the entry's id, or its report's path")
    refresh = _with(
        actions,
        common,
        "refresh",
        "mark as stale what was written for another major version than the one in use",
    )
    refresh.add_argument("--json", action="store_true", help="print the marked entries as a list")
    _with(actions, common, "rebuild", "make the index anew from the reports; the old one is set aside")
    check = _with(actions, common, "check", "list what is wrong, and what is stale")
    check.add_argument("--ci", action="store_true", help="exit with 1 where anything is wrong or stale")
    check.add_argument("--json", action="store_true", help="print a list of {kind, location, message, hint}")


def _docs(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    index = _with(
        actions,
        common,
        "index",
        "index folders or files, or bring what is indexed up to date; only what is new or changed is read",
    )
    index.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="a folder or a file; without one, all that is indexed already",
    )
    index.add_argument("--name", metavar="NAME", help="what to call it; else as the folder is called")
    search = _with(actions, common, "search", "search what is indexed")
    asked = search.add_mutually_exclusive_group(required=True)
    asked.add_argument("query", metavar="QUERY", nargs="?")
    asked.add_argument(
        "--batch", metavar="FILE", help="queries, one a line; answered as JSON; - for standard input"
    )
    search.add_argument("--limit", metavar="N", type=_count, default=10, help="hits for a query; else 10")
    search.add_argument(
        "--json",
        action="store_true",
        help="a line {query, hits: [{path, locator, score, text}]} for each query",
    )
    listing = _with(actions, common, "list", "list what is indexed")
    listing.add_argument(
        "--json", action="store_true", help="a list of {name, paths, files, passages, not_there: [path]}"
    )
    _with(actions, common, "remove", "take out of the index what was indexed under a name").add_argument(
        "name", metavar="NAME"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError("must be a number from 1 to 1000")
    return int(text)


def _listed(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--archived", action="store_true", help=f"the archived {what} instead")
    command.add_argument("--json", action="store_true", help="print a list")


def _lessons(command: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = _with(actions, common, "show", "print the lessons of a phase as an agent is handed them")
    show.add_argument("--phase", metavar="P", required=True, help=_PHASES)
    show.add_argument("--framework", metavar="F", default="", help="the library that the work is about")
    show.add_argument("--topic", metavar="T", default="", help="what the work is about")
    show.add_argument(
        "--text", metavar="TEXT", default="", help="the task itself; lessons of a day are ranked by it"
    )
    _forms(show)
    listing = _with(actions, common, "list", "list all lessons")
    listing.add_argument("--json", action="store_true", help="a list of {line, date, tags, summary, path}")
    add = _with(actions, common, "add", "record a lesson, dated today")
    add.add_argument("summary", metavar="SUMMARY")
    add.add_argument("--phase", metavar="P", required=True, help=_PHASES)
    add.add_argument(
        "--tag", metavar="T", dest="tags", action="append", default=[], help="a further tag; may be repeated"
    )
    add.add_argument("--ref", metavar="PATH:LINE", help="where to look")


def _init(command: argparse.ArgumentParser) -> None:
    command.add_argument("--force", action="store_true", help="overwrite kr.yaml")
    command.add_argument(
        "--client",
        choices=("claude-code", "cursor"),
        help="tell this client of `kr mcp`, and its agent of when and how to ask; the difference is shown first",
    )
    command.add_argument("--yes", action="store_true", help="with --client: apply it without asking")
    command.add_argument("--undo", action="store_true", help="with --client: take it out again")


def _log(command: argparse.ArgumentParser) -> None:
    command.add_argument("feature", metavar="FEATURE", nargs="?", default="", help="a feature; else all")
    command.add_argument("--exchange", metavar="ID", default="", help="an exchange alone")
    command.add_argument("--topic", metavar="T", default="", help="exchanges about a topic, or one below it")
    command.add_argument(
        "--agent",
        metavar="A",
        default="",
        help="exchanges in which an agent, a person by name, or any `human` has a part",
    )
    command.add_argument("--text", metavar="TEXT", default="", help="exchanges in which a text stands")
    command.add_argument(
        "--kind", metavar="K", dest="kinds", action="append", default=[],
        help="entries of a kind, as `answer.received` or `escalation.*`; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--since", metavar="TIME", help="entries from a time on, as 2026-02-05 or 2026-02-05T10:00"
    )
    command.add_argument("--until", metavar="TIME", help="entries before a time")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="each entry as JSON, one a line")
    form.add_argument("--csv", action="store_true", help="each exchange as a line of CSV")
    form.add_argument(
        "--verify", action="store_true", help="check the whole record; exit with 1 where anything is wrong"
    )
    command.add_argument(
        "--follow", action="store_true", help="go on with entries as they come, until Ctrl-C"
    )


def _mcp(command: argparse.ArgumentParser) -> None:
    command.add_argument("--http", action="store_true", help="serve streamable HTTP at /mcp instead")
    command.add_argument("--host", metavar="HOST", help="where HTTP listens; else 127.0.0.1")
    command.add_argument("--port", metavar="PORT", type=int, help="its port; else 8001, and 0 for a free one")
    command.add_argument(
        "--token-env",
        metavar="NAME",
        help="the environment variable that holds the token which callers must send; needed beyond this machine",
    )


def _serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--host", metavar="HOST", help="where it listens; else 127.0.0.1")
    command.add_argument("--port", metavar="PORT", type=int, help="its port; else 8420, and 0 for a free one")
    command.add_argument(
        "--token-env",
        metavar="NAME",
        help="the environment variable that holds the token which people and programs must know; needed beyond this machine",
    )
    command.add_argument(
        "--url",
        metavar="URL",
        help="the address under which people reach it, where that is another, as behind a proxy",
    )


def _forms(command: argparse.ArgumentParser) -> None:
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the result as JSON")
    form.add_argument("--yaml", action="store_true", help="print the result as YAML")
