"""Texts that would be copied for each of very many values: paths of keys, heading rows, evidence, files of a model."""

from __future__ import annotations

import os
import tracemalloc

import pytest

from kr_core.config.config_file import _check_nodes
from kr_core.errors import ConfigError
from kr_core.files import too_many_values
from kr_core.markup.blocks import table_parts
from kr_plugins.stores.files.folder import _as_mapping

pytestmark = pytest.mark.req("Z8")
_FLAT = 60_000_000


def test_a_long_key_is_not_copied_for_each_key_below_it():
    """The path of a key is only for messages."""
    import yaml

    text = "? " + "A" * 50_000 + "\n: {" + ", ".join(f"k{n}: 1" for n in range(4_000)) + "}\n"
    node = yaml.compose(text, yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader)
    tracemalloc.start()
    _check_nodes(node, "kr.yaml")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < _FLAT


def test_a_long_heading_row_is_not_copied_for_each_row():
    """Blocks of a table have a heading of a reasonable length, or none."""
    rows = ["| " + "h" * 20_000 + " |", "|---|", *("| x |" for _ in range(500))]
    blocks = list(table_parts(rows, ["1"] * len(rows)))
    assert sum(len(block.head or "") for block in blocks) < 2 * len(rows[0])
    assert len(blocks) < 100


def test_evidence_of_very_many_values_is_none():
    """Each value takes a hundred times its size in memory."""
    assert _as_mapping('{"a": {"b": [1, 2]}}') == {"a": {"b": [1, 2]}}
    assert _as_mapping('{"a": [' + "[]," * 600_000 + "1]}") == {}
    assert not too_many_values("{" * 1_000)


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors"])
def test_a_model_in_a_project_is_read_from_regular_files_of_its_folder(tmp_path, name):
    """Neither a pipe nor a link that leads out is opened."""
    pytest.importorskip("safetensors")
    pytest.importorskip("tokenizers")
    from kr_plugins.embedders.minilm import MiniLM

    folder, elsewhere = tmp_path / "model", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.write_bytes(b"{}")
    for other in {"tokenizer.json", "model.safetensors"} - {name}:
        (folder / other).write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")
    for make in (os.mkfifo, lambda path: path.symlink_to(elsewhere)):
        make(folder / name)
        with pytest.raises(ConfigError, match="the model cannot be read"):
            MiniLM(folder)
        (folder / name).unlink()
