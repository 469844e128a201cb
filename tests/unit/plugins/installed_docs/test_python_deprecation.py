"""What a package says of its own deprecation, read without importing it: symbols, parameters, and what is neither."""

import pytest

from kr_core.evidence.citations import holds

pytestmark = pytest.mark.req("A5")


def said(package, title):
    """What a passage says of its deprecation and of its replacement, once the text is seen to hold it."""
    passage = package.passage(title)
    sentence = passage.data.get("deprecated")
    assert sentence is None or holds(passage.text, sentence)
    return sentence, passage.data.get("replacement")


@pytest.mark.parametrize(
    ("written", "sentence", "replacement"),
    [
        ('@warnings.deprecated("Use `put` instead.")\ndef old(): ...', "Use `put` instead.", "box.put"),
        (
            '@typing_extensions.deprecated(\n    "old() is deprecated; "\n    "use put() instead.", category=None\n)\ndef old(): ...',
            "old() is deprecated; use put() instead.",
            "box.put",
        ),
        (
            '@deprecated_function(version="5.0", reason="Use put() instead", name="old")\ndef old(): ...',
            "Use put() instead",
            "box.put",
        ),
        (
            '@util.moved_20("The ``old()`` function is now available as :func:`box.put`.")\ndef old(): ...',
            "The ``old()`` function is now available as :func:`box.put`.",
            "box.put",
        ),
        (
            '@util.became_legacy_20(":meth:`old`", alternative="Use put() for this.")\ndef old(): ...',
            "Use put() for this.",
            "box.put",
        ),
        (
            '@_api.deprecated("3.10", alternative="box.put")\ndef old(): ...',
            '_api.deprecated("3.10", alternative="box.put")',
            "box.put",
        ),
        (
            'def old():\n    """Put it."""\n    warnings.warn("old is deprecated, use put", DeprecationWarning)',
            "old is deprecated, use put",
            "box.put",
        ),
        (
            'def old():\n    message = "old is deprecated, use put"\n    warnings.warn(message, category=FutureDeprecationWarning)',
            "old is deprecated, use put",
            "box.put",
        ),
        (
            'def old():\n    warnings.warn(DeprecationWarning("Call put from a box"))',
            "Call put from a box",
            None,
        ),
        (
            'def old():\n    """Put it.\n\n    .. deprecated:: 8.2\n        Will be removed in 9.0. Use ``put`` instead.\n    """',
            "Will be removed in 9.0. Use ``put`` instead.",
            "box.put",
        ),
        (
            'def old():\n    """Put it.\n\n    .. legacy::\n\n        An older form of :func:`box.put`.\n    """',
            "An older form of :func:`box.put`.",
            None,
        ),
        ('def old():\n    """Deprecated alias of `put`."""', "Deprecated alias of `put`.", "box.put"),
        ('@deprecated("Use `throw` instead.")\ndef old(): ...', "Use `throw` instead.", None),
    ],
)
def test_a_symbol_says_that_it_is_deprecated_and_what_to_use(package, written, sentence, replacement):
    """The sentence is the source's own, and the replacement a public name that exists."""
    found = package({"__init__.py": f"def put(thing):\n    '''Put a thing in.'''\n\n{written}\n"})
    assert said(found, "box.old") == (sentence, replacement)


@pytest.mark.parametrize(
    "written",
    [
        '@deprecated_params(size=("1.4", "The size parameter is deprecated"))\ndef put(size): ...',
        "@_deprecate_positional_args\ndef put(size): ...",
        '@_copy_docstring_and_deprecators("x y z")\ndef put(size): ...',
        '@event._legacy_signature("0.9", ["a"], lambda a: a)\ndef put(size): ...',
        '@removed_parameters("size")\ndef put(size): ...',
        'def put(size):\n    if size:\n        warnings.warn("size is deprecated", DeprecationWarning)',
        "def put(size):\n    warnings.warn(message_of(size), DeprecationWarning)",
        'def put(size):\n    return size\n    warnings.warn("This is deprecated", DeprecationWarning)',
        'def put(size):\n    """Put.\n\n    .. deprecated:: 17.4.0 *convert*\n    """',
        'def put(size):\n    """Put.\n\n    .. deprecated:: 19.2.0 ``size`` is ignored.\n    """',
        'def put(size):\n    """Put.\n\n    .. deprecated:: 18.2.0\n       ``__lt__`` now raises.\n    """',
        'def put(size):\n    """Put.\n\n    .. deprecated:: 23.1.0\n       It is now deprecated to pass it by keyword argument.\n    """',
        'def put(size):\n    """Put.\n\n    Parameters\n    ----------\n    size : int\n        How much.\n\n        .. deprecated:: 2.0\n    """',
        'def put(size):\n    """Mark each as deprecated, or list the deprecated ones."""',
        "class put:\n    '''Put.'''\n    def __init__(self, size):\n        if size is not None:\n            warnings.warn('size is deprecated', DeprecationWarning)",
    ],
)
def test_what_is_said_of_a_parameter_or_a_usage_is_not_said_of_the_function(package, written):
    """Decorators about parameters, conditional warnings and notes about a usage leave the function as it is."""
    assert said(package({"__init__.py": f"{written}\n"}), "box.put") == (None, None)


@pytest.mark.parametrize(
    ("written", "sentence", "replacement"),
    [
        (
            '@util.deprecated_params(size=("1.4", "The size parameter is deprecated, use ``volume``"))\ndef put(size, volume): ...',
            "The size parameter is deprecated, use ``volume``",
            "volume",
        ),
        (
            '@deprecated_args(args_to_warn=["size"], reason="Please use volume from now on.")\ndef put(size, volume): ...',
            "Please use volume from now on.",
            "volume",
        ),
        (
            '@deprecate_renamed_parameter("size", "volume", version="1.3")\ndef put(volume): ...',
            'deprecate_renamed_parameter("size", "volume", version="1.3")',
            "volume",
        ),
        (
            'def put(size: Annotated[int, Doc("How much."), deprecated("Deprecated, use `volume` instead.")], volume=0):\n    """Put."""',
            "Deprecated, use `volume` instead.",
            "volume",
        ),
        (
            'def put(size=None, volume=0):\n    """Put."""\n    if size is not None:\n        warnings.warn("The size argument is deprecated, use volume.", DeprecationWarning)',
            "The size argument is deprecated, use volume.",
            "volume",
        ),
        (
            'def put(size, volume):\n    """Put.\n\n    .. deprecated:: 24.1.0 *size* is deprecated in favor of *volume*.\n    """',
            "*size* is deprecated in favor of *volume*.",
            "volume",
        ),
        (
            'def put(size, volume):\n    """Put.\n\n    Args:\n        size: Deprecated, use `volume`.\n    """',
            "Deprecated, use `volume`.",
            "volume",
        ),
        (
            'def put(size):\n    """Put.\n\n    Parameters\n    ----------\n    size : int\n        How much.\n\n        .. deprecated:: 2.0\n            This keyword is deprecated and will be removed.\n    """',
            "This keyword is deprecated and will be removed.",
            None,
        ),
    ],
)
def test_a_parameter_says_that_it_is_deprecated_and_what_to_use(package, written, sentence, replacement):
    """Decorators, annotations, warnings below a condition and its documentation say so of a parameter."""
    found = package({"__init__.py": f"{written}\n"})
    assert said(found, "box.put(size)") == (sentence, replacement)
    assert said(found, "box.put") == (None, None)


@pytest.mark.parametrize(
    "written",
    [
        'def put(size):\n    """Put."""\n    if isinstance(size, str):\n        warnings.warn("A str as size is deprecated", DeprecationWarning)',
        'def put(size=None):\n    """Put."""\n    if size is None:\n        warnings.warn("Leaving size out is deprecated", DeprecationWarning)',
        'def put(size=None):\n    """Put."""\n    if size:\n        warnings.warn("Another default of size comes in 3.0", FutureDeprecationWarning)',
        'def put(size):\n    """Put.\n\n    Parameters\n    ----------\n    size : int\n        How much.\n\n        .. deprecated:: 2.0\n            If `None` is not given for `size`, all are taken.\n    """',
        'def put(size):\n    """Put.\n\n    Args:\n        size: Marks it as deprecated.\n    """',
        'def put(size=Field(deprecated=False)):\n    """Put."""',
    ],
)
def test_what_is_said_of_a_value_is_not_said_of_the_parameter(package, written):
    """A warning about one kind of value, or about a default, leaves the parameter as it is."""
    assert said(package({"__init__.py": f"{written}\n"}), "box.put(size)") == (None, None)


def test_fields_of_a_model_say_that_they_are_deprecated(package):
    """`Field(deprecated=...)` and `Annotated[..., deprecated(...)]` mark a field of a class."""
    found = package(
        {
            "__init__.py": '''\
            class Box(BaseModel):
                """A box."""

                size: int = Field(1, deprecated="Use volume instead of this.")
                """How much."""
                wide: Annotated[int, Field(deprecated=True)] = 2
                """How wide."""
                volume: int = 1
                """How much."""
            '''
        }
    )
    assert said(found, "box.Box(size)") == ("Use volume instead of this.", "volume")
    assert said(found, "box.Box(wide)") == ("Field(deprecated=True)", None)
    assert said(found, "box.Box(volume)") == (None, None)


def test_a_deprecated_overload_does_not_deprecate_the_function(package):
    """In a stub, one way to call may be deprecated while the others are not."""
    found = package(
        {
            "__init__.pyi": '''\
            @overload
            @deprecated("Pass a number instead of a text.")
            def put(size: str) -> None:
                """Put a thing in."""
            @overload
            def put(size: int) -> None: ...
            @overload
            @deprecated("Take it out by take().")
            def drop(size: str) -> None:
                """Drop a thing."""
            '''
        }
    )
    assert said(found, "box.put") == (None, None)
    assert said(found, "box.drop") == ("Take it out by take().", None)


def test_a_replacement_is_found_among_the_members_and_under_its_public_name(package):
    """A method names its sibling, a short form of the library's own, or a name of a private module."""
    found = package(
        {
            "__init__.py": "from ._impl import Box, pack",
            "_impl.py": '''\
            def pack():
                """Pack all."""

            class Box:
                """A box."""

                def close(self):
                    """Close it."""

                @deprecated("Use `close` instead of this.")
                def shut(self): ...

                @deprecated("Please use :meth:`_impl.Box.close`, it is the same.")
                def end(self): ...

                @deprecated("Use `Crate`, which is like `pack`, instead.")
                def fill(self): ...

                @deprecated("Use `shut` and nothing else.")
                def lock(self): ...
            ''',
        }
    )
    assert said(found, "box.Box.shut")[1] == "box.Box.close"
    assert said(found, "box.Box.end")[1] == "box.Box.close"
    assert said(found, "box.Box.fill")[1] is None
    assert said(found, "box.Box.lock")[1] is None  # what is deprecated itself is not recommended


def test_what_is_deprecated_ranks_below_what_replaces_it(package):
    """Both are found by the same words; the one to use is likelier."""
    found = package(
        {
            "__init__.py": '''\
            def old(size):
                """Put a thing in.

                Args:
                    size: How much of it.
                """
                warnings.warn("Use new instead of it", DeprecationWarning)

            def new(size):
                """Put a thing in, at once.

                Args:
                    size: How much of it, at once.
                """
            '''
        }
    )
    assert found.passage("box.old").prior < found.passage("box.new").prior
