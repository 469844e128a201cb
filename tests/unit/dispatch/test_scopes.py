"""What a role may write: patterns, and names that try to be others."""

import pytest

from kr_core.dispatch.scopes import PRESETS, Scope, scope_of

DEDE = Scope("dede", ("src/",))


@pytest.mark.req("X2")
@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/", "src/a.py", True),
        ("src", "src/deep/a.py", True),
        ("src/**", "src/a.py", True),
        ("src/", "src2/a.py", False),
        ("src/", "lib/src/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("**/test_*.py", "app/deep/test_a.py", True),
        ("**/test_*.py", "test_a.py", True),
        ("apps/*/src/", "apps/web/src/a.ts", True),
        ("apps/*/src/", "apps/web/lib/a.ts", False),
        ("a?.py", "ab.py", True),
        ("**", "anything/at/all.py", True),
        ("../src/", "src/a.py", False),
        ("src/[a].py", "src/[a].py", True),
    ],
)
def test_a_pattern_is_compared_part_by_part(pattern, path, fits):
    """`src2/` is not `src/`, and `*` does not cross a folder."""
    assert (Scope("dede", (pattern,)).fault(path.encode()) == "") is fits


@pytest.mark.req("X2")
def test_deny_wins_in_any_case_of_letters():
    """What is denied stays so, however it is written, and with all below it."""
    scope = Scope("dede", ("src/",), ("src/secret/", "*.pem"))
    for path in ("src/secret/a.py", "src/SECRET/a.py", "src/deep/key.PEM", "src/secret"):
        assert "must not write" in scope.fault(path.encode()), path
    assert scope.fault(b"src/open/a.py") == ""


@pytest.mark.req("X2")
def test_an_unknown_role_writes_nothing():
    """Nor does a reviewer."""
    for role in ("nobody", "degaulle", "human", ""):
        assert "nothing" in scope_of(role, {}).fault(b"src/a.py")
    assert scope_of("marie", {}).allow == PRESETS["marie"]


@pytest.mark.req("X3")
@pytest.mark.parametrize(
    "path",
    [
        "SRC/a.py", "src/.git/hooks/x", "src/.GIT/config", "src/git~1/config", "src/.g\u200cit/config", ".git/config",
        "src/../tests/a.py", "/src/a.py", "src//a.py", "src/a.py ", "src/a.", "src\\a.py", "C:src/a.py", "src/a\u202e.py",
        "src/a\n.py", "src/.gitattributes", "src/.gitmodules", "src/.github/workflows/x.yml", "src/CODEOWNERS", "src/uv.lock",
        "src/.kr/journal", "src/kr.yaml", "", ".", "src/./a.py", "src/.claude/settings.json",
    ],
)  # fmt: skip
def test_a_name_that_tries_to_be_another_is_outside(path):
    """Other case, other Unicode form, other systems' forms, and what decides what git and KR do."""
    assert DEDE.fault(path.encode()) != ""


@pytest.mark.req("X3")
def test_a_name_that_is_not_utf_8_is_outside():
    """It could be two names on another system."""
    assert DEDE.fault(b"src/caf\xe9.py") == "its name is not UTF-8"


@pytest.mark.req("X2")
def test_a_closed_file_is_opened_by_its_name_alone():
    """`.github/workflows/` is gustave's, and a lock file is whose pattern names it; `.gitattributes` is nobody's."""
    assert scope_of("gustave", {}).fault(b".github/workflows/ci.yml") == ""
    assert scope_of("gustave", {}).fault(b".github/CODEOWNERS") != ""
    wide = Scope("dede", ("**",))
    assert wide.fault(b"pyproject.toml") == ""
    assert wide.fault(b"uv.lock") != ""
    assert Scope("dede", ("**", "uv.lock")).fault(b"uv.lock") == ""
    assert Scope("dede", ("**", ".gitattributes")).fault(b".gitattributes") != ""


@pytest.mark.req("X3")
@pytest.mark.parametrize(
    ("path", "grantable"),
    [
        ("pyproject.toml", True),
        ("src/uv.lock", True),
        (".gitignore", False),
        ("lib/.GitIgnore", False),
        ("lib/.gitattributes", False),
        ("KR.yaml", False),
    ],
)
def test_what_git_or_kr_obeys_cannot_be_granted(path, grantable):
    """In any folder and any case of letters."""
    assert DEDE.is_grantable(path) is grantable
