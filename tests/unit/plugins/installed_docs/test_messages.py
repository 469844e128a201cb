"""The messages of errors and warnings in a package's source, and the questions that quote them."""

import asyncio
import textwrap

import pytest
from support.source_context import SourceContext

from kr_core.evidence.summary import compose
from kr_core.model import ResearchQuery
from kr_plugins.scorers.evidence import Evidence
from kr_plugins.sources.installed_docs import InstalledDocs
from kr_plugins.sources.installed_docs.python.error_messages import message_passages

BOX = {
    "box/__init__.py": '''\
        """Boxes, and how things are put into them."""

        from ._put import BoxError, put
        ''',
    "box/_put.py": '''\
        import warnings

        _no_lid_msg = """\\
        Working without a lid on the box.

        This means that you used something that needs the lid. To solve
        this, put the lid on with box.close(). See the manual for more.\\
        """

        class BoxError(Exception):
            """Raised when a thing does not fit into a box."""

        def put(thing, size, room):
            """Put a thing into the box."""
            if size > room:
                raise BoxError(
                    f"The thing {thing!r} is larger than the box has room. "
                    "Use a larger box, or box.cut(thing) before."
                )
            if room < 0:
                raise ValueError("The room of the box %s must not be negative: %d" % (thing, room))
            warnings.warn("put() without a name for the thing is slow", DeprecationWarning)
            lid(_no_lid_msg)
            raise AttributeError(f"{type(thing)!r} object has no attribute {size!r}")
        ''',
}


POINTING = '''\
"""Crates."""

class Config:
    """How crates are checked."""

    strict: bool = True
    """Whether a crate that is wet is refused by all checks, wherever they are made. Defaults to `True`."""

class Crate:
    """A crate."""

    def check(self, strict: bool = None):
        """Check the crate.

        Args:
            strict: Whether to be strict. See the [`strict` setting][crate.Config.strict] for details.
        """
'''


@pytest.fixture
def ask(tmp_path, install, project):
    """Asks about the package `box`."""
    install("box", BOX)

    def asking(question):
        query = ResearchQuery(
            framework="box", framework_version="1.2.0", topic="errors", tags=("t",), question=question
        )
        found = asyncio.run(InstalledDocs(tmp_path / "cache").query(query, SourceContext(project())))
        return query, found

    return asking


def said(read, source):
    return [(one.text, one.error, one.where) for one in read(source).messages]


@pytest.mark.req("A1")
def test_the_messages_of_a_module_are_read(read):
    """Strings that are raised or warned with are kept, holes as dots, with their class and place."""
    found = read(BOX["box/_put.py"]).messages
    assert [(one.text, one.error, one.where) for one in found[:3]] == [
        (
            "The thing ... is larger than the box has room. Use a larger box, or box.cut(thing) before.",
            "BoxError",
            "put",
        ),
        ("The room of the box ... must not be negative: ...", "ValueError", "put"),
        ("put() without a name for the thing is slow", "DeprecationWarning", "put"),
    ]
    assert found[4].text.startswith("Working without a lid on the box.\n\nThis means")
    assert (found[4].error, found[4].line, len(found)) == ("", 3, 5)
    assert found[0].line == 17


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "source",
    [
        'raise ValueError("The size must be positive, not {}".format(n))',
        'raise ValueError(_("The size must be positive, not %(n)s") % n)',
        'raise ValueError("The size must be " + "positive, not " + n)',
        'msg = (f"The size must be "\n    f"positive, not {n}")\nraise ValueError(msg)',
        'if n:\n    _SIZE = "The size must be positive, not %s"\nraise ValueError(_SIZE % n)',
        'return ValueError("a", reason=f"The size must be positive, not {n}")',
        'error = ValueError(f"The size must be positive, not {n}")',
    ],
)
def test_the_ways_to_make_a_message(read, source):
    """A message is the same however the source puts it together."""
    function = "def check(n):\n" + textwrap.indent(source, "    ")
    assert said(read, function) == [("The size must be positive, not ...", "ValueError", "check")]


@pytest.mark.req("A1")
def test_what_is_not_a_message_is_left_out(read):
    """Short strings, holes alone, other calls and plain constants are not messages."""
    source = """\
        TITLE = "A title of the page that is longer than forty characters"
        def run(n):
            print("This is printed and never raised by anything")
            raise ValueError("Too short")
            raise ValueError(f"{n} {n} {n} {n} {n}")
            raise KeyError(n)
            raise
        """
    assert said(read, source) == []


@pytest.mark.req("A1", "A2")
@pytest.mark.parametrize(
    "question",
    [
        "box BoxError: The thing 'ball' is larger than the box has room.",
        "BoxError: The thing 'ball' is larger than the box has room. Use a larger box, or box.cut(thing) before.",
        (
            'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    put(ball)\n'
            "box._put.BoxError: The thing <Ball at 0x7f00> is larger than the box\n has room. Use a larger box"
        ),
        "box.MissingRoom: The thing 'ball' is larger than the box has room. Is it?",
        "Why do I get 'is larger than the box has room' when I put a ball?",
    ],
)
def test_a_quoted_message_is_answered_with_its_advice_and_its_class(ask, question):
    """The message comes first, with what it says to do and where it stands; the class comes after it."""
    query, found = ask(question)
    first, second = found.passages[:2]
    assert first.title == "BoxError in box._put.put"
    assert (first.pinned, first.coverage, first.locator) == (True, 1.0, "box/_put.py:17")
    assert second.symbol == "box.BoxError"
    summary = " ".join(claim.text for claim in compose(query, [("installed_docs", found)]).summary)
    assert "Use a larger box, or box.cut(thing) before." in summary
    assert "Raised when a thing does not fit into a box." in summary


@pytest.mark.req("A2", "A3")
def test_a_message_shows_where_it_is_raised_and_what_it_names(install, project, tmp_path):
    """The condition and the statement as they are in the source, then the documented names of the message and what raises it."""
    install(
        "crate",
        {
            "crate/__init__.py": '''\
                """Crates."""

                class Crate:
                    """A crate."""

                    max_weight: int = 10
                    """How much a crate carries, in kilograms."""

                    def load(self, thing, strict=True):
                        """Load a thing into the crate.

                        Args:
                            thing: what is loaded.
                            strict: whether a heavy thing is refused.
                        """
                        if strict and thing.weight > self.max_weight:
                            # a crate breaks
                            raise ValueError(f"The {thing} is too heavy for this: set max_weight, or strict_mode")
                        raise OSError("The crate stands in the rain and is wet")
                '''
        },
    )
    query = ResearchQuery(
        framework="crate", framework_version="1.2.0", topic="errors", tags=("t",),
        question="ValueError: The anvil is too heavy for this: set max_weight, or strict_mode",
    )  # fmt: skip
    found = asyncio.run(InstalledDocs(tmp_path / "cache").query(query, SourceContext(project())))
    assert [one.symbol for one in found.passages[:3]] == [None, "crate.Crate.max_weight", "crate.Crate.load"]
    draft = compose(query, [("installed_docs", found)])
    assert [one.code.split("\n")[0] for one in draft.summary_code] == [
        "if strict and thing.weight > self.max_weight:"
    ]
    assert draft.citations[draft.summary_code[0].citation - 1].locator == "crate/__init__.py:16"
    alone = query.model_copy(update={"question": "OSError: The crate stands in the rain and is wet"})
    found = asyncio.run(InstalledDocs(tmp_path / "cache").query(alone, SourceContext(project())))
    assert not compose(alone, [("installed_docs", found)]).summary_code, (
        "what is always raised has no condition"
    )


@pytest.mark.req("A2", "A8")
@pytest.mark.parametrize(
    ("question", "is_low"),
    [
        ("BoxError: The thing 'ball' is larger than the box has room. Use a larger box, or box.cut(thing) before.", True),
        ("BoxError: The thing 'ball' is larger than the box has room.", False),
    ],
)  # fmt: skip
def test_a_message_that_only_comes_back_is_not_sure_to_help(ask, question, is_low):
    """The reader has the message already; what it says beyond the pasted part may help."""
    query, found = ask(question)
    findings = [("installed_docs", found)]
    assert (Evidence().score(query, findings, compose(query, findings)).level == "low") is is_low


@pytest.mark.req("A2")
def test_the_first_line_of_a_long_message_finds_its_advice(ask):
    """Of a message of several paragraphs the first line is enough; all of it is shown."""
    query, found = ask("box RuntimeError: Working without a lid on the box.")
    assert found.passages[0].title == "Message in box._put"
    summary = " ".join(claim.text for claim in compose(query, [("installed_docs", found)]).summary)
    assert "To solve this, put the lid on with box.close()." in summary
    assert "See the manual for more." in summary


@pytest.mark.req("A1")
def test_a_message_of_another_version_comes_second(ask):
    """A message that has most of the words in order is shown, but not as what was quoted."""
    _query, found = ask("ValueError: The room of a box must never be negative: -3")
    places = [number for number, one in enumerate(found.passages) if one.what == "message"]
    assert len(places) == 1
    assert found.passages[places[0]].title == "ValueError in box._put.put"
    assert not found.passages[places[0]].pinned
    assert places[0] <= 1


@pytest.mark.req("A1", "A3")
def test_beside_a_quoted_message_is_only_what_belongs_to_it(ask, install):
    """What shares words with the text of an error is about something else."""
    sort = textwrap.indent(
        'def sort(larger=True):\n    """Sort a box: a larger thing has less room."""\n', " " * 8
    )
    install("box", {**BOX, "box/_put.py": f"{BOX['box/_put.py'].rstrip(' ')}{sort}"})
    _query, found = ask("BoxError: The thing 'ball' is larger than the box has room.")
    assert [one.symbol for one in found.passages] == [None, "box.BoxError"]


@pytest.mark.req("A2")
def test_the_words_that_ask_for_a_default_name_nothing(install, ask_about):
    """A class that is called so is not what a port is."""
    source = """\
        '''Servers.'''

        class DefaultFormatter:
            def form(self): ...

        def run(app, port=8000, host="127.0.0.1"):
            '''Run an application.'''
        """
    install("kiosk", {"kiosk/__init__.py": source})
    summary, _level = ask_about("kiosk", "What port does kiosk listen on by default?")[:2]
    assert "DefaultFormatter" not in summary.partition("kiosk.run")[0]
    assert "8000" in summary


@pytest.mark.req("A1")
def test_a_message_of_another_version_comes_first_with_its_class(ask):
    """The class beside it says that it is this one."""
    question = "BoxError: The thing 'ball' is larger than this box has room. Take a larger one, or box.fold(thing) before."
    _query, found = ask(question)
    assert found.passages[0].title == "BoxError in box._put.put"
    assert not found.passages[0].pinned


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "question",
    [
        "How do I put a thing into the box?",
        "What is the room of the box?",
        "What does BoxError mean?",
        "How do I catch BoxError?",
        "box KeyError: 'ball'",
        "AttributeError: 'Box' object has no attribute 'cut'",
        "Note: How do I give a thing a name in the box?",
    ],
)
def test_other_questions_never_meet_a_message(ask, question):
    """No message is among the passages of a question that quotes none."""
    _query, found = ask(question)
    assert all(one.what != "message" for one in found.passages)


@pytest.mark.req("Z8")
def test_messages_are_bounded(read):
    """However many messages and strings a module has, few are kept, and they are found in bounded time."""
    many = "".join(
        f'    raise ValueError("The message of number {n} is one of many")\n' for n in range(7_000)
    )
    module = read("def run():\n" + many)
    notes = []
    assert len(module.messages) == 6_000
    assert len(list(message_passages([module, read("", "other", "other.py")], notes))) == 6_000
    module.messages.append(module.messages[0]._replace(text="One message more than there may be"))
    assert len(list(message_passages([module], notes))) == 6_000
    assert notes == ["more than 6,000 error messages, the rest left out"]
    assert said(read, f'raise ValueError("a long message of words {"x " * 1_000}")') == []


@pytest.mark.req("A1", "A2")
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does strict do in crate?", "crate.Config.strict"),
        ("What does the strict argument of Crate.check do in crate?", "crate.Crate.check"),
    ],
)
def test_a_parameter_that_points_to_a_setting_comes_after_it(install, project, tmp_path, question, first):
    """Unless the question names what takes the parameter."""
    install("crate", {"crate/__init__.py": POINTING})
    query = ResearchQuery(
        framework="crate", framework_version="1.2.0", topic="t", tags=("t",), question=question
    )
    found = asyncio.run(InstalledDocs(tmp_path / "cache").query(query, SourceContext(project())))
    assert found.passages[0].symbol == first


@pytest.mark.req("A8")
def test_the_class_of_an_error_alone_is_no_remedy(install, ask_about):
    """What it is called and that it is raised the reader knows from the error itself."""
    source = '"""Crates."""\n\n\nclass CrateLostError(Exception):\n    """Signals that a crate was lost. This typically aborts any handling."""\n'
    install("crates", {"crates/__init__.py": source})
    assert ask_about("crates", "crates.CrateLostError: crate 17")[1] == "low"


@pytest.mark.req("Z3", "R9")
def test_a_lone_surrogate_in_a_literal_hides_nothing(install, ask_about):
    """No file can hold one; the rest of the package is read all the same."""
    source = r'''
        import warnings

        def pack(crate):
            """Pack a crate."""
            if crate is None:
                raise ValueError("nothing to pack \ud800 here")

        def old():
            """Pack as before."""
            warnings.warn("old \udfff is deprecated, use pack", DeprecationWarning)
        '''
    install("crate", {"crate/__init__.py": source})
    told, _level = ask_about("crate", "What does crate.pack do?")
    assert "Pack a crate." in told
    told, _level = ask_about("crate", "ValueError: nothing to pack ? here")
    assert "nothing to pack ? here" in told
