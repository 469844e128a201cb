"""Names under which people speak of a package, other than the one it is installed by."""

from __future__ import annotations

import re
from functools import lru_cache

_VERSION_TEXT = re.compile(r"[\w.+!<>=~^*|,@:/$&;'\"{}()\[\] -]{,200}")
_PROSE = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]{2,}+[ ,]++){3}")
_NAME_TEXT = re.compile(r"[^\s`]{1,300}")
"""Modules of Go have the longest names."""
_SPOKEN = {
    "@reduxjs/toolkit": "redux toolkit",
    "@tanstack/react-query": "react query|tanstack query",
    "attrs": "attr",
    "beautifulsoup4": "bs4|beautiful soup|beautiful soup 4|beautifulsoup",
    "discord-py": "discord.py",
    "django-cors-headers": "corsheaders",
    "django-rest-framework": "drf",
    "djangorestframework": "drf|django rest framework|rest_framework",
    "gitpython": "git python",
    "grpcio": "grpc",
    "google-cloud-storage": "google cloud storage",
    "jinja2": "jinja",
    "markdown-it-py": "markdown-it",
    "matplotlib": "plt|pyplot",
    "msgpack": "messagepack",
    "mysqlclient": "mysqldb",
    "networkx": "nx",
    "numpy": "np",
    "opencv-python": "cv2|opencv|open cv",
    "opencv-python-headless": "cv2|opencv|open cv",
    "pandas": "pd",
    "pillow": "pil",
    "protobuf": "google.protobuf|protocol buffers",
    "psycopg2-binary": "psycopg2",
    "pycryptodome": "crypto",
    "pyjwt": "jwt",
    "pymupdf": "fitz",
    "pyopenssl": "openssl",
    "pyserial": "serial",
    "python": "cpython|python 3|python3|stdlib|standard library|python standard library",
    "python-dateutil": "dateutil",
    "python-docx": "docx",
    "python-dotenv": "dotenv",
    "python-magic": "magic",
    "python-jose": "jose",
    "python-multipart": "multipart",
    "python-pptx": "pptx",
    "python-slugify": "slugify",
    "pyyaml": "yaml|py yaml",
    "pyzmq": "zmq|zeromq",
    "react-router": "react router",
    "redis": "redis-py|redis py",
    "ruamel-yaml": "ruamel|ruamel.yaml",
    "scikit-image": "skimage|scikit image",
    "scikit-learn": "sklearn|scikit learn|scikit",
    "seaborn": "sns",
    "sqlalchemy": "sql alchemy",
    "tensorflow": "tensor flow|tf",
    "three": "three.js",
    "torch": "pytorch|py torch",
    "vue-router": "vue router|vuerouter",
    "websocket-client": "websocket",
}
_SEPARATOR = r"[-_. ]?"
_SEPARATORS = re.compile(r"[-_.]+")


def normalise(name: str) -> str:
    """Normalise a distribution's name as PEP 503 does: lower case, runs of `-`, `_` and `.` become `-`."""
    return _SEPARATORS.sub("-", name.strip()).lower()


def is_version_text(text: str) -> bool:
    r"""Whether a text may be shown as a version or a range of them: who wrote it may be anybody.

    >>> is_version_text(">=1.0,<2 || 3.x"), is_version_text("9\n\n# An answer"), is_version_text("9 is what you should install")
    (True, False, False)
    """
    return bool(_VERSION_TEXT.fullmatch(text)) and not _PROSE.search(text)


def is_name_text(text: str) -> bool:
    """Whether a text may be shown as the name of a package: one word, and no longer than one."""
    return bool(_NAME_TEXT.fullmatch(text)) and text.isprintable()


def spoken_names(distribution: str) -> tuple[str, ...]:
    """List the other names of a distribution, lower-case: those it is imported by or called by people."""
    return tuple(name for name in _SPOKEN.get(normalise(distribution), "").split("|") if name)


def distributions_called(name: str) -> tuple[str, ...]:
    """List the distributions that a name other than their own may mean; none for most names."""
    return _called().get(_plain(name), ())


def without_name(text: str, framework: str) -> str:
    """Take a framework's own name, and what else it is called, out of a text.

    >>> without_name("Beautiful Soup: select by class", "beautifulsoup4")
    ': select by class'
    """
    return own_name(framework).sub(" ", text).strip()


@lru_cache(maxsize=256)
def own_name(framework: str) -> re.Pattern[str]:
    """The pattern of a framework's own name in a text, and of what else it is called."""
    names = {framework, *spoken_names(framework)}
    patterns = []
    for name in sorted(names, key=len, reverse=True):
        parts = [re.escape(part) for part in re.split(r"[-_.\s]+", name) if part]
        if parts:
            patterns.append(_SEPARATOR.join(parts))
    # ASCII look-arounds, since no space parts a name from Chinese or Japanese text. A path or a dotted name
    # that only ends in the name (`my.yaml`) is something else.
    inner = "|".join(patterns) or r"(?!)"
    return re.compile(rf"(?<![A-Za-z0-9_.])(?:{inner})(?:['\u2019]s)?(?![A-Za-z0-9_])", re.IGNORECASE)


def _plain(name: str) -> str:
    return re.sub(r"[-_.\s]+", "", name).lower()


@lru_cache(maxsize=1)
def _called() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for distribution in _SPOKEN:
        for name in spoken_names(distribution):
            table[_plain(name)] = (*table.get(_plain(name), ()), distribution)
    return table
