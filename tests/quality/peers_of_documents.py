"""bm25s over the documents of a file, in the environment of the peers: prints the ten best documents for each query.

    .quality/peers/.venv/bin/python tests/quality/peers_of_documents.py FILE

FILE is JSON, `{"documents": {name: text}, "queries": [text]}`; the answer is a list of lists of names.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bm25s
import Stemmer

BEST = 10


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    stemmer = Stemmer.Stemmer("english")
    names = list(given["documents"])

    def tokens(texts):
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25()
    index.index(tokens(list(given["documents"].values())), show_progress=False)
    found, _scores = index.retrieve(tokens(given["queries"]), k=BEST, show_progress=False)
    json.dump([[names[number] for number in row] for row in found], sys.stdout)


if __name__ == "__main__":
    main()
