"""Answers about parameters of a small package: each one asked for, its call, what explains it, and what is not said."""

from functools import partial

import pytest

CRATE = '''\
"""Crates, and how they are shipped."""

from typing import Mapping, Optional, Sequence, Tuple, Union

Goods = Union[
    # weight
    float,
    # (label, weight)
    Tuple[str, float],
]
Load = Union[Mapping[str, Goods], Sequence[Goods]]

class Patience:
    """How long to wait for a ship."""

    def __init__(self, patience: float) -> None:
        self.patience = patience

DEFAULT_PATIENCE = Patience(patience=7.5)
PatienceTypes = Union[float, Patience]


def ship(method: str, address: str, *, patience: PatienceTypes = DEFAULT_PATIENCE, load: Load | None = None, rate_per_day: int = 3, colour: str = "red") -> None:
    """Ship a crate to an address.

    Args:
        patience: How long to wait for the ship.
        load: What the crate holds.
        rate_per_day: How many crates leave in a day.
        colour: The paint of the crate.
    """


def send(address: str, *, patience: PatienceTypes = DEFAULT_PATIENCE) -> None:
    """Send a crate.

    **Parameters**: See `crate.ship`.
    """
    return ship("send", address, patience=patience)


def join(left: str, right: str, *, how: str = "inner") -> None:
    """Join two crates.

    Args:
        left: First crate to join.
        right: The other crate to join.
        how: The way in which they are joined.
    """


class Dock:
    """Where ships lie.

    Args:
        sinks_on_rain: When true, all crates in the dock are lost with the first rain, and must be loaded anew by hand.
    """

    def __init__(self, sinks_on_rain: bool = True) -> None: ...

    def check(self) -> None:
        """Raises :class:`DockError`, if one occurred."""
        message = ""
        if 400 <= self.level < 500:
            message = f"{self.level} is too much water in the dock: {self.name}"
        elif self.level >= 500:
            message = f"{self.level} is a flood in the dock: {self.name}"
        if message:
            raise DockError(message)


class DockMaker:
    """Makes docks.

    Args:
        sinks_on_rain: the :attr:`Dock.sinks_on_rain` setting of the docks that it makes.
    """

    def __init__(self, sinks_on_rain: bool = True) -> None: ...


class DockError(Exception):
    """Something is wrong with a dock."""


def copy(*things, **changes) -> None:
    """Create a copy of the first thing, with changes applied to it."""


def thing(*, init: bool = True) -> None:
    """Declare a thing.

    Args:
        init: Whether the thing is made with its parts.
    """


def wrap(log: str, workers: list | None = None, colours: list | None = None) -> None:
    """Wrap a log.

    Default values for *workers* and *colours* can
    be set with `crate.ship`.
    """


class Settings:
    """What a crate may do."""

    extra: str
    """Whether to ignore or forbid extra goods. Defaults to `'ignore'`.

    Two values are available:

    - `'ignore'`: The goods that are too many are left on the dock:
      ```python
      Settings(extra="ignore")
      ```
    - `'forbid'`: No crate is shipped, and a `DockError` is raised:
      ```python
      Settings(extra="forbid")
      ```

    Extra goods, and crates with extra goods in them, are weighed by the crate on each extra day of the year, by hand.
    """


def solve(a: str) -> str:
    """Find the one answer of a riddle.

    The answer is exact.

    Where there is none, use `guess` for the nearest one.

    >>> solve("2 + 2")
    '4'
    >>> solve("a")
    'a'
    """


def guess(a: str) -> str:
    """Find an answer of a riddle that is near.

    The answer is the one with the least error.
    """


def match(text: str, *, pattern: str = "", check: bool = False) -> None:
    """Match a text.

    Args:
        text: What is matched.
        pattern: A regex that the message of the crate must match.
        check: Whether the regex of the message can be a text that has the message, the crate and the match.
    """


def stow(goods: str, Hold: object = None) -> None:
    """Stow goods.

    Args:
        Hold: The hold in which they lie.
    """


undefined = object()
"""Only marks that nothing was given."""
_WIDTH = 30


def moor(ship: str, *, grace: int = undefined, pad_ship: bool = False, pad_ship_to: int = _WIDTH, mode: str = "soft") -> None:
    """Moor a ship at the dock.

    Args:
        grace: Seconds after which a ship is moored still.
        pad_ship: Whether the ship gets pads.
        pad_ship_to: The width of the ship with its pads.
        mode: How it is moored: 'soft', 'hard', or 'round'.
    """


class Scope:
    """Holds what is done until a ship leaves."""

    def __init__(self, shield: bool = False) -> None: ...

    @property
    def shield(self) -> bool:
        """So long as this is true, no storm outside of the scope reaches the ship."""


def harbour(berth: str = "north", berth_size: int = 5, tide: str = "any", buoys: bool = False) -> None:
    """Open a harbour for ships.

    Args:
        berth: A berth that is there already.
        berth_size: The number of ships that lie in a berth.
        tide: The tide at which it opens.
        buoys: Whether there are buoys in its water.

    LONG

    Examples:
        >>> harbour(tide="high", buoys=True)
    """
'''.replace(
    "LONG", "\n\n    ".join(f"In the year {year} it was the harbour of a town." for year in range(200))
)


@pytest.fixture
def ask(install, ask_about):
    """Asks about the package `crate`: the answer as a reader sees it, and its level."""
    install("crate", {"crate/__init__.py": CRATE})
    return partial(ask_about, "crate")


@pytest.mark.req("A2", "A3")
@pytest.mark.parametrize(
    "question",
    [
        "What is the default of rate_per_day and colour in crate.ship?",
        "What is the default number of crates rate_per_day in crate.ship, and the default colour?",
    ],
)
def test_each_parameter_that_a_question_names_is_answered_and_nothing_else(ask, question):
    """Every one has its own direct sentence and its own documentation."""
    text, _level = ask(question)
    assert "The default of `rate_per_day` in `crate.ship` is `3`." in text
    assert 'The default of `colour` in `crate.ship` is `"red"`.' in text
    assert "How many crates leave in a day." in text
    assert "The paint of the crate." in text
    assert "See also" not in text


@pytest.mark.req("A2")
def test_short_words_in_a_list_are_parameters_too(install, ask_about):
    """As are `min` and `max` beside a longer name."""
    source = '''\
        """Waits."""

        def wait(multiplier=1, max=60, min=0):
            """Wait for a ship.

            Args:
                multiplier: What each wait is multiplied with.
                max: The longest wait.
                min: The shortest wait.
            """
        '''
    install("pier", {"pier/__init__.py": source})
    text, _level = ask_about(
        "pier", "pier.wait: what do multiplier, min and max mean and what are their defaults?"
    )
    for name, value in (("multiplier", "1"), ("max", "60"), ("min", "0")):
        assert f"The default of `{name}` in `pier.wait` is `{value}`." in text


@pytest.mark.req("A2")
def test_the_other_part_of_a_question_names_no_parameter_of_the_first(ask):
    """What comes after "and how do I" is another question."""
    text, _level = ask("crate.ship rate_per_day default and how do I load it for another colour")
    assert "The default of `rate_per_day`" in text
    assert "The default of `colour`" not in text


@pytest.mark.req("A2")
def test_a_parameter_named_in_part_beside_another_is_answered_too(ask):
    text, _level = ask("Which options does crate.ship accept to change the colour and the rate?")
    assert "The paint of the crate." in text
    assert "How many crates leave in a day." in text


@pytest.mark.req("A2")
def test_a_how_to_that_sets_a_parameter_begins_with_a_call(ask):
    """The shortest callable that takes it, with its required arguments and a value that stands in the package."""
    text, _level = ask("How do I set a patience when I ship a crate?")
    assert text.startswith("Call `crate.send(address, patience=7.5)`. ")
    assert "is `Patience(patience=7.5)`" in text


@pytest.mark.req("A1")
def test_a_parameter_that_every_call_needs_is_not_the_answer_to_a_how_to(ask):
    """`left` in the question is a side, not the parameter of that name."""
    text, _level = ask("how to use crate.join to find what is only in the left crate")
    assert "Join two crates." in text.partition("First crate to join.")[0]


@pytest.mark.req("A1", "A2")
@pytest.mark.parametrize(
    "question", ["What is the default berth size of harbour?", "What is the default berth size in crate?"]
)
def test_words_that_spell_a_parameter_together_mean_it(ask, question):
    """And not the parameter that the first of them spells, which has another default."""
    text, level = ask(question)
    assert text.startswith("The default of `berth_size` in `crate.harbour` is `5`.")
    assert level != "low"


@pytest.mark.req("A2")
def test_a_parameter_that_only_the_question_and_its_name_say_comes_before_its_callable(ask):
    """The function alone is half an answer."""
    text, _level = ask("How do I open a harbour for ships at another tide?")
    assert text.index("The tide at which it opens.") < text.index("Open a harbour for ships.")


@pytest.mark.req("A1", "A8")
def test_a_parameter_that_a_how_to_says_with_its_callable_is_the_answer(install, ask_about):
    """The axis of a mean is a parameter, also where the documentation of its callable speaks of it."""
    source = '''\
        """Piles."""

        def mean(piles, axis=None, keep=False):
            """Compute the mean along the given axis of some piles.

            Args:
                axis: The direction in which crates are counted.
                keep: Whether the piles stay.
            """

        def median(piles):
            """Compute the median of some piles."""
        '''
    install("pile", {"pile/__init__.py": source})
    text, level = ask_about("pile", "How do I set the axis of a mean in pile?")
    assert "The direction in which crates are counted." in text.partition("Compute the mean")[0]
    assert level != "low"
    assert ask_about("pile", "How do I set the colour of a mean in pile?")[1] == "low"


@pytest.mark.req("A2", "A8")
def test_a_default_that_only_marks_that_nothing_was_given_is_no_value(ask):
    text, level = ask("What is the default grace of crate.moor?")
    assert "undefined" not in text
    assert level == "low"


@pytest.mark.req("A8")
def test_a_parameter_that_is_only_the_place_of_what_is_asked_is_not_the_answer(ask):
    assert ask("What is the default max decks in crate Hold?")[1] == "low"
    assert ask("What is the default of Hold in crate.stow?")[1] != "low"


@pytest.mark.req("A2")
def test_the_name_of_a_parameter_inside_a_longer_one_is_not_asked_for(ask):
    text, _level = ask("crate.moor pad_ship_to default")
    assert "`30`" in text
    assert "The default of `pad_ship`" not in text


@pytest.mark.req("A8")
def test_a_value_that_is_only_listed_is_not_explained(ask):
    """The list says that it may be given, and the question asks what it means."""
    assert ask('What does mode="round" mean in crate.moor?')[1] == "low"


@pytest.mark.req("A2", "A3", "A4")
def test_of_a_value_that_is_given_only_its_own_item_is_told(install, ask_about):
    """The items of other values, and examples with them, lead astray."""
    source = '''\
        """Sheds."""

        def load(shed, how="late"):
            """Load a shed.

            Args:
                how: The time at which a crate is moved. One of the following, which a crane must know before it moves; it
                    never asks again, and the master of the shed is not told.

                    * ``late`` - the crate is moved when a crane is free, and never before. Warning: a crate may be lost if the
                      shed is not locked.

                    * ``early`` - the crate is moved together with the one that was ordered first.

                    * ``never`` - the crate must not be moved. Use it only if the shed is not locked.

            Examples:
                >>> load(shed, how="late")
            """
        '''
    install("shed", {"shed/__init__.py": source})
    text, _level = ask_about("shed", 'What does how="early" mean in shed.load?')
    assert "the crate is moved together with the one that was ordered first" in text
    assert "`never`" not in text
    assert "when a crane is free" not in text
    assert 'how="late")' not in text


@pytest.mark.req("A2")
def test_the_type_that_is_returned_is_told(install, ask_about):
    """A question for a type is no how-to: what it names is what it is about."""
    source = '''\
        """Sheds."""

        class Shed:
            """A shed."""

            def rows(self) -> list[dict[str, int]]:
                """All crates, row by row."""

            def draw(self, return_type="type"):
                """Draw it with a type of ink.

                Args:
                    return_type: The type of what is returned.
                """
        '''
    install("shed", {"shed/__init__.py": source})
    text, _level = ask_about("shed", "What type does shed.Shed.rows return?")
    assert text.startswith("`shed.Shed.rows` returns `list[dict[str, int]]`.")


@pytest.mark.req("A4")
def test_code_that_imports_a_namesake_is_not_shown(install, ask_about):
    """Two dialects have an `insert` each."""
    sheds = {
        f"shed/{name}.py": f'"""Sheds of {name}."""\n\ndef stow(crate):\n    """Stow a crate in a shed of {name}."""\n\n'
        f'def twice(crate):\n    """Stow a crate of {name} again.\n\n    Example::\n\n        from shed.{name} import stow\n        stow(crate, on_conflict=1)\n    """\n'
        for name in ("iron", "brick")
    }
    install("shed", {"shed/__init__.py": '"""Sheds."""\n', **sheds})
    text, _level = ask_about("shed", "How do I stow a crate in a shed of brick?")
    assert "shed.iron import" not in text


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "question", ["What does crate.Scope shield do?", "What does Scope's shield do in crate?"]
)
def test_a_plain_word_behind_a_class_means_its_member(ask, question):
    text, level = ask(question)
    assert text.startswith("`crate.Scope.shield`: So long as this is true, no storm")
    assert level != "low"


@pytest.mark.req("A4")
def test_an_example_at_the_end_of_a_long_docstring_is_shown(ask):
    """It lies behind what of the docstring is searched."""
    text, _level = ask("How do I open a harbour that has buoys?")
    assert 'harbour(tide="high", buoys=True)' in text


@pytest.mark.req("A2", "A3")
def test_what_a_named_parameter_points_to_is_shown_beside_it(ask):
    """A setting that is explained elsewhere does not only name itself."""
    text, _level = ask("What does sinks_on_rain do in a DockMaker?")
    assert text.index("setting of the docks") < text.index("all crates in the dock are lost")


@pytest.mark.req("A2", "A3")
def test_a_function_whose_documentation_says_only_that_it_raises_shows_when(ask):
    text, _level = ask("What does Dock.check do in crate?")
    assert "if 400 <= self.level < 500:" in text
    assert "elif self.level >= 500:" in text


@pytest.mark.req("A8")
@pytest.mark.parametrize(
    "question",
    [
        "does crate.copy work with init=False things?",
        "what happens to init=False things in crate.copy",
        "what does the lidmaker parameter mean in crate.copy",
        "which workers does crate use by default",
    ],
)
def test_what_a_question_turns_on_and_no_sentence_says_is_low(ask, question):
    """Passages about each thing alone, or a default of None that nothing explains, are not the answer."""
    _text, level = ask(question)
    assert level == "low"


@pytest.mark.req("A3")
def test_a_paragraph_about_several_parameters_is_shown_whole(ask):
    text, _level = ask("What does the workers parameter of crate.wrap do?")
    assert "Default values for *workers* and *colours* can be set with `crate.ship`." in text


@pytest.mark.req("A3")
def test_the_sentence_that_explains_a_value_is_shown_though_its_example_follows(ask):
    """A line that ends with a colon above code is no mere pointer, and its value is what was asked for."""
    text, _level = ask("How do I forbid extra goods with Settings in crate?")
    assert "`'forbid'`: No crate is shipped, and a `DockError` is raised:" in text
    assert 'Settings(extra="forbid")' in text


@pytest.mark.req("A2", "A3")
def test_a_difference_shows_both_sides_and_where_one_sends_to_the_other(ask):
    text, _level = ask("What is the difference between crate.solve and crate.guess?")
    assert text.startswith("`crate.solve`: Where there is none, use `guess` for the nearest one.")
    assert "The answer is exact." in text
    assert "The answer is the one with the least error." in text


@pytest.mark.req("A3", "A4")
def test_what_a_session_printed_stands_below_its_code(ask):
    text, _level = ask("What does crate.solve do?")
    assert "solve(\"2 + 2\")\n# '4'\nsolve(\"a\")\n# 'a'" in text


@pytest.mark.req("A2", "A3")
def test_the_types_inside_a_parameters_type_are_followed_one_step(ask):
    text, _level = ask("How do I give crate.ship a load with a label?")
    assert "The type `Load` is `Union[Mapping[str, Goods], Sequence[Goods]]`." in text
    assert "The type `Goods` is `Union[ # weight float, # (label, weight) Tuple[str, float], ]`." in text


@pytest.mark.req("A2")
def test_what_is_said_of_another_parameter_decides_nothing(ask):
    """The question names `pattern`; a sentence of `check` has more of its words."""
    text, _level = ask("can the pattern of crate.match match the message with a regex")
    assert "A regex that the message of the crate must match." in text
    assert "`check` in" not in text


@pytest.fixture
def ask_barn(install, ask_about):
    """Asks about a package whose names are everyday words."""
    source = '''\
        """Barns."""

        class Barn:
            """A barn."""

            def merge(self, other):
                """Merge two barns by their keys.

                This is different from the join of two roofs, and may surprise.
                """

            def join(self, other):
                """Join two barns wall to wall."""

            def bind(self, roof):
                """Bind a roof to the barn."""

            def task(self, *arguments, **options):
                """Make a task of the barn out of any callable. It is run when a farmer is free."""
        '''
    install("barn", {"barn/__init__.py": source})
    return partial(ask_about, "barn")


@pytest.mark.req("A2")
def test_a_plain_word_is_no_other_side_of_a_difference(ask_barn):
    """The join of two roofs is not `Barn.join`."""
    text, _level = ask_barn("What is the difference between merge and join in barn?")
    assert text.startswith("`barn.Barn.merge(other)`: Merge two barns by their keys.")


@pytest.mark.req("A1", "A8")
def test_a_keyword_does_not_mean_a_method_of_its_name(ask_barn):
    """`bind=True` is given to something; where nothing in the answer speaks of it, KR is not sure."""
    text, level = ask_barn("What does the `bind=True` option do in a barn task?")
    assert "`barn.Barn.bind" not in text.partition("\n\n")[0]
    assert level == "low"


@pytest.fixture
def ask_loom(install, ask_about):
    """Asks about a package whose parameters are documented in numpy's form."""
    source = '''\
        """Looms."""

        class Loom:
            """A loom with a thread."""

            def __init__(self, worker):
                """Set up a loom.

                Args:
                    worker: Who works at it.
                """


        def weave(yarn, shuttles="auto", inline=False, extent=None, beam=LONG["beam"]):
            """Weave a cloth of yarn.

            Parameters
            ----------
            shuttles : int or str
                How yarn is shuttled.
            inline : bool
                How to put the cloth of yarn. By default each shuttle of a size has its own.
            extent : (float, float), default: :rc:`cloth.size`
                How wide and long it is.
            beam : str
                What it is wound on.
            """
        '''
    install("loom", {"loom/__init__.py": source})
    return partial(ask_about, "loom")


@pytest.mark.req("A2", "A8")
def test_a_word_that_only_qualifies_is_not_told_as_required(ask_loom):
    """ "The default worker timeout" does not ask for the default of `worker`."""
    assert "is required" not in ask_loom("What is the default worker timeout of loom.Loom?")[0]
    assert "is required" in ask_loom("What is the default of worker in loom.Loom?")[0]


@pytest.mark.req("A2")
def test_a_parameter_whose_name_the_question_says_comes_before_one_that_speaks_of_it(ask_loom):
    text, _level = ask_loom("What is the default shuttle size of loom.weave?")
    assert not text.startswith("The default of `inline`")


@pytest.mark.req("A2")
def test_the_default_in_the_line_of_types_is_what_none_means(ask_loom):
    text, _level = ask_loom("What is the default of extent in loom.weave?")
    assert text.startswith("The default of `extent` in `loom.weave` is `None`, which means `cloth.size`.")


@pytest.mark.req("A8")
def test_a_default_that_nothing_resolves_is_not_high(ask_loom):
    text, level = ask_loom("What is the default of beam in loom.weave?")
    assert text.startswith('The default of `beam` in `loom.weave` is `LONG["beam"]`.')
    assert level == "medium"


@pytest.mark.req("A8")
def test_the_default_is_no_explanation_of_a_value(install, ask_about):
    """`@default 'forks'` does not say what "forks" does."""
    source = '''\
        """Runs."""

        def run(pool="forks"):
            """Run it.

            Args:
                pool: The name of the pool that the file belongs to. @default 'forks'
            """
        '''
    install("runs", {"runs/__init__.py": source})
    assert ask_about("runs", 'What does pool: "forks" mean in runs.run?')[1] == "low"


@pytest.mark.req("A1", "A8")
def test_the_opposite_of_what_is_asked_for_is_no_sure_answer(install, ask_about):
    """`unpack_box` has all words of the question in its documentation, and does the other thing."""
    source = '''\
        """Crates."""

        def unpack_box(box):
            """Unpack a box for a ship; pack it again later."""

        def add_packer(box):
            """Pack a box."""
        '''
    install("pier", {"pier/__init__.py": source})
    assert ask_about("pier", "pier pack a box for a ship")[1] == "low"


@pytest.mark.req("A2")
def test_whether_a_parameter_is_required_is_told(install, ask_about):
    """By its signature: its default, or that it has none."""
    source = '''\
        """Ships."""

        def moor(berth_number, rope="long"):
            """Moor a ship.

            Args:
                berth_number: Where the ship lies.
                rope: How the ship is held.
            """
        '''
    install("pier", {"pier/__init__.py": source})
    text, _level = ask_about("pier", "What does berth_number do in pier.moor and is it required?")
    assert "`berth_number` in `pier.moor` has no default: it is required." in text
    assert (
        'default of `rope` in `pier.moor` is `"long"`.'
        in ask_about("pier", "Is rope of pier.moor optional?")[0]
    )


@pytest.mark.req("A2", "A3")
def test_what_holds_without_a_call_is_no_missing_default(install, ask_about):
    """Which policy is the default: the documentation marks it, though each call must give one."""
    source = '''
        def set_policy(policy):
            """Set the policy for ships without papers.

            It is a `StrictPolicy` (the default) or an `EasyPolicy`.

            Args:
                policy: The policy to use.
            """
    '''
    install("pier", {"pier/__init__.py": source})
    text, _level = ask_about("pier", "What does pier.set_policy do and which policy is the default?")
    assert "It is a `StrictPolicy` (the default) or an `EasyPolicy`." in text
    assert "required" not in text


@pytest.mark.req("A2", "A3")
def test_what_is_marked_as_the_default_of_another_parameter_answers_nothing(install, ask_about):
    """The sentence is about `mode`, and `path` has no default."""
    source = '''
        def unload(path, mode="r"):
            """Unload what lies at a path.

            The mode `r` (the default) leaves it there.

            Args:
                path: Where it lies.
                mode: How it is taken.
            """
    '''
    install("pier", {"pier/__init__.py": source})
    text, _level = ask_about("pier", "What is the default of path in pier.unload?")
    assert "has no default: it is required" in text


@pytest.mark.req("A2", "A3")
def test_what_a_named_callable_can_do_is_told_by_its_parameter(ask):
    """Its own first sentence says nothing of the question, and the parameter comes before it."""
    text, _level = ask("Can crate.moor give the ship pads to some width?")
    assert text.startswith("`crate.moor(pad_ship_to=...)` (type `int`): The width of the ship with its pads.")


@pytest.mark.req("A2")
def test_a_parameter_that_every_call_needs_is_no_ability(ask):
    """`match(text)` is not how `match` can do anything."""
    text, _level = ask("Can crate.match handle a text?")
    assert text.index("Match a text.") < text.index("match(text=...)")


@pytest.mark.req("A2", "A3")
def test_a_paragraph_about_more_is_read_from_the_sentence_that_names_the_parameter(install, ask_about):
    """What it says before is about something else, and is no documentation of the parameter."""
    source = '''\
        """Scales."""

        def near(weight, same_ok=False):
            """Compare two weights.

            By default, `near` takes weights within one gram to be equal.  This is
            what most scales can tell.  Nothing is near itself, but you can make it so by
            setting the `same_ok` argument to True.  Scales that break need it.
            """
        '''
    install("scales", {"scales/__init__.py": source})
    text, _level = ask_about("scales", "What does same_ok do in scales.near?")
    assert text.startswith(
        "`scales.near(same_ok=...)` (default `False`): Nothing is near itself, but you can make it so by setting"
    )
    assert "one gram" not in text


@pytest.mark.req("A8")
def test_a_parameter_of_what_the_question_does_not_speak_of_is_no_sure_answer(install, ask_about):
    """`unstack(sort)` has all words of a question about sorting; so has what does a thing the other way."""
    source = '''\
        """Tables."""

        def unstack(sort=True):
            """Unstack a table.

            Args:
                sort: Sort the columns. This also orders the rows of the result.
            """

        def stream(files=None):
            """Stream a response.

            Args:
                files: The upload of files to stream.
            """
        '''
    install("tables", {"tables/__init__.py": source})
    assert ask_about("tables", "How do I sort rows and columns in tables?")[1] == "low"
    assert ask_about("tables", "How do I stream a download of files in tables?")[1] == "low"
    assert ask_about("tables", "How do I stream an upload of files in tables?")[1] != "low"
