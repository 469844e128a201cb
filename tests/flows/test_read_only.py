"""A project on a disk that cannot be written: a question is answered all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.projects import QUESTION

KR = str(Path(sys.executable).with_name("kr"))
MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'


@pytest.fixture
def read_only(project_folder, environ):
    """Runs `kr` in the project while it cannot be written: mounted so for root, who may write anywhere else."""

    def run(*arguments):
        command = [KR, *arguments]
        if os.geteuid() == 0:
            command = ["unshare", "--mount", "sh", "-c", MOUNTED, str(project_folder), *command]
            probe = subprocess.run([*command[:6], "true"], check=False, capture_output=True)
            if probe.returncode:
                pytest.skip("root may write everywhere, and may mount nothing here")
        else:
            project_folder.chmod(0o555)
        try:
            return subprocess.run(
                command, check=False, capture_output=True, text=True, cwd=project_folder, env=environ
            )
        finally:
            project_folder.chmod(0o755)

    return run


@pytest.mark.req("Z3", "R4")
class TestReadOnly:
    def test_a_question_is_answered(self, read_only, project_folder):
        """The answer is printed as always, with a note that nothing was kept; nothing is left."""
        before = sorted(project_folder.iterdir())
        done = read_only("research", QUESTION)
        assert done.returncode in {0, 1}, done
        assert "Confidence" in done.stdout
        assert f"nothing was kept: {project_folder} cannot be written" in done.stderr
        assert "Traceback" not in done.stderr
        assert sorted(project_folder.iterdir()) == before

    def test_a_kept_answer_is_found(self, read_only, kr_here, project_folder):
        """An answer that was kept before is a hit."""
        kr_here("research", QUESTION)
        done = read_only("research", f"{QUESTION} ", "--json")
        assert '"status": "cache-hit"' in done.stdout, done

    def test_without_an_answer(self, read_only, project_folder):
        """A question without an answer says so, as in any project."""
        done = read_only("research", "How do I bake bread?", "--framework", "nothing-of-that-name")
        assert "Traceback" not in done.stderr
        assert "cannot be written" in done.stderr
