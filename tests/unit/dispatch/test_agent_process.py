"""How much an agent has written, looked at while it goes on."""

import os

from kr_core.dispatch import agent_process


def test_a_file_that_vanishes_hides_no_other(tmp_path, monkeypatch):
    """What lies beside it counts."""
    for number in range(5):
        (tmp_path / f"f{number}").write_bytes(b"x" * 4096)
    real = os.scandir

    class Racing:
        """The first entry is removed after the folder was read, before it is looked at."""

        def __init__(self, folder):
            self.entries = real(folder)

        def __enter__(self):
            found = list(self.entries)
            os.unlink(found[0].path)
            return iter(found)

        def __exit__(self, *error):
            self.entries.close()

    monkeypatch.setattr(os, "scandir", Racing)
    size, files = agent_process._filled(tmp_path)
    assert files == 4
    assert size >= 4 * 4096
