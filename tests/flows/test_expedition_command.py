"""`kr expedition`: what it prints where, its notes, and its exit codes."""

import fcntl
import json
import signal
import subprocess

import pytest
from support.fork_server import kr_argv

COMMAND = "How long does parcel wait for a carrier, and how is a parcel followed?"


@pytest.fixture
def parcels(project_folder):
    """The project with documentation of its package only."""
    (project_folder / "kr.yaml").write_text("knowledge_research: {sources: [installed_docs]}\n")
    return project_folder


@pytest.mark.req("E1", "E9", "I1")
def test_the_command_in_a_pipe(kr, kr_here, parcels):
    """The answer on standard output, what happens on standard error; listed, shown, resumed; JSON lines end with the result."""
    done = kr("expedition", "run", COMMAND)
    assert done.code == 0, done
    assert "parcel is not installed" not in done.err
    assert done.out.startswith(f"# {COMMAND}\n")
    assert "Seconds to wait for the carrier" in done.out
    assert "pkg:pypi/parcel@1.4.0 parcel/__init__.py:" in done.out
    assert "cycle 2" in done.err
    assert "Its tree: kr expedition show X1" in done.err
    assert "DOCUMENT 0.95 pkg:pypi/parcel@1.4.0" in kr_here("expedition", "show", "X1").out
    assert COMMAND in kr_here("expedition", "list").out
    again = kr("expedition", "resume", "X1")
    assert again.out == done.out
    assert "X1 has ended already" in again.err
    assert "cycle" not in again.err.partition("X1:")[0]
    (last,) = [json.loads(line) for line in kr_here("expedition", "resume", "X1", "--json").out.splitlines()]
    assert set(last) >= {"type", "reason", "cycles", "tokens", "axioms", "sources", "answer"}
    assert last["type"] == "finished"
    assert last["answer"] == done.out
    assert all(axiom["signals"] for axiom in last["axioms"])


@pytest.mark.req("E1", "I1")
def test_updates_as_lines_of_json(kr_here, parcels):
    """With --json each update is a line on standard output; the last one has the answer."""
    streamed = kr_here("expedition", "run", COMMAND, "--json")
    kinds = [json.loads(line)["type"] for line in streamed.out.splitlines()]
    assert (kinds[0], kinds[-1]) == ("started", "finished")
    assert {"cycle_started", "sub_queries", "source_hit", "axiom_found", "convergence", "synthesis"} <= set(
        kinds
    )


@pytest.mark.req("E3", "I1")
def test_notes_and_mistakes_of_the_command(kr_here, parcels):
    """A note is an axiom; what cannot be done is one line and exit code 2, what finds nothing is 4."""
    noted = kr_here("expedition", "note", "A parcel", "is given up after 5.0 seconds.", "--by", "ada")
    assert noted.code == 0, noted
    assert noted.out.startswith("A-")
    assert "80/100" in noted.out
    other = kr_here("expedition", "note", "A parcel is given up after 9.0 seconds.", "--by", "eve")
    assert "It conflicts with A-" in other.err
    withdrawn = kr_here("expedition", "note", "--withdraw", "A parcel is given up after 9.0 seconds.")
    assert withdrawn.out.startswith("A-")
    assert " withdrawn: A parcel" in withdrawn.out
    heard = kr_here("expedition", "note", "The shop closes at noon on Fridays.", "--session")
    assert "50/100" in heard.out
    nothing = kr_here("expedition", "run", "zyzzyva quokka marmalade", "-q")
    assert nothing.code == 4
    assert "Nothing was found" in nothing.out
    near = kr_here(
        "expedition", "run", "How long does parcel wait for a carrier with a broken telescope?", "--json"
    )
    assert near.code == 4
    last = json.loads(near.out.splitlines()[-1])
    assert (last["answered"], bool(last["axioms"])) == (False, True)
    assert kr_here("expedition", "resume", last["id"]).code == 4
    for wrong in (("show", "X99"), ("run", "parcels", "--max-cycles", "1")):
        done = kr_here("expedition", *wrong)
        assert done.code == 2, done
        assert done.err.startswith("kr: ")
        assert done.err.count("\n") == 1


@pytest.mark.req("E8", "I1")
def test_an_interrupt_tells_how_to_go_on(parcels, environ):
    """What was found is kept, under an id that is told."""
    process = subprocess.Popen(
        kr_argv(environ, "expedition", "run", COMMAND, "--json", "--quiet"),
        cwd=parcels,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A job in the background starts its children deaf to this signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509  nothing else sets it
    )
    fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)  # it cannot end before somebody reads what it says
    assert json.loads(process.stdout.readline())["id"] == "X1"
    process.send_signal(signal.SIGINT)
    _out, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (
        130,
        b"X1 is saved; `kr expedition resume X1` goes on\nkr: interrupted\n",
    )
