"""The part of what is written about a thing that decides: of its paragraphs, values, parameters and kin."""

import pytest

from kr_core.question.parsed_question import parse_question

LOAD = '''\
"""Measures loads."""


def load_percent(interval=None, per_crane=False):
    """Return how busy the cranes are, in percent.

    When *interval* is > 0.0 compares the loads before and after it (blocking).

    When *interval* is 0.0 or None compares the loads since the last call, returning at once. The first time this is
    called it returns a meaningless 0.0 which you should ignore.

    When *per_crane* is True returns a list of floats, one for each crane.
    """


class Store:
    """A store of crates."""

    def put(self, name, value, nx: bool = False):
        """Put ``value`` at ``name``.

        ``nx`` if set to True, put the value at key ``name`` to ``value`` only
            if it does not exist.
        """


class Encoder:
    """Encodes the kinds of crates.

    Parameters
    ----------
    sparse : bool, default=True
        Whether the result is sparse.

    handle_unknown : {'error', 'ignore', 'warn'}, \\
                     default='error'
        Specifies how unknown kinds are handled while crates are encoded.

        - 'error' : Raise an error if an unknown kind is present while crates are encoded.
        - 'ignore' : When an unknown kind is met, the columns of the result will be all zeros. Decoded, an unknown kind
          will be None.
        - 'warn' : When an unknown kind is met a warning is issued, and the encoding goes on as it does for a rare one.
    """

    def __init__(self, sparse=True, handle_unknown="error"):
        self.handle_unknown = handle_unknown

    def encode(self, crates):
        """Encode crates."""
        if self.handle_unknown == "error":
            raise ValueError("Found unknown kinds {0} in row {1} of crates".format(crates, 1))
'''


@pytest.fixture
def cranes(install):
    install("cranes", {"cranes/__init__.py": LOAD})


@pytest.mark.req("A2")
def test_each_paragraph_about_a_parameter_is_its_documentation(cranes, ask_about):
    """The second one says what is asked, and it begins with the parameter as the first one does."""
    told, _level = ask_about(
        "cranes",
        "Why does cranes.load_percent(interval=None) return 0.0 on the first call?",
        "cranes.load_percent",
    )
    assert "a meaningless 0.0 which you should ignore" in told
    assert "one for each crane" not in told


@pytest.mark.req("A3")
def test_a_sentence_whose_next_line_is_indented_is_whole(cranes, ask_about):
    told, _level = ask_about("cranes", "What does the nx parameter of Store.put do?", "Store.put")
    assert "if set to True, put the value at key `name` to `value` only if it does not exist." in told


@pytest.mark.req("A2", "A14")
def test_beside_a_message_the_parameter_that_mends_it_is_told_with_its_value(cranes, ask_about):
    """The question asks for `ignore`; a type that goes on in the next line does not belong to the documentation."""
    told, _level = ask_about(
        "cranes", "ValueError: Found unknown kinds blue in row 7 of crates - how do I make Encoder ignore them?", "Encoder"
    )  # fmt: skip
    assert 'handle_unknown=...)` (default `"error"`): Specifies how unknown kinds are handled' in told
    assert "the columns of the result will be all zeros. Decoded, an unknown kind will be None." in told


CHECKS = '''\
"""Health checks."""


class HealthCheck:
    """A |HealthCheck| warns about slow cranes.

    With the exception of |HealthCheck.wet| and
    |HealthCheck.dry|, health checks can be suppressed in |@given| tests.
    """
'''


@pytest.mark.req("A3")
def test_a_line_that_begins_with_a_substitution_is_prose(install, ask_about):
    install("checks", {"checks/__init__.py": CHECKS})
    told, _level = ask_about("checks", "What does HealthCheck do?", "HealthCheck")
    assert (
        "With the exception of HealthCheck.wet and HealthCheck.dry, health checks can be suppressed in @given tests."
        in told
    )


DUMP = '''\
class Model:
    """A model."""

    def dump(self, mode="python"):
        """Return the model as a dictionary.

        Args:
            mode: With 'json', the values are those that JSON has. With 'python', they are those of the model.
        """

    def dump_json(self, indent=None):
        """Return the model as a text of JSON.

        Args:
            indent: How far to indent.
        """
'''


@pytest.mark.req("A2")
def test_a_difference_that_a_parameter_makes_tells_the_parameter(install, ask_about):
    install("models", {"models/__init__.py": DUMP})
    told, _level = ask_about(
        "models",
        'What is the difference between Model.dump(mode="json") and Model.dump_json?',
        "Model.dump", "Model.dump_json",
    )  # fmt: skip
    assert told.index("Return the model as a dictionary.") < told.index("the values are those that JSON has")
    assert "Return the model as a text of JSON." in told


@pytest.mark.req("A14")
def test_what_a_guide_says_of_a_name_without_documentation_comes_first(install, ask_about):
    """A section that only uses the name in code says nothing of it."""
    source = '"""Draws lots.\n\nDrawing\n-------\nUse `new_drawer()` to create a `Drawer` and call its methods.\n"""\n'
    source += "def new_drawer(seed=None): ...\n\ndef seed(): ...\n"
    install("lots", {"lots/__init__.py": source})
    told, _level = ask_about(
        "lots", "lots.seed is legacy: what should I use for lots?", "new_drawer", "lots.seed"
    )
    assert told.index("Use `new_drawer()` to create a `Drawer`") < told.index("`lots.new_drawer(seed=None)`")


KINDS = '''\
class Undefined:
    """What is printed for a missing value."""


class StrictUndefined(Undefined):
    """Refuses to be printed."""


class Filter:
    """How an image is resized."""


class Environment:
    """Where templates are.

    Args:
        undefined: `Undefined` or a subclass of it for missing values.
        loader: Finds the templates.
    """

    def __init__(self, undefined=Undefined, loader=None): ...


def resize(size, resample=None):
    """Resize an image.

    Args:
        size: The new one.
        resample: One of `Filter.NEAREST` and `Filter.BOX`.
    """
'''


@pytest.mark.req("A14")
@pytest.mark.parametrize(
    ("question", "names", "wanted"),
    [
        ("How do I fail on a missing template value?", ("Environment", "StrictUndefined"), "Environment(undefined=...)"),
        ("How do I choose the filter of a resized image?", ("Filter", "resize"), "resize(resample=...)"),
    ],
)  # fmt: skip
def test_the_parameter_that_takes_the_other_name_is_told(install, ask_about, question, names, wanted):
    """Its name is what the class is a kind of, or its documentation says the class."""
    install("views", {"views/__init__.py": KINDS})
    told, _level = ask_about("views", question, *names)
    assert f"`views.{wanted}`" in told


OPTIONS = '''\
class Option:
    """An option of a command.

    Args:
        multiple: If set, the option is accepted multiple times and gives a list.
        hidden: Hide the option from the page of help.
    """

    def __init__(self, names, multiple=False, hidden=False): ...


def option(*names, cls=None, **attrs):
    """Attach an option to the command. All keyword arguments are forwarded unchanged.

    Args:
        cls: The class of the option.
    """
    if cls is None:
        cls = Option

    def decorate(function):
        return cls(names, **attrs)

    return decorate
'''


@pytest.mark.req("A14")
def test_the_nearest_parameter_of_what_takes_the_arguments_is_told(install, ask_about):
    install("shell", {"shell/__init__.py": OPTIONS})
    told, _level = ask_about(
        "shell", "How do I let an option be given multiple times and get a list?", "option"
    )
    assert "the option is accepted multiple times and gives a list" in told
    assert "Hide the option" not in told


OLD = '''\
import warnings
from typing_extensions import deprecated


def check(value, flags): "Checks values of the model."


@deprecated("Use `field_check` in place of `check`.")
def old_check(value):
    """Checks a value."""


def field_check(value, mode="after"):
    """Checks values of a field."""
'''


@pytest.mark.req("A5", "A14")
def test_what_was_replaced_is_told_before_what_replaces_it(install, ask_about):
    install("forms", {"forms/__init__.py": OLD})
    told, _level = ask_about("forms", "What replaces old_check in forms 2?", "field_check", "old_check")
    assert "is deprecated: Use `field_check` in place of `check`." in told
    assert told.index("is deprecated") < told.index("Checks values of a field.")


SWITCH = '''\
def load_env(path=None, override: bool = False) -> bool:
    """Load the variables of a file into the environment.

    Args:
        path: Where the file is.
        override: Whether to override the variables of the environment with those of the file.
    """
'''


@pytest.mark.req("A2", "A8")
def test_the_default_of_a_switch_decides(install, ask_about):
    """It is `medium`: the asker names the function, and the question its parameter."""
    install("envs", {"envs/__init__.py": SWITCH})
    told, level = ask_about(
        "envs", "Does load_env override environment variables that are already set?", "load_env"
    )
    assert "The default of `override` in `envs.load_env` is `False`." in told
    assert level in {"medium", "high"}


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Does requests have a default timeout?", True),
        ("Is there a default timeout in requests.get?", True),
        ("How do I have a default timeout for all requests?", False),
        ("Do I have a default timeout to set?", False),
    ],
)
def test_whether_there_is_a_default_asks_for_it(question, asks):
    assert ("default" in parse_question(question).kinds) is asks


CLIENT = '''\
"""Sends crates."""

WAIT = Wait(total=5 * 60, connect=30)
sentinel = object()


class Wait:
    """How long to wait for crates.

    Attributes
    ----------
    total : float, optional
        The total time, in seconds.
    """

    total: float | None = None
    connect: float | None = None

    def __init__(self, total: float | None = None, connect: float | None = None):
        self.total = total


class CrateSession:
    """A session that sends crates."""

    def __init__(self, wait=sentinel):
        if wait is sentinel:
            self._wait = WAIT


class Retry:
    """Sends crates once more."""

    #: The most seconds between two attempts.
    DEFAULT_PAUSE_MAX = 120

    def __init__(self, pause_max: float = DEFAULT_PAUSE_MAX):
        """Make one.

        Args:
            pause_max: The longest pause between two attempts, in seconds.
        """


class Filler:
    """Fills what is missing in crates.

    Parameters
    ----------
    strategy : str, default='mean'
        How crates are filled.

        - If "mean", then use the mean of the others. Only for numbers.
        - If "common", then use what is most common. Also for words.
    """

    def __init__(self, strategy="mean"):
        self.strategy = strategy


def track(crates, total=None):
    """Show how far crates are.

    Args:
        crates: The crates.
        total: How many there are.
    """
'''


@pytest.fixture
def sender(install):
    install("sender", {"sender/__init__.py": CLIENT})


@pytest.mark.req("A2")
def test_a_default_that_a_constant_of_the_class_holds_is_told(sender, ask_about):
    told, _level = ask_about("sender", "How long does Retry pause at most by default?", "Retry", "pause_max")
    assert "`DEFAULT_PAUSE_MAX`, which is `120`." in told


@pytest.mark.req("A2")
def test_the_default_of_a_class_gives_way_to_what_its_taker_makes_of_it(sender, ask_about):
    """A session waits 300 seconds, though `total` alone defaults to `None`."""
    told, _level = ask_about(
        "sender", "What is the default total wait of a crate session?", "Wait", "CrateSession"
    )
    assert told.startswith(
        "The default of `wait` in `sender.CrateSession` is `WAIT`, which is `Wait(total=5 * 60, connect=30)`."
    )
    told, _level = ask_about("sender", "What is the default of total in Wait?", "Wait")
    assert told.startswith("The default of `total` in `sender.Wait` is `None`")


@pytest.mark.req("A2")
def test_the_plural_of_a_parameter_asks_for_its_values(sender, ask_about):
    told, _level = ask_about("sender", "Which strategies does Filler accept?", "Filler")
    assert told.startswith('The options of `strategy` in `sender.Filler`: "mean", "common".')


@pytest.mark.req("A1", "A14")
def test_a_keyword_that_nothing_takes_is_said_to_be_missing(sender, ask_about):
    told, level = ask_about("sender", "How do I use sender.track with the parallel=True option?", "track")
    assert told.startswith("KR found nothing named `sender.track(parallel)` in sender 1.2.0")
    assert level == "low"
    told, _level = ask_about("sender", "How do I use sender.track with strategy='mean'?", "track")
    assert "found nothing" not in told


LIDS = '''\
"""Lids of crates."""


class Lids:
    """Sets how lids are closed.

    Attributes
    ----------
    mode : {'open', 'shut', 'lock', 'hide'}, default='open'
        What becomes of the lids of crates that are moved.

        - 'open' : When a crate is moved its lid remains open, so that people can see what it holds while it is moved
          from one place to another. This is what most people expect of a crate whose lid was open before it was moved.
        - 'shut' : When a crate is moved its lid is shut, so that nothing falls out while it is moved from one place to
          another. The lid opens again by itself when the crate has arrived at the place where it is to be used by people.
        - 'lock' : When a crate is moved its lid is shut and locked with a key, so that no one takes anything out while
          it is moved. Only the person who has the key can open the lid again when the crate has arrived at its place.
        - 'hide' : When a crate is moved its lid is hidden below a cloth, so that no one can see that it has a lid while
          it is moved from one place to another. People take the cloth away when the crate has arrived at its place there.

    Examples
    --------
    >>> Lids(mode='open')
    Lids(mode='open')
    """

    def __init__(self, mode="open"):
        self.mode = mode
'''


@pytest.mark.req("A3")
def test_a_list_of_explained_values_is_whole(install, ask_about):
    """The deciding value shares no word with the question."""
    install("lids", {"lids/__init__.py": LIDS})
    told, _level = ask_about("lids", "How do I keep thieves from what a crate holds?", "Lids", "mode")
    for value in ("open", "shut", "lock", "hide"):
        assert f"'{value}' : When a crate is moved its lid" in told


@pytest.mark.req("A4")
def test_code_that_gives_another_value_than_the_one_explained_is_not_shown(install, ask_about):
    install("lids", {"lids/__init__.py": LIDS})
    told, _level = ask_about("lids", "What does mode='lock' do in Lids?", "Lids", "mode")
    assert "its lid is shut and locked" in told
    assert "Lids(mode='open')" not in told


@pytest.mark.req("A3")
def test_keywords_of_a_code_block_are_no_prose(install, ask_about):
    source = '''\
        """Profiles."""

        class profile:
            """A profile of crates. The default one is built like this::

            .. code:: python

            "default",
            most=100,
            order=False,
            limit=duration(milliseconds=200),
            """

            def __init__(self, most=None, order=None, limit=None): ...
        '''
    install("profiles", {"profiles/__init__.py": source})
    told, _level = ask_about("profiles", "How do I turn the limit of a profile off?", "profile", "limit")
    assert "most=100, order=False" not in told


@pytest.mark.req("A4")
def test_code_that_a_session_shows_to_fail_is_no_example(install, ask_about):
    """The documentation shows first how not to do it."""
    source = '''\
        """Stores crates."""

        def keep(days=None):
            """Keep what a function returns for some days.

            >>> @keep
            ... def load():
            ...     pass
            Traceback (most recent call last):
                ...
            TypeError: days must be a number

            >>> @keep(days=3)
            ... def load_all_crates():
            ...     return 1
            """
        '''
    install("stores", {"stores/__init__.py": source})
    told, _level = ask_about("stores", "How do I keep what a function returns for three days?", "keep")
    assert "@keep(days=3)" in told
    assert "def load():" not in told


@pytest.mark.req("A2")
def test_the_same_words_below_two_signatures_have_the_default_of_each(install, ask_about):
    source = '''\
        """Makes crates."""

        def copy_crate(crate, lids="keep"):
            """Copy a crate.

            Parameters
            ----------
            lids : str
                The lids that the crate is closed with, in the order in which they are put on it.
            """

        def create_crate(size, lids="auto"):
            """Create a crate.

            Parameters
            ----------
            lids : str
                The lids that the crate is closed with, in the order in which they are put on it.
            """
        '''
    install("makes", {"makes/__init__.py": source})
    told, _level = ask_about("makes", "What is the default of lids in create_crate?", "create_crate")
    assert told.startswith('The default of `lids` in `makes.create_crate` is `"auto"`.')
    assert '"keep"' not in told
