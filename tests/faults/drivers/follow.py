"""Change a document, index it, and bring tantivy's index after it, over and over; prints the number of each round that is done."""

import sys
from itertools import count
from pathlib import Path

from kr_core.search.documents.indexer import update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.documents.tantivy_index import FOLDER_NAME, follow

folder = Path(sys.argv[1])
store = DocumentStore(folder / FILE_NAME, writable=True)
for number in count(int(sys.argv[2])):
    (folder / "docs" / f"{number % 40}.md").write_text(f"# Note {number}\n\nThe van number{number} leaves.\n")
    update(store, folder / "docs", "docs")
    follow(store, folder / FOLDER_NAME)
    print(number, flush=True)
