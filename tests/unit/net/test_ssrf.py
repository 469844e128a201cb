"""Which addresses may be connected to: those of the public internet, however they are written."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.net.gateway import place_of
from kr_core.net.ssrf import is_public

pytestmark = pytest.mark.req("Z2")


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450::1"])
def test_public_addresses(address):
    """What anybody on the internet reaches may be connected to."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "64:ff9b:1::1", "100::1", "5f00::1", "not an address", "",
    ],
)  # fmt: skip
def test_what_is_not_public(address):
    """This machine, its network, multicast, and what is reserved or for private use."""
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_in_an_address_counts_as_itself(inner):
    """IPv6 that stands for an IPv4 address (mapped, 6to4, NAT64) is as public as that one."""
    number, public = int(inner), is_public(str(inner))
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    assert is_public(f"::ffff:{high}:{low}") is public
    assert is_public(f"2002:{high}:{low}::1") is public
    assert is_public(f"64:ff9b::{high}:{low}") is public
    assert not is_public(f"::{high}:{low}")


@given(st.ip_addresses(v=4), st.sampled_from(["0", "200", "100", "300"]))
def test_an_isatap_address_leads_to_the_one_in_it(inner, universal):
    """Its last eight bytes are 00-00-5E-FE, with whatever flags, and the address of a machine within (RFC 5214, 6.1)."""
    number = int(inner)
    address = f"2606:4700:0:0:{universal}:5efe:{number >> 16:x}:{number & 0xFFFF:x}"
    assert is_public(address) is is_public(str(inner))
    assert not is_public(f"fe80::{universal}:5efe:{number >> 16:x}:{number & 0xFFFF:x}")


@pytest.mark.parametrize(
    "address", ["192.88.99.1", "192.88.99.255", "2002:c058:6301::1", "64:ff9b::c058:6301"]
)
def test_relays_of_6to4_are_not_public(address):
    """Their anycast prefix leads to whatever machine nearby announces it (RFC 7526 takes it out of use)."""
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "192.0.2.1", "198.51.100.1", "203.0.113.255", "233.252.0.1", "2001:db8:ffff::1", "3fff::1",
        "3fff:fff:ffff::1", "::ffff:203.0.113.1",
    ],
)  # fmt: skip
def test_addresses_for_documentation_are_not_public(address):
    """Nobody on the internet has one: what answers there is inside (RFC 5737, 6676, 3849 and 9637)."""
    assert not is_public(address)


def test_teredo_leads_to_its_client():
    """The last four bytes are the client's address, turned over."""
    assert not is_public("2001:0:102:304:0:0:80ff:fffe")  # 127.0.0.1


@pytest.mark.req("Z5")
@pytest.mark.parametrize(
    ("url", "host", "place"),
    [
        ("https://Docs.Example/a?q=secret#part", "docs.example:443", "https://docs.example/a"),
        ("http://user:secret@docs.example", "docs.example:80", "http://docs.example"),
        ("http://[::1]:8080/mcp", "::1:8080", "http://[::1]:8080/mcp"),
        ("https://bücher.example", "xn--bcher-kva.example:443", "https://xn--bcher-kva.example"),
        ("docs.example/mcp", ":0", "docs.example/mcp"),
    ],
)
def test_whose_circuit_it_is_and_what_is_told(url, host, place):
    """Host and port, and the address without its query and password, for every way out."""
    assert place_of(httpx.URL(url)) == (host, place)
