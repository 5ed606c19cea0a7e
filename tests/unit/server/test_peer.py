"""The kernel says who connected; our own user and root may ask."""

import os
import pwd
import socket

import pytest

from crabhook.server.unix_socket import Peer, peer_of


def test_the_kernel_names_the_process_at_the_other_end() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert peer_of(one) == Peer(os.getpid(), os.getuid())


@pytest.mark.parametrize("uid", [os.getuid() + 1, 65_534, -1])
def test_other_users_may_not_ask(uid: int) -> None:
    assert not Peer(1, uid).is_ours
    assert Peer(1, os.getuid()).is_ours
    assert Peer(1, 0).is_ours


def test_the_operator_is_told_who_asks() -> None:
    origin = Peer(4242, os.getuid()).origin
    assert (origin.host, origin.pid) == (os.uname().nodename, 4242)
    assert origin.user == pwd.getpwuid(os.getuid()).pw_name


def test_a_user_without_a_name_is_told_by_number() -> None:
    assert Peer(1, 3_999_999_999).origin.user == "3999999999"
