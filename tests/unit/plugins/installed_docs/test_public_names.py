"""The names that users write."""

import pytest

DO = '"Do it in a way."'


@pytest.mark.req("R18")
def test_a_reexport_is_the_name_users_write(package):
    """What a package re-exports from a private module is known by the package's name."""
    box = package(
        {
            "__init__.py": "from ._api import get, put as store\n",
            "_api.py": f"def get(): {DO}\ndef put(): {DO}\n",
        }
    )
    assert box.name("box._api.get") == "box.get"
    assert box.name("box._api.put") == "box.store"


@pytest.mark.parametrize(
    ("api", "name"),
    [
        (f"__all__ = ['get']\ndef get(): {DO}\n", "box.get"),
        (f"__all__ = []\n__all__ += ['get']\ndef get(): {DO}\n", "box.get"),
        (f"def get(): {DO}\n", "box.get"),
        (f"__all__ = ['put']\ndef get(): {DO}\n", "box._api.get"),
    ],
    ids=["all", "more of all", "no all", "not in all"],
)
def test_a_star_import_offers_what_its_module_exports(package, api, name):
    """`from ._api import *` brings `__all__`, or, without one, every name that is not private."""
    assert package({"__init__.py": "from ._api import *\n", "_api.py": api}).name("box._api.get") == name


def test_a_star_import_brings_no_private_name(package):
    box = package({"__init__.py": "from ._api import *\n", "_api.py": f"def _get(): {DO}\n"})
    assert not box.names.of(box.definition("box._api._get")).public


def test_an_alias_is_another_name(package):
    """`fetch = get` names the same thing; the thing's own name comes first, whatever is shorter."""
    box = package({"__init__.py": f"def collect(): {DO}\nget = collect\n"})
    naming = box.names.of(box.definition("box.collect"))
    assert (naming.name, naming.also) == ("box.collect", ("box.get",))


def test_a_private_thing_is_known_by_its_public_alias(package):
    box = package({"__init__.py": f"class _Box:\n    {DO}\n    def put(self): {DO}\nBox = _Box\n"})
    assert box.name("box._Box") == "box.Box"
    assert box.name("box._Box.put") == "box.Box.put"


def test_members_of_a_private_base_are_called_on_its_public_subclass(package):
    """`_Base.put` is called as `Box.put`, also where both classes have one name."""
    box = package({
        "__init__.py": "from ._api import Box\n",
        "_base.py": f"class Box:\n    {DO}\n    def put(self): {DO}\n    def take(self): {DO}\n",
        "_api.py": f"from . import _base\nclass Box(_base.Box):\n    {DO}\n    def take(self): {DO}\n",
    })  # fmt: skip
    assert box.name("box._base.Box.put") == "box.Box.put"
    assert not box.names.of(box.definition("box._base.Box.take")).public  # it is overridden


def test_a_public_object_stands_for_its_private_class(package):
    """`logger = _Logger()` is how `_Logger.add` is called."""
    box = package({
        "__init__.py": "from ._logger import logger\n",
        "_logger.py": f"class _Logger:\n    {DO}\n    def add(self): {DO}\nlogger = _Logger(level=1)\n",
    })  # fmt: skip
    assert box.name("box._logger._Logger.add") == "box.logger.add"


def test_a_module_does_not_offer_what_it_uses(package):
    """A plain module that imports a name for its own use is no place to import it from; with `__all__` it is."""
    files = {"_api.py": f"def get(): {DO}\n", "tools.py": "from ._api import get\n", "__init__.py": ""}
    assert not (box := package(files)).names.of(box.definition("box._api.get")).public
    files["tools.py"] += "__all__ = ['get']\n"
    assert package(files).name("box._api.get") == "box.tools.get"


def test_the_import_counts_not_what_replaces_it(package):
    """`try: from ._fast import parse`, `except ImportError: parse = None`: the import is what is offered."""
    box = package({
        "__init__.py": "try:\n    from ._fast import parse\nexcept ImportError:\n    parse = None\n",
        "_fast.py": f"def parse(): {DO}\n",
    })  # fmt: skip
    assert box.name("box._fast.parse") == "box.parse"


def test_the_shortest_public_way_is_the_name(package):
    """Of several re-exports the one with fewest dots is the name, and the others are told."""
    box = package({
        "__init__.py": "from .net.client import Client\n",
        "net/__init__.py": "from .client import Client\n",
        "net/client.py": f"class Client:\n    {DO}\n",
    })  # fmt: skip
    naming = box.names.of(box.definition("box.net.client.Client"))
    assert (naming.name, naming.also) == ("box.Client", ("box.net.Client", "box.net.client.Client"))


@pytest.mark.parametrize(
    "files",
    [
        {"__init__.py": "from .a import x\n", "a.py": "from .b import x\n", "b.py": "from .a import x\n"},
        {"__init__.py": "from .a import *\n", "a.py": "from .b import *\n", "b.py": "from .a import *\n"},
        {"__init__.py": "a = b\nb = a\n"},
        {"__init__.py": "from . import x\n"},
        {"__init__.py": "from box.a import x\n", "a.py": "import box.b\nx = box.b.y\n", "b.py": "import box.a\ny = box.a.x\n"},
        {"__init__.py": "class A(B):\n    def f(self): ...\nclass B(A):\n    def g(self): ...\n"},
        {"__init__.py": "class A(A):\n    'It is its own base.'\n    def f(self): 'Do it.'\n"},
        {"__init__.py": "x = None\nx = box\nbox = x.x\n"},
    ],
    ids=["imports", "stars", "aliases", "itself", "modules", "bases", "own base", "none"],
)  # fmt: skip
def test_what_points_in_circles_ends(package, files):
    """Imports, aliases and bases that point at each other are named without end."""
    assert package(files).passages is not None


@pytest.mark.parametrize(
    ("where", "name", "found"),
    [
        ("box", "Timeout", "box._config.Timeout"),
        ("box", "Timeout.wait", "box._config.Timeout.wait"),
        ("box.api", "_config.Timeout", "box._config.Timeout"),
        ("box.api", "box._config.Timeout", "box._config.Timeout"),
        ("box.api", "config.Timeout", "box._config.Timeout"),
        ("box.api", "Timeout", None),
        ("box.api", "os.path", None),
        ("nowhere", "Timeout", None),
    ],
)
def test_a_name_means_what_it_means_in_its_module(package, where, name, found):
    """Dotted names are resolved through imports, modules and classes of the distribution itself."""
    box = package({
        "__init__.py": "from ._config import Timeout\n",
        "_config.py": f"class Timeout:\n    {DO}\n    def wait(self): {DO}\n",
        "api.py": "import os\nimport box._config\nimport box._config as config\nfrom . import _config\n",
    })  # fmt: skip
    resolved = box.names.resolve(where, name)
    assert (resolved and f"{resolved.module}.{resolved.qualname}") == found


def test_private_members_are_not_public(package):
    box = package(
        {"__init__.py": f"class Box:\n    {DO}\n    def _hidden(self): {DO}\n    def __call__(self): {DO}\n"}
    )
    assert not box.names.of(box.definition("box.Box._hidden")).public
    assert box.name("box.Box.__call__") == "box.Box.__call__"
