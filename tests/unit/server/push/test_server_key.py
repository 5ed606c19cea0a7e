"""The server's own key for push services."""

import stat
from pathlib import Path
from time import time

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from crabhook.server.push.sealing import from_base64url
from crabhook.server.push.server_key import ServerKey, ServerKeyError
from tests.support.push_service import fault_of

ORIGIN = "https://updates.push.services.mozilla.com"


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "push" / "key.pem"
    key = ServerKey.in_file(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ServerKey.in_file(path).public == key.public
    assert len(from_base64url(key.public)) == 65


def test_a_token_is_of_one_service_for_a_while(tmp_path: Path) -> None:
    key = ServerKey.in_file(tmp_path / "key.pem")
    header = key.header(ORIGIN, time())
    assert fault_of(header, ORIGIN) == ""
    assert header.endswith(f"k={key.public}")
    assert fault_of(header, "https://fcm.googleapis.com") == "the audience"
    assert fault_of(key.header(ORIGIN, time() - 24 * 3600), ORIGIN) == "the time"


def test_what_is_ours_is_told_by_the_same_key_alone(tmp_path: Path) -> None:
    key = ServerKey.in_file(tmp_path / "key.pem")
    assert ServerKey.in_file(tmp_path / "key.pem").mac("a") == key.mac("a")
    assert len({key.mac("a"), key.mac("b"), ServerKey.in_file(tmp_path / "b.pem").mac("a")}) == 3


def of_rsa() -> bytes:
    key = rsa.generate_private_key(65537, 2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("content", [b"", b"no key", of_rsa()])
def test_a_file_with_no_such_key_is_refused_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ServerKeyError):
        ServerKey.in_file(path)
    assert path.read_bytes() == content


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    ServerKey.in_file(path)
    path.chmod(0o640)
    with pytest.raises(ServerKeyError, match="chmod 600"):
        ServerKey.in_file(path)


def test_a_link_in_place_of_the_key_is_refused(tmp_path: Path) -> None:
    ServerKey.in_file(tmp_path / "other.pem")
    (tmp_path / "key.pem").symlink_to(tmp_path / "other.pem")
    with pytest.raises(ServerKeyError):
        ServerKey.in_file(tmp_path / "key.pem")
