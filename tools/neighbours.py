# ruff: noqa: INP001  a script, not a package
"""Write `kr_core/search/neighbours.txt`: which words lie near which, in a space of sentence embeddings.

Run by hand when the table is to be renewed, in an environment of its own, since KR does not depend on what it needs:

    pip install numpy tokenizers safetensors PyStemmer
    python tools/neighbours.py --model all-MiniLM-L6-v2 --packages .venv/lib/python3.11/site-packages

The left side, words that a person may use, are the model's own whole words and the words of API documentation. The
right side, words that a passage may have, are those of documentation only: docstrings and names in the given
packages and in the standard library of the Python that runs this. The same input gives the same table, but for
cosines on the edge of rounding, which depend on the machine's arithmetic.
"""

from __future__ import annotations

import argparse
import ast
import math
import re
import sysconfig
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import Stemmer
from safetensors.numpy import load_file
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

TABLE = Path(__file__).parents[1] / "kr_core" / "search" / "neighbours.txt"
HEADER = """\
# Near words by sentence embeddings: word, then neighbours with their cosine in hundredths, nearest first.
# Made with all-MiniLM-L6-v2 (Apache-2.0) from its own vocabulary and the words of API documentation.
"""

# A word is documentation's when so many packages, or so many files of the standard library, have it.
PACKAGES, FILES = 3, 8

CANDIDATES, NEIGHBOURS = 8, 6
# The least cosine, in hundredths. The model has one vector for a whole word, but reads others in pieces ("as",
# "yn", "c"), so that these lie near whatever shares a piece: they need more, and still more where they look alike.
FLOOR, FLOOR_PIECES, FLOOR_ALIKE, ALIKE = 55, 58, 70, 3

LAYERS, HEADS, WIDTH = 6, 12, 384

STOP_WORDS = frozenset(
    """
    the and for are was were been being has have had having does did doing but not nor yet you your yours yourself he him
    his she her hers they them their theirs themselves itself its himself herself this that these those who whom whose
    which what when where why how with without within from into onto upon about above below between among through during
    before after against under over again further then once here there all any both each few more most other others some
    such only own same than too very can could will would shall should may might must just also because while until
    unless although though however therefore thus hence whether either neither our ours ourselves out off down per via
    one two let lets don doesn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn didn etc ones else ever even
    still already much many cannot instead rather since every anything something nothing everything anyone someone
    everyone somehow somewhere otherwise whatever whichever whoever whenever wherever thereby therein thereof herein
    hereby whereas besides despite toward towards along across around behind beside beyond except amongst amid are get
    gets got use used using
    """.split()
)
NOT_DOCUMENTATION = frozenset("test tests testing_data __pycache__ idlelib lib2to3 ensurepip _vendor".split())
CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


# -- words -------------------------------------------------------------------------------------------------


def whole_words(model: Path) -> set[str]:
    """The words that the model has a vector of their own for."""
    tokens = (model / "vocab.txt").read_text("utf-8").split("\n")
    return {token for token in tokens if re.fullmatch("[a-z]{3,}", token)}


def documentation_words(site_packages: Iterable[Path]) -> set[str]:
    """The words that are common in the documentation of packages and of the standard library."""
    stdlib = [
        ("", file)
        for file in modules(Path(sysconfig.get_path("stdlib")))
        if "site-packages" not in file.parts
    ]
    packages = [
        (file.relative_to(folder).parts[0].removesuffix(".py"), file)
        for folder in site_packages
        for file in modules(folder)
    ]
    files = stdlib + packages
    in_files: Counter[str] = Counter()
    in_packages: defaultdict[str, set[str]] = defaultdict(set)
    with ProcessPoolExecutor() as pool:
        read = pool.map(words_of, [file for _, file in files], chunksize=50)
        for (package, _), words in zip(files, read, strict=True):
            if not package:
                in_files.update(words)
            for word in words if package else ():
                in_packages[word].add(package)
    return {word for word, count in in_files.items() if count >= FILES} | {
        word for word, names in in_packages.items() if len(names) >= PACKAGES
    }


def modules(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, tests and copies of other packages excluded."""
    for file in folder.rglob("*.py"):
        test = file.name.startswith("test_") or file.name.endswith("_test.py") or file.name == "conftest.py"
        if not test and NOT_DOCUMENTATION.isdisjoint(file.relative_to(folder).parts):
            yield file


def words_of(file: Path) -> set[str]:
    """The words of a module's docstrings, and those that its names are made of."""
    try:
        with warnings.catch_warnings(action="ignore"):  # other people's escapes
            tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):  # templates, and files for other Pythons
        return set()
    words: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            words.update(split(ast.get_docstring(node, clean=False) or ""))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            words.update(split(node.name))
        elif isinstance(node, ast.arg):
            words.update(split(node.arg))
    return {word for word in words if 3 <= len(word) <= 20} - STOP_WORDS


def split(text: str) -> Iterator[str]:
    """The words of a text in lower case; `CamelCase` and `snake_case` give their parts."""
    return (part.lower() for run in re.findall("[A-Za-z]+", text) for part in CAMEL.findall(run))


# -- embeddings --------------------------------------------------------------------------------------------


class Encoder:
    """The forward pass of all-MiniLM-L6-v2, which is little enough to do without a framework."""

    def __init__(self, model: Path) -> None:
        self._weights: dict[str, NDArray[np.float32]] = load_file(model / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def embed(self, words: list[str], batch: int = 256) -> NDArray[np.float32]:
        """A vector of length 1 for each word; words of equally many tokens go together, which saves the padding."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(words)]
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for number, ids in enumerate(tokens):
            by_length[len(ids)].append(number)
        vectors = np.zeros((len(words), WIDTH), np.float32)
        for numbers in by_length.values():
            for start in range(0, len(numbers), batch):
                some = numbers[start : start + batch]
                vectors[some] = self._forward(np.array([tokens[number] for number in some]))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _forward(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        positions = self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        x = self._weights["embeddings.word_embeddings.weight"][ids] + positions + kind
        x = self._normalise(x, "embeddings.LayerNorm")
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            attended = self._attend(x, f"{layer}.attention.self")
            attended = self._linear(attended, f"{layer}.attention.output.dense")
            x = self._normalise(x + attended, f"{layer}.attention.output.LayerNorm")
            inner = gelu(self._linear(x, f"{layer}.intermediate.dense"))
            x = self._normalise(x + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return x.mean(1)

    def _attend(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        count, length, _ = x.shape
        query, key, value = (
            self._linear(x, f"{name}.{part}").reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3) / math.sqrt(WIDTH // HEADS)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ value).transpose(0, 2, 1, 3).reshape(x.shape)

    def _linear(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        flat = x.reshape(-1, x.shape[-1]) @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def _normalise(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-12)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """GELU; numpy has no error function, hence formula 7.1.26 of Abramowitz and Stegun (error below 1.5e-7)."""
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return 0.5 * x * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))


# -- the table ---------------------------------------------------------------------------------------------


def table(encoder: Encoder, whole: set[str], documentation: set[str]) -> Iterator[str]:
    """The table's lines, in the order of their words; a word without neighbours has none."""
    left, right = sorted(whole | documentation), sorted(documentation)
    stem = Stemmer.Stemmer("porter").stemWord
    stems = {word: stem(word) for word in left}
    vectors = encoder.embed(left)
    others = vectors[[word in documentation for word in left]]
    for word, vector in zip(left, vectors, strict=True):
        cosines = others @ vector
        found: dict[str, tuple[str, int]] = {}  # by stem: the index has the stem only
        for number in np.argsort(-cosines, kind="stable"):
            if len(found) == CANDIDATES:
                break
            if stems[right[number]] != stems[word]:
                found.setdefault(stems[right[number]], (right[number], round(float(cosines[number]) * 100)))
        known = word in whole
        near = [pair for pair in found.values() if pair[1] >= floor(word, pair[0], whole=known)]
        if near:
            yield " ".join([word, *(f"{other} {cosine}" for other, cosine in near[:NEIGHBOURS])])


def floor(word: str, other: str, *, whole: bool) -> int:
    """The least cosine that makes one word a neighbour of the other, in hundredths."""
    if whole:
        return FLOOR
    alike = word[:ALIKE] == other[:ALIKE] or word[-ALIKE:] == other[-ALIKE:]
    return FLOOR_ALIKE if alike else FLOOR_PIECES


def main() -> None:
    """Make the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    model = "folder of all-MiniLM-L6-v2: model.safetensors, tokenizer.json, vocab.txt"
    packages = "folders whose documentation words form the right side"
    parser.add_argument("--model", type=Path, required=True, metavar="FOLDER", help=model)
    parser.add_argument(
        "--packages", type=Path, nargs="+", required=True, metavar="SITE_PACKAGES", help=packages
    )
    parser.add_argument("--out", type=Path, default=TABLE, help="the table (default: %(default)s)")
    options = parser.parse_args()
    documentation = documentation_words(options.packages)
    lines = list(table(Encoder(options.model), whole_words(options.model), documentation))
    options.out.write_text(HEADER + "".join(f"{line}\n" for line in lines), "ascii")
    print(f"{options.out}: {len(lines)} words")


if __name__ == "__main__":
    main()
