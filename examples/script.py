"""A plain script: one question, its answer, and the file and line behind every sentence.

python script.py "How do I follow redirects in httpx?"
"""

import sys

from kr_core import Pipeline


def main(question: str) -> int:
    """Ask, print, and return an exit code: 1 where there is nothing to cite."""
    with Pipeline.open() as pipeline:
        result = pipeline.research(question).result
    for fault in result.errors:
        print(fault.message, file=sys.stderr)
    print(result.results.summary)
    for citation in result.results.citations:
        print(f"[{citation.n}] {citation.url} {citation.locator}")
    return 0 if result.results.citations else 1


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
