"""What the command line says where a command or an option is wrong or missing."""

import pytest

from kr_core.cli.command_options import parser

pytestmark = pytest.mark.req("I1")


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        parser().parse_args(arguments)
    return stop.value.code, *capsys.readouterr()


def test_without_a_command_the_help_lists_them(capsys):
    """`kr` alone prints its commands, and that is no error; `kr cache` alone prints its actions."""
    code, out, err = refused(capsys)
    assert (code, err) == (0, "")
    assert "research" in out
    assert "inbox" in out
    code, _, err = refused(capsys, "cache")
    assert code == 2
    assert "rebuild" in err


def test_inbox_alone_lists_what_waits():
    """`kr inbox` is `kr inbox list`."""
    assert vars(parser().parse_args(["inbox"])) == vars(parser().parse_args(["inbox", "list"]))


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        (["reserch", "q"], "`kr research`"),
        (["search", "httpx"], "`kr cache search` or `kr docs search`"),
        (["cache", "remove", "x"], "`kr research --wrong ID`"),
        (["cache", "serch", "x"], "`kr cache search`"),
        (["research", "q", "--refesh"], "`--refresh`"),
        (["cache", "list", "--jsn"], "`--json`"),
        (["research", "q", "--framwork=httpx"], "`--framework`"),
    ],
)
def test_an_unknown_command_or_option_names_the_nearest(capsys, wrong, meant):
    """The usage error ends with what may have been meant."""
    code, _, err = refused(capsys, *wrong)
    assert code == 2
    assert err.rstrip().endswith(f"did you mean {meant}?")


def test_what_resembles_nothing_gets_no_suggestion(capsys):
    """A word that is far from all names is refused without a guess."""
    assert "did you mean" not in refused(capsys, "zzzz")[2]
    assert "did you mean" not in refused(capsys, "research", "q", "--zzzz")[2]
