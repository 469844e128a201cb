"""What is one step away from the names that the asker expects: members of what a call returns, other owners, sections."""

from __future__ import annotations

import pytest
from unit.plugins.installed_docs.test_npm import lay

pytestmark = pytest.mark.req("A14")
TYPES = """\
export interface Auth { }
/** A door for many rooms. */
export declare class Server {
  /** Registers a guard, which is called for every incoming guest. */
  use(guard: Function): this;
}
/** One room. */
export declare class Room {
  /** Registers a guard of this room. */
  use(guard: Function): this;
}
/** A guest. */
export declare class Guest {
  /** What the guest said at the door. */
  handshake: Auth;
}
export declare class Insert {
  $returningId(): this;
}
/** Marks what follows as a test. */
export declare const test: TestOfAnother;
"""
README = """\
# porter

## Interceptors

You can intercept a guest before the room: `porter.interceptors.entry.use(guard)`.
"""


@pytest.fixture
def porter(tmp_path):
    manifest = {"name": "porter", "version": "1.2.0", "types": "index.d.ts"}
    lay(
        tmp_path / "node_modules/porter", {"package.json": manifest, "index.d.ts": TYPES, "README.md": README}
    )
    return tmp_path


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("io.use", "Registers a guard, which is called for every incoming guest."),
        ("socket.handshake.auth", "What the guest said at the door."),
        ("$returningId", "`Insert.$returningId()`"),
        ("interceptors.entry.use", "intercept a guest before the room"),
    ],
)
def test_a_name_of_a_script_is_found_by_its_parts(ask_about, porter, name, told):
    """`io` and `socket` are modules of Python's, which say nothing here; `$` is part of a name."""
    text, _level = ask_about("porter", "How do I look at who comes in?", name)
    assert told in text
    assert "found nothing named" not in text


def test_a_member_of_a_value_whose_type_is_not_known_is_not_denied(ask_about, porter):
    """`test.each` may be declared by the package that the type is from."""
    text, _level = ask_about("porter", "How do I run it for a table?", "test.each")
    assert "nothing named" not in text
    text, _level = ask_about("porter", "How do I run it for a table?", "Guest.each")
    assert "nothing named `Guest.each`" in text


CRANE = '''\
    """Cranes."""

    class Load:
        """What hangs on a crane."""

        def swing(self, degrees: int) -> None:
            """Swing the load to one side."""

        def weigh(self) -> int:
            """Weigh the load in tons."""

    def lift(what: str, catch: bool = False, **options) -> Load:
        """Lift something.

        Args:
            what: The thing.
            catch: Passed to `hold`.
        """

    def hold(catch: bool = False) -> None:
        """Hold something.

        Args:
            catch: Whether a thing that slips is caught again before it reaches the ground, as a net does.
        """
    '''


def test_the_nearest_members_of_what_a_call_returns_are_shown(ask_about, install):
    """The class is declared, and says how what was lifted is weighed."""
    install("crane", {"crane/__init__.py": CRANE})
    told, _level = ask_about("crane", "How do I lift something and weigh it in tons?", "lift")
    assert "Weigh the load in tons." in told


def test_a_parameter_that_only_points_elsewhere_is_shown_with_what_it_points_at(ask_about, install):
    install("crane", {"crane/__init__.py": CRANE})
    told, _level = ask_about("crane", "How do I keep a thing that slips from the ground?", "lift", "catch")
    assert "Passed to `hold`" in told
    assert "caught again before it reaches the ground" in told
