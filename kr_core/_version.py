"""The version of KR."""

__version__ = "0.1.0"
