"""Cython's sources: heads and docstrings are read, with their places in the file."""

import ast
import textwrap

import pytest

from kr_plugins.sources.installed_docs.python.cython import as_python

pytestmark = pytest.mark.req("A7")

CRANE = '''\
cimport cpython
from libc.math cimport sin
include "hooks.pxi"

DEF LIMIT = 10

cdef int _weigh(int what) nogil:
    return what

cdef class Crane(Base):
    """A crane, which lifts things."""
    cdef public int height

    def __cinit__(self, int height=3):
        self.height = height

    cpdef int lift(self, const char *what, double by=1.5, bint quick=False) except -1:
        """Lift a thing up.

        Args:
            by: How far it is lifted.
        """
        cdef int i
        for i in range(3):
            pass
        return 0

    def lower(self,
              str what not None,
              *args, **kwargs):
        cdef int j = 0
        return j

def turn(np.ndarray[double, ndim=2] table, object by=None, plain: int = 3):
    "Turn it on its table."
    return <int>by
'''


def test_what_is_left_of_cython_is_python_with_the_same_places():
    """C's types become blanks; every line has its number and every name its column."""
    source = as_python(CRANE)
    tree = ast.parse(source)
    crane = next(one for one in tree.body if isinstance(one, ast.ClassDef))
    lift = next(one for one in crane.body if isinstance(one, ast.FunctionDef) and one.name == "lift")
    assert [one.arg for one in lift.args.args] == ["self", "what", "by", "quick"]
    assert [ast.literal_eval(one) for one in lift.args.defaults] == [1.5, False]
    line = CRANE.split("\n")[lift.lineno - 1]
    by = lift.args.args[2]
    assert line[by.col_offset :].startswith("by=1.5")
    assert ast.get_docstring(lift).startswith("Lift a thing up.")
    turn = tree.body[-1]
    assert [one.arg for one in turn.args.args] == ["table", "by", "plain"]
    assert ast.get_docstring(turn) == "Turn it on its table."
    assert "_weigh" not in source


def test_a_module_of_cython_is_read_with_what_it_includes(package):
    """Signatures are the source's own words, C's types among them; included files belong to the module."""
    hooks = 'class Hook:\n    """What things hang on."""\n'
    found = package({"__init__.py": "", "cranes.pyx": CRANE, "hooks.pxi": hooks})
    lift = found.passage("box.cranes.Crane.lift")
    assert lift.locator == "box/cranes.pyx:17"
    assert "cpdef int lift(self, const char *what, double by=1.5, bint quick=False) except -1:" in lift.text
    assert found.passage("box.cranes.Crane.lift(by)").data["default"] == "1.5"
    assert found.passage("box.cranes.Hook").locator == "box/hooks.pxi:1"


def test_a_stub_or_a_python_file_is_read_instead(package):
    """Where a file of the same name says the same for Python, Cython's is not read."""
    stub = 'class Crane:\n    """As the stub says."""\n'
    found = package({"__init__.py": "", "cranes.pyx": CRANE, "cranes.pyi": stub})
    assert found.passage("box.cranes.Crane").lead == "As the stub says."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def",
        "def (",
        "cdef class",
        "cdef class X",
        'def f():\n    """',
        "def f(:\n  x",
        "class A:\n",
        "cpdef :\n x",
        "def f(int a, (b):",
    ],
)
def test_broken_cython_raises_nothing(text):
    """Whatever is not a head becomes blank; the number of lines stays."""
    assert as_python(text).count("\n") == text.count("\n")


def test_long_sources_take_no_long_time():
    """A megabyte of open brackets is read once."""
    hostile = "def f(" + "(" * 500_000 + "\n" + textwrap.dedent("x\n") * 1000
    assert as_python(hostile).count("\n") == hostile.count("\n")


SHIP = '''\
cdef class Later

cdef extern from *:
    """
    class Hull {
      def nothing(self):
    };
    """
    int hull()

try:
    from ships import Ship
except ImportError:
    def ship(cls):
        return cls

cdef public class _Ship(Base) [ type ShipType,
                                object ShipObject ]:
    """A ship."""
    property mast:
        """How high it is."""
        def __get__(self):
            return 3

    IF LARGE:
        def deck(self):
            "One of many."

    def sail(self):
        "Sail away."

cpdef enum Wind:
    North = 1
'''


def test_public_classes_enums_and_properties_are_classes_with_their_own_members():
    """What is C++ in a string, only announced, or below a condition is not read, and ends nothing."""
    source = as_python(SHIP)
    tree = ast.parse(source)
    assert source.count("\n") == SHIP.count("\n")
    found = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    assert list(found) == ["_Ship", "Wind"]
    members = [one.name for one in found["_Ship"].body if not isinstance(one, ast.Expr)]
    assert members == ["mast", "sail"]
    assert ast.get_docstring(found["_Ship"].body[1]) == "How high it is."
    assert SHIP.split("\n")[found["Wind"].lineno - 1] == "cpdef enum Wind:"
