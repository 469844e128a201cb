"""Settings that code reads by name: found, cited, and told with the default that the code gives them."""

from functools import partial

import pytest

from kr_plugins.sources.installed_docs.python.code_settings import setting_passages

pytestmark = pytest.mark.req("A1", "A7")

KILN = {
    "kiln/__init__.py": '''\
        """Kilns."""

        from ._fire import Kiln, fire

        # So many degrees a kiln may have before the door is locked.
        DOOR_LOCK_DEGREES = 60
        ''',
    "kiln/_fire.py": '''\
        import os

        SHELF_GAP = 4
        undefined = object()


        class Kiln:
            """A kiln."""

            defaults = {
                "KILN_VENT_OPEN": False,
                "KILN_NAME": None,
            }

            def __init__(self, given):
                given.setdefault("GLAZE_MAX_AGE", 0)
                self.glaze_age = given["GLAZE_MAX_AGE"]

            def dry(self, hours, clay_kind=None, **options):
                """Dry what is in the kiln."""
                cooling_slope = int(
                    options.get("cooling_slope", getattr(self, "cooling_slope", 600))
                )
                kind = options.get("clay_kind", "red")
                return cooling_slope, kind


        def cool(pots, glow_time=undefined):
            """Cool the pots.

            Args:
                glow_time: Seconds for which they may glow.
            """


        def _prepare(times):
            return {"glow_time": int(times.get("glow_time", 90))}


        def fire(pots):
            """Fire the pots."""
            if "KILN_QUIET" in os.environ:
                return
            where = os.environ.get("KILN_FOLDER", "/srv/kiln")
            if os.getenv("KILN_ALARM_SOUND"):
                print(where)
        ''',
}


@pytest.fixture
def ask(install, ask_about):
    """Asks about the package `kiln`: the answer as a reader sees it, and its level."""
    install("kiln", KILN)
    return partial(ask_about, "kiln")


def test_the_settings_of_a_module_are_read(read):
    """The name, how it is read, where, and what counts where nothing is given."""
    found = read(KILN["kiln/_fire.py"]).settings
    assert {(one.name, one.form, one.where, one.default) for one in found} == {
        ("KILN_VENT_OPEN", "entry", "Kiln.defaults", "False"),
        ("KILN_NAME", "entry", "Kiln.defaults", "None"),
        ("GLAZE_MAX_AGE", "key", "Kiln.__init__", "0"),
        ("GLAZE_MAX_AGE", "key", "Kiln.__init__", None),
        ("cooling_slope", "key", "Kiln.dry", "600"),
        ("clay_kind", "key", "Kiln.dry", '"red"'),
        ("glow_time", "key", "_prepare", "90"),
        ("KILN_QUIET", "environment", "fire", None),
        ("KILN_FOLDER", "environment", "fire", '"/srv/kiln"'),
        ("KILN_ALARM_SOUND", "environment", "fire", None),
    }


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('os.environ["KILN_DOOR"]', "KILN_DOOR"),
        ('environ.pop("KILN_DOOR", None)', "KILN_DOOR"),
        ('app.config["KILN_DOOR"]', "KILN_DOOR"),
        ('getattr(settings, "KILN_DOOR", None)', "KILN_DOOR"),
        ('option("--door", envvar="KILN_DOOR")', "KILN_DOOR"),
        ('KEYS = {"door": ("door", "KILN_DOOR", None)}', "KILN_DOOR"),
    ],
)
def test_the_ways_to_read_a_setting(read, line, name):
    """A setting is found however the code reads it."""
    assert [one.name for one in read(line).settings][-1:] == [name]


@pytest.mark.parametrize(
    "line",
    [
        'row["first_name"]',
        'print("KILN_DOOR")',
        'x.get("door")',
        "x.get(KILN_DOOR)",
        'config["KILN_DOOR"] = 1',
    ],
)
def test_what_is_no_setting_is_left_out(read, line):
    """Keys of data, words that are printed, one plain word, and what is written rather than read."""
    assert read(line).settings == []


def test_documented_names_keep_their_documentation(package):
    """What is defined, or is a parameter with a default, has a passage of its own already."""
    made = package(
        {
            "__init__.py": "",
            "a.py": 'def put(thing, room_size=3, **more):\n    """Put it."""\n    more.get("room_size", 4)\n    more.get("lid_kind", 5)\n',
        }
    )
    found = setting_passages(made.modules.values(), made.passages, [])
    assert [one.symbol for one in found] == ["lid_kind"]


def test_the_default_that_code_gives_an_option_is_told(ask):
    """With the code, and the function whose it is."""
    text, level = ask("What is the default of cooling_slope in kiln?")
    assert text.startswith("The default of `cooling_slope` in `dry` is `600`.")
    assert level == "medium"
    assert ask("What is the default of KILN_VENT_OPEN in kiln?")[0].startswith(
        "The default of `KILN_VENT_OPEN` in `defaults` is `False`."
    )


def test_a_parameter_without_a_default_has_the_one_that_the_code_gives(ask):
    """A mark in the signature says only that nothing was given; a `None` there is what is told, and the code is not asked."""
    text, _level = ask("What is the default of glow_time in kiln?")
    assert text.startswith("The default of `glow_time` in `_prepare` is `90`.")
    assert "`kiln._fire.cool(glow_time=...)`: Seconds for which they may glow." in text
    assert "is `None`" in ask("What is the default of clay_kind in kiln?")[0]


def test_the_code_is_all_that_is_known_of_what_a_setting_does(ask):
    """It is shown, at `low`, and nothing beside it that does not spell the name."""
    text, level = ask("What does GLAZE_MAX_AGE do in kiln?")
    assert "`GLAZE_MAX_AGE` in `__init__` (default `0`)" in text
    assert (level, text.count("`kiln.")) == ("low", 0)


def test_environment_variables_are_listed(ask):
    """All that the code reads; first what the question speaks of."""
    text, level = ask("Which environment variables does kiln read?")
    assert "Read from the environment: `KILN_QUIET`, `KILN_FOLDER`, `KILN_ALARM_SOUND`." in text
    text, level = ask("Which environment variable sets the alarm of kiln?")
    assert "\n\n`KILN_ALARM_SOUND` in `fire` [" in text
    assert level == "low"


def test_a_constant_is_told_with_its_value_and_the_comment_above_it(ask):
    """A comment in words is documentation; a question for the default gets the value."""
    text, _level = ask("What is the default of DOOR_LOCK_DEGREES in kiln?")
    assert text.startswith("The default of `kiln.DOOR_LOCK_DEGREES` is `60`.")
    text, _level = ask("What does DOOR_LOCK_DEGREES do in kiln?")
    assert (
        "`kiln.DOOR_LOCK_DEGREES` (value `60`): So many degrees a kiln may have before the door is locked."
        in text
    )


def test_the_value_of_a_default_is_told_though_a_comment_explains_it(install, ask_about):
    """The comment is not part of the value."""
    source = '''\
        """Vats."""

        # The most that a vat may hold before a second one is opened beside it.
        MOST_LITRES = 16 * 1024

        class Vat:
            """A vat."""

            def __init__(self, litres=MOST_LITRES):
                """Open a vat.

                Args:
                    litres: How much is in it.
                """
        '''
    install("vat", {"vat/__init__.py": source})
    text, _level = ask_about("vat", "What is the default of litres in vat.Vat?")
    assert text.startswith("The default of `litres` in `vat.Vat` is `MOST_LITRES`, which is `16 * 1024`.")


@pytest.mark.parametrize(
    "comment",
    [
        "# The doors",
        "# OLD_LIMIT = 3  so many doors there were before",
        "# ---- The limits of all the doors of a kiln",
        "# noqa: E501 because the line is longer than it may be",
        "\n".join(["# So many doors there may be in one kiln"] * 13),
    ],
)
def test_a_remark_that_is_no_documentation_is_left_out(read, comment):
    """A heading, a line of code, a mark for a tool, and what is longer than a remark."""
    assert read(f"{comment}\nMOST_DOORS = 3\n").definitions["MOST_DOORS"].doc is None


def test_a_setting_of_a_dependency_is_told_where_the_library_does_not_have_it(install, ask_about):
    """`AWS_MAX_ATTEMPTS` of boto3 is read by botocore."""
    folder = install(
        "pottery",
        {
            "pottery/__init__.py": '"""Pottery."""\n\ndef max_sound(alarm):\n    """The loudest sound of an alarm."""\n'
        },
    )
    metadata = folder / "METADATA"
    metadata.write_text(f"{metadata.read_text()}Requires-Dist: kiln\n")
    install("kiln", KILN)
    text, level = ask_about("pottery", "What does KILN_ALARM_SOUND do in pottery?")
    assert "`KILN_ALARM_SOUND` in `fire`" in text
    assert level == "low"


COMMAND = '''\
    """The command of the kiln."""

    import argparse

    import click


    @click.command()
    @click.option("--heat", type=int, default=900, help="Degrees to heat the kiln to.")
    @click.option(
        "--watch/--no-watch",
        help="Look into the kiln while it is hot, "
        "through the glass.",
    )
    def main(heat, watch):
        """Fire the kiln."""


    def parsed():
        parser = argparse.ArgumentParser()
        parser.add_argument("-q", "--quiet", action="store_true", help="Ring no bell.")
        return parser.parse_args()
    '''


@pytest.fixture
def ask_command(install, ask_about):
    """Asks about a package with a command."""
    install("kiln", {"kiln/__init__.py": '"""Kilns."""\n', "kiln/command.py": COMMAND})
    return partial(ask_about, "kiln")


def test_an_option_of_the_command_line_is_told_with_its_help(ask_command):
    """Of click and argparse, with its default and the code that declares it."""
    text, level = ask_command("What does --heat do in kiln?")
    assert text.startswith("`--heat` in `main` (default `900`): Degrees to heat the kiln to. [1]")
    assert level != "low"
    assert ask_command("What is the default of --heat in kiln?")[0].startswith(
        "The default of `--heat` in `main` is `900`."
    )
    assert ask_command("What does `--quiet` do in kiln?")[0].startswith(
        "`--quiet` in `parsed`: Ring no bell. [1]"
    )


def test_a_help_text_of_several_strings_is_shown_as_code(ask_command):
    """It is not in the source as the program prints it, so it is no quote."""
    text, level = ask_command("What does `--watch` do in kiln?")
    assert "`--watch` in `main` [" in text
    assert '"through the glass."' in text
    assert level == "low"


def test_an_option_that_is_not_there_is_named(ask_command):
    """With the nearest; a package without a command says nothing of it."""
    text, level = ask_command("What does --quite do in kiln?")
    assert text.startswith("KR found nothing named `--quite` in kiln 1.2.0; the nearest: `--quiet`.")
    assert level == "low"


def test_a_constant_without_a_word_about_it_stands_alone(install, ask_about):
    """What only has words of its name says nothing of it."""
    source = '"""Vats."""\n\nMOST_LITRES_HELD = 16\n\n\ndef most_litres(held):\n    """The most litres that a vat held."""\n'
    install("vat", {"vat/__init__.py": source})
    text, level = ask_about("vat", "What does MOST_LITRES_HELD do in vat?")
    assert "`vat.MOST_LITRES_HELD` (value `16`)" in text
    assert ("vat.most_litres" in text, level) == (False, "low")


def test_a_how_to_that_names_nothing_finds_the_option_whose_help_says_it(install, ask_about):
    """Of a program of the command line that is the documentation; the private way to declare one counts too."""
    source = '''\
        """A runner of kilns."""

        def add_options(group):
            group._addoption("-x", "--first-only", help="Stop instantly on the first pot that breaks")
            group.addoption("--again", help="Fire only the pots that broke last time")

        def pots():
            """The pots that there are."""
        '''
    install("firing", {"firing/__init__.py": source})
    text, _level = ask_about("firing", "firing: how do I fire only the pots that broke last time?")
    assert text.index("--again") < text.index("Fire only the pots that broke last time")
    assert "`--first-only`" in ask_about("firing", "How do I stop firing on the first pot that breaks?")[0]
    assert "--again" not in ask_about("firing", "How do I count pots in firing?")[0]


@pytest.mark.req("A2", "A14")
def test_a_setting_without_documentation_is_told_by_the_attribute_that_reads_it(install, ask_about):
    source = '''\
        """Serves crates."""

        DEFAULTS = {"MAX_CRATE_LENGTH": None}


        class Request:
            """A request."""

            @property
            def max_crate_length(self):
                """The most bytes of a crate. If it is ``None``, there is no limit."""
                return DEFAULTS["MAX_CRATE_LENGTH"]

            @property
            def max_lids(self):
                """The most lids of the biggest crate that is let through by default."""
        '''
    install("serves", {"serves/__init__.py": source})
    told, _level = ask_about(
        "serves", "What is the biggest crate that is let through by default?", "MAX_CRATE_LENGTH"
    )
    assert (
        "`serves.Request.max_crate_length`: The most bytes of a crate. If it is `None`, there is no limit."
        in told
    )


@pytest.mark.req("A14")
def test_an_option_of_a_settings_class_has_the_name_under_which_people_know_it(install, ask_about):
    source = '''\
        """Settings."""

        class FileSource:
            """Reads a file."""

            def __init__(self, nested_mark=None): ...

        class Settings:
            """The settings.

            Args:
                _nested_mark: What stands between the names of nested settings.
            """

            def __init__(self, _nested_mark=None): ...
        '''
    install("sets", {"sets/__init__.py": source})
    told, _level = ask_about("sets", "How do I fill in nested settings?", "nested_mark", "Settings")
    assert (
        told.startswith("`sets.Settings(_nested_mark=...)`") or "\n`sets.Settings(_nested_mark=...)`" in told
    )
