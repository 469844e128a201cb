"""KR: technical questions answered once, well, and with their sources.

The names below are the public surface; each is imported on first use, so that `import kr_core` costs nothing.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # importing `typing` for this would double the start-up time; checkers know the name
if TYPE_CHECKING:
    from kr_core.errors import ConfigError as ConfigError
    from kr_core.errors import KRError as KRError
    from kr_core.errors import PluginError as PluginError
    from kr_core.errors import StorageError as StorageError

_HOMES = {
    "kr_core.errors": ("ConfigError", "KRError", "PluginError", "StorageError"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
