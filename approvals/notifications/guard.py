"""Which addresses may be called: the open internet and what the operator names, so that no URL leads inside.

It knows no Django: the process that speaks to chat services uses it too.
"""

import socket
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Answers questions about the machine it is asked from, though it is no private address.
_INSIDE = frozenset({ip_address("168.63.129.16")})
_NAT64 = ip_network("64:ff9b::/96")
# What is given out of IPv6; the rest is for gateways and tunnels of a network's own, whatever Python's list says of it.
_GIVEN_OUT = ip_network("2000::/3")


class Inside(OSError):
    """The name leads to an address inside, which is not called."""


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """The networks that these texts name, such as 10.0.0.0/8; raises ValueError for one that is none."""
    return tuple(ip_network(text.strip()) for text in texts if text.strip())


def is_open(address: Address) -> bool:
    """Whether it is an address of the open internet, and so is every one that hides in it."""
    return all(map(_is_given_out, _unfolded(address)))


def is_named(address: Address, allowed: Sequence[Network]) -> bool:
    """Whether the operator allows this address by name."""
    return any(each in network for each in _unfolded(address) for network in allowed)


def demand(text: str, allowed: Sequence[Network]) -> Address:
    """The address, if it may be called; raises Inside."""
    found = ip_address(text.partition("%")[0])
    if is_named(found, allowed) or is_open(found):
        return found
    raise Inside(f"{text} is an address inside; the operator has to allow it (OUTBOUND_NETWORKS)")


def resolve(host: str, port: int, allowed: Sequence[Network]) -> list[str]:
    """The addresses of the host; raises Inside if one of them may not be called, OSError if there is none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for each in addresses:
        demand(each, allowed)
    return addresses


def literal(host: str) -> Address | None:
    """The address that a host is written as, such as `[::1]`, `2130706433` or `0x7f.1`; None where it is a name."""
    try:
        return ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        pass
    try:
        return ip_address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def _is_given_out(address: Address) -> bool:
    if isinstance(address, IPv6Address) and not (address in _GIVEN_OUT or address in _NAT64 or address.ipv4_mapped):
        return False
    return address.is_global and not address.is_multicast and address not in _INSIDE


def _unfolded(address: Address) -> Iterator[Address]:
    """The address, and the IPv4 one that a gateway would make of it."""
    yield address
    if isinstance(address, IPv4Address):
        return
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        inner.append(IPv4Address(int(address) & 0xFFFFFFFF))
    yield from (each for each in inner if each is not None)
