"""Whose a page is."""

import pytest

from kr_core.net.domains import site_of


@pytest.mark.req("R13", "E4")
@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://docs.python.org/3/", "python.org"),
        ("https://PYTHON.org./", "python.org"),
        ("http://python.org:8080/x", "python.org"),
        ("https://www.example.co.uk/", "example.co.uk"),
        ("https://a.b.example.com.au/", "example.com.au"),
        ("https://co.uk/", "co.uk"),
        ("https://one.github.io/x", "one.github.io"),
        ("https://two.readthedocs.io/en/latest", "two.readthedocs.io"),
        ("https://github.com/one/x", "github.com"),
        ("http://127.0.0.1:8000/x", "127.0.0.1"),
        ("http://[::1]:8000/x", "::1"),
        ("http://localhost/x", "localhost"),
        ("http://[/", ""),
        ("", ""),
    ],
)
def test_sites(url, site):
    """It is the registered part of the host's name; of a host for many, the part below it."""
    assert site_of(url) == site
