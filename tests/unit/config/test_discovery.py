"""Which folder is the project and which file its configuration."""

import pytest

from kr_core.config.config_file import find
from kr_core.errors import ConfigError


@pytest.fixture
def deep(tmp_path):
    folder = tmp_path / "project" / "src" / "package"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def project(deep):
    return deep.parents[1]


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.req("P3")
def test_the_nearest_kr_yaml_upwards_is_the_configuration(project, deep):
    write(project.parent / "kr.yaml")
    file = write(project / "kr.yaml")
    found = find(deep)
    assert (found.root, found.file, found.bmad) == (project, file, False)


@pytest.mark.req("P3")
def test_a_table_tool_kr_in_pyproject_makes_a_project(project, deep):
    file = write(project / "pyproject.toml", "[tool.kr]\n")
    assert find(deep)[:2] == (project, file)


@pytest.mark.req("P3")
def test_a_bare_pyproject_or_git_folder_makes_no_project(project, deep):
    write(project / "pyproject.toml", "[project]\nname = 'kr'\n[tool]\nother = 'kr'\n")
    (project / ".git").mkdir()
    assert find(deep)[:2] == (deep, None)


@pytest.mark.req("P3", "P7")
def test_a_bmad_folder_makes_a_project_with_or_without_its_configuration(project, deep):
    (project / "_bmad").mkdir()
    assert find(deep)[:3] == (project, None, False)
    file = write(project / "_bmad" / "bso" / "config.yaml")
    assert find(deep)[:3] == (project, file, True)


@pytest.mark.req("P3")
def test_within_one_folder_kr_yaml_wins_over_pyproject_and_that_over_bmad(project, deep):
    bmad = write(project / "_bmad" / "bso" / "config.yaml")
    pyproject = write(project / "pyproject.toml", "[tool.kr]\n")
    own = write(project / "kr.yaml")
    assert find(deep).file == own
    own.unlink()
    assert find(deep).file == pyproject
    pyproject.unlink()
    assert find(deep).file == bmad


@pytest.mark.req("P3")
def test_a_nearer_bmad_folder_wins_over_a_farther_kr_yaml(project, deep):
    write(project.parent / "kr.yaml")
    (project / "_bmad").mkdir()
    assert find(deep)[:2] == (project, None)


@pytest.mark.req("P3")
def test_a_named_file_wins_and_its_folder_is_the_root(project, deep):
    write(deep / "kr.yaml")
    file = write(project / "other.yaml")
    found = find(deep, file)
    assert found == (project, file, False, (file,))
    assert find(deep, "../../other.yaml").file == file


@pytest.mark.req("P3", "P7")
def test_naming_bmads_own_file_makes_the_folder_of_bmad_the_root(project, deep):
    file = write(project / "_bmad" / "bso" / "config.yaml")
    assert find(deep, file)[:3] == (project, file, True)


@pytest.mark.req("P3")
def test_every_path_that_could_have_decided_is_told(project, deep):
    file = write(project / "kr.yaml")
    names = ["kr.yaml", "pyproject.toml", "_bmad", "_bmad/bso/config.yaml"]
    expected = [folder / name for folder in (deep, deep.parent) for name in names] + [file]
    assert find(deep).looked_at == tuple(expected)


@pytest.mark.req("P3")
def test_a_broken_pyproject_that_mentions_kr_is_an_error_with_its_line(project, deep):
    write(project / "pyproject.toml", '[project]\nname = "x"\n\n[tool.kr]\nstore = \n')
    with pytest.raises(ConfigError) as caught:
        find(deep)
    assert caught.value.where == "../../pyproject.toml:5"
    assert "not valid TOML" in caught.value.what


@pytest.mark.req("P3")
@pytest.mark.parametrize(
    "raw", [b"[project\nname = kr", b"\xff kr", b"tool = 3 # kr", b"[tool.kr-lint]\n = "]
)
def test_a_pyproject_without_our_table_is_nobodys_fault(project, deep, raw):
    (project / "pyproject.toml").write_bytes(raw)
    assert find(deep).file is None


@pytest.mark.req("P3")
def test_a_folder_called_pyproject_is_passed_over(project, deep):
    (project / "pyproject.toml").mkdir()
    assert find(deep).file is None


@pytest.mark.req("P3")
def test_a_folder_or_a_dangling_link_called_kr_yaml_is_found_so_that_reading_it_can_say_so(project, deep):
    (project / "kr.yaml").symlink_to("nowhere")
    assert find(deep).file == project / "kr.yaml"
    (deep / "kr.yaml").mkdir()
    assert find(deep).file == deep / "kr.yaml"
