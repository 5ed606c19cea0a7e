"""Signatures by SSH keys: true ones of every kind, and none that is not; OpenSSH is the judge."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.team.call_signature import LARGEST, NAMESPACE, PublicKey, SshError, bare, shown_by
from tests.support.examples import examples
from tests.support.ssh_keys import KINDS, Signer, armoured, signers

SIGNERS = signers()
MESSAGE = b"\0what is decided\xff"
MADE = {kind: signer.signature(MESSAGE) for kind, signer in SIGNERS.items()}
needs_openssh = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="there is no `ssh-keygen` here"
)


def openssh_says_it_is_true(folder: Path, signer: Signer, signature: bytes) -> bool:
    (folder / "allowed").write_text(f"ann {signer.line}\n")
    (folder / "signature").write_text(armoured(signature))
    verify = ["ssh-keygen", "-Y", "verify", "-f", str(folder / "allowed"), "-I", "ann"]
    verify += ["-n", NAMESPACE, "-s", str(folder / "signature")]
    return subprocess.run(verify, input=MESSAGE, capture_output=True, check=False).returncode == 0


@needs_openssh
@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS)
def test_a_signature_is_true_for_us_where_it_is_for_openssh(kind: str, tmp_path: Path) -> None:
    signer = SIGNERS[kind]
    for hashed in ("sha256", "sha512"):
        made = signer.signature(MESSAGE, hashed=hashed)
        assert openssh_says_it_is_true(tmp_path, signer, made)
        shown = shown_by(made, MESSAGE)
        assert str(shown.key) == " ".join(signer.line.split()[:2])
        assert shown.touched is kind.startswith("sk-")
    assert not openssh_says_it_is_true(tmp_path, Signer(kind), made)


@needs_openssh
@pytest.mark.process
@pytest.mark.parametrize("kind", [one for one in KINDS if one.startswith("sk-")])
def test_a_key_in_hardware_that_was_not_touched_says_so(kind: str, tmp_path: Path) -> None:
    untouched = Signer(kind, flags=0x04)
    made = untouched.signature(MESSAGE)
    assert not shown_by(made, MESSAGE).touched
    assert openssh_says_it_is_true(tmp_path, untouched, made)  # it leaves the touch to who asks
    lies = bytearray(made)
    lies[-5] |= 0x01  # the flags are signed too
    with pytest.raises(SshError, match="is false"):
        shown_by(bytes(lies), MESSAGE)


@needs_openssh
@pytest.mark.process
@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_what_ssh_keygen_signs_is_true(kind: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(key)], check=True)
    sign = ["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)]
    made = subprocess.run(sign, input=MESSAGE, capture_output=True, check=True).stdout.decode()
    known = PublicKey.parse(key.with_suffix(".pub").read_text())
    assert shown_by(bare(made), MESSAGE).key == known
    told = subprocess.run(["ssh-keygen", "-lf", str(key)], capture_output=True, check=True)
    assert known.fingerprint in told.stdout.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_signed_for_anything_else_is_refused(kind: str) -> None:
    signer = SIGNERS[kind]
    with pytest.raises(SshError, match="for something else"):
        shown_by(signer.signature(MESSAGE, "file"), MESSAGE)
    with pytest.raises(SshError, match="is false"):
        shown_by(signer.signature(MESSAGE), MESSAGE + b" ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "no public key"),
        ("ssh-ed25519", "no public key"),
        ("ssh-ed25519 AAAA", "no public key"),
        (f"ssh-rsa {SIGNERS['ssh-ed25519'].line.split()[1]}", "must be one of"),
        (f"sk-ssh-ed25519@openssh.com {SIGNERS['ssh-ed25519'].line.split()[1]}", "must be one of"),
    ],
    ids=["nothing", "a kind alone", "too short", "rsa", "another kind than it says"],
)
def test_a_line_that_is_no_key_of_a_kind_that_counts_says_so(line: str, words: str) -> None:
    with pytest.raises(SshError, match=words):
        PublicKey.parse(line)


@given(st.sampled_from(KINDS), st.data())
@examples(200)
def test_a_signature_with_any_byte_changed_is_false_or_an_error_in_words(
    kind: str, data: st.DataObject
) -> None:
    """The one thing that may change is a zero in front of a number, which says the same."""
    made = MADE[kind]
    at = data.draw(st.integers(0, len(made) - 1))
    new = data.draw(st.binary(max_size=3))
    changed = made[:at] + new + made[at + 1 :]
    if changed == made:
        return
    try:
        shown = shown_by(changed, MESSAGE)
    except SshError:
        return
    assert "ecdsa" in kind
    assert str(shown.key) == " ".join(SIGNERS[kind].line.split()[:2])


@given(st.binary(max_size=300).map(lambda tail: b"SSHSIG\0\0\0\1" + tail) | st.binary(max_size=99))
@examples(100)
def test_any_bytes_are_no_signature(data: bytes) -> None:
    with pytest.raises(SshError):
        shown_by(data, MESSAGE)
    with pytest.raises(SshError):
        shown_by(data + b"x" * LARGEST, MESSAGE)


@given(st.text())
@examples(50)
def test_any_text_is_no_key_and_no_signature(text: str) -> None:
    with pytest.raises(SshError):
        PublicKey.parse(text)
    with pytest.raises(SshError):
        bare(text)
