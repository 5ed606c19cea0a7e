"""Checks whose signatures an answer has, by the team's file; imported by strict hooks alone.

A signature counts if a person of the team made it who may decide this call. The key has to stand in
the file, and to need a person. What the server says is not believed: neither who signed nor
who has to. Each rule here is also a rule of `crabhook.team`, which has `cryptography`.
"""

from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64

from crabhook.hook.curves import Ed25519Key, P256Key, RsaKey
from crabhook.hook.quorum import Quorum, TrueSigner
from crabhook.hook.statement import (
    NAMESPACE,
    SignedTerms,
    SignedVote,
    framed,
    sha256,
    sha512,
    statement,
    terms_in,
    unframed,
)
from crabhook.hook.wire import fields_of

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class _Scanning:
    """How `_json` is to read: what it asks of json's own decoder."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float, parse_int = float, int


try:
    # The part of json that is written in C; json itself costs half a start of Python.
    from _json import make_scanner
except ImportError:  # a Python without that part has json alone
    from json import JSONDecoder

    _scan = JSONDecoder().raw_decode
else:
    _scan = make_scanner(_Scanning())  # type: ignore[arg-type, assignment]


class UnsignedError(Exception):
    """A team file or a signature that does not count; the text says why."""


# The answer's fields, by the key of the wire: a number and a wire type.
_SIGNATURES, _TEAM_FILE = 20 << 3 | 2, 21 << 3 | 2
_DESK, _SSH, _PASSKEY = 1, 2, 3  # SignatureKind
_MOST_SIGNATURES = 32  # of an answer; each costs a millisecond
_MOST_READY = 12  # keys; each costs a millisecond or two
LARGEST_TEAM = 4 << 20  # bytes of a team file: ten thousand members
_LONGEST = 8192  # bytes of a part of a signature
_SKEW = 600  # seconds by which two clocks may differ


def signatures_in(response: bytes) -> "list[WireSignature]":
    """Return the signatures in a PermissionResponse, not more than anybody needs."""
    messages = [value for key, _, value in fields_of(response) if key == _SIGNATURES]
    return [WireSignature(message) for message in messages[:_MOST_SIGNATURES]]


def team_file_in(response: bytes) -> bytes:
    """Return the server's team file in a PermissionResponse; empty for none."""
    files = [value for key, _, value in fields_of(response) if key == _TEAM_FILE]
    return files[-1] if files and len(files[-1]) <= LARGEST_TEAM else b""


class WireSignature:
    """A DecisionSignature as it came: nothing in it is believed."""

    def __init__(self, message: bytes) -> None:
        fields = {key >> 3: value or number for key, number, value in fields_of(message)}
        self.kind = fields.get(1, 0)
        self.signature, self.authenticator_data, self.client_data = (
            _bytes(fields.get(number, b"")) for number in (8, 9, 10)
        )
        operator, key, verdict = (_bytes(fields.get(number, b"")) for number in (2, 3, 5))
        signed_at, card = (_number(fields.get(number, 0)) for number in (4, 6))
        self.vote = SignedVote(
            verdict=verdict.decode("utf-8", "replace"),
            card=card,
            terms=_bytes(fields.get(7, b"")),
            operator=operator.decode("utf-8", "replace"),
            key=key.decode("utf-8", "replace"),
            signed_at_ms=signed_at,
        )


def _bytes(value: "bytes | int") -> bytes:
    return value if isinstance(value, bytes) else b""


def _number(value: "bytes | int") -> int:
    return value if isinstance(value, int) else 0


# What is read by name and by value.


def _object(data: bytes) -> "dict[str, Any]":
    """Return a JSON object; raise UnsignedError for anything else."""
    try:
        text = data.decode()
        value, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError, TypeError) as error:
        raise UnsignedError("it cannot be read") from error
    if not isinstance(value, dict) or text[end:].strip(" \t\r\n"):
        raise UnsignedError("it cannot be read")
    return value


def _base64(text: "str | bytes") -> bytes:
    """Return what base64 or base64url says, padded or not; raise UnsignedError."""
    raw = text.encode("ascii", "replace") if isinstance(text, str) else text
    plain = raw.replace(b"-", b"+").replace(b"_", b"/")
    try:
        return a2b_base64(plain + b"=" * (-len(plain) % 4), strict_mode=True)
    except Base64Error as error:
        raise UnsignedError("it cannot be read") from error


def _strings(data: bytes, count: int = 0) -> list[bytes]:
    """Return the strings in SSH's format, so many if a count is given; raise UnsignedError."""
    try:
        strings = list(unframed(data))
    except ValueError as error:
        raise UnsignedError("it cannot be read") from error
    if count and len(strings) != count:
        raise UnsignedError("it cannot be read")
    return strings


def _positive(raw: bytes) -> int:
    """Return a number above zero in its shortest form, with a bit for its sign."""
    if not raw or raw[0] >> 7 or (raw[0] == 0 and not (len(raw) > 1 and raw[1] >> 7)):
        raise UnsignedError("it cannot be read")
    return int.from_bytes(raw, "big")


def _der_pair(signature: bytes) -> tuple[int, int]:
    """Return r and s of an ECDSA signature in DER, which has a single form."""
    if len(signature) < 8 or signature[0] != 0x30 or signature[1] != len(signature) - 2:
        raise UnsignedError("it cannot be read")
    middle = 4 + signature[3]
    if signature[2] != 2 or signature[middle : middle + 1] != b"\x02":
        raise UnsignedError("it cannot be read")
    if signature[middle + 1 : middle + 2] != bytes((len(signature) - middle - 2,)):
        raise UnsignedError("it cannot be read")
    return _positive(signature[4:middle]), _positive(signature[middle + 2 :])


# A person's keys: what each signs, and why a signature by it does not count.


class DeskSigner:
    """A desk's own key, which the desk's passphrase opens."""

    records = "devices"

    def __init__(self, record: "dict[str, Any]") -> None:
        if not record.get("signing"):
            raise ValueError("that device joined before desks signed: invite it again")
        self.record = record
        self.key = Ed25519Key(bytes.fromhex(record["signing"]))

    @staticmethod
    def name(record: "dict[str, Any]") -> str:
        """Return a key's id."""
        return str(record["id"])

    def verify(self, text: bytes, made: WireSignature) -> None:
        """Raise UnsignedError unless this key signed the statement."""
        if not self.key.signed(made.signature, text):
            raise UnsignedError("it is false")


class SshSigner:
    """An SSH key that signs as `ssh-keygen -Y sign` does (OpenSSH's PROTOCOL.sshsig)."""

    records = "keys"
    _MAGIC = b"SSHSIG"
    _TOUCHED = 0x01

    def __init__(self, record: "dict[str, Any]") -> None:
        self.record, self._blob = record, _base64(str(record["key"]).split()[1])
        self._kind, *parts = _strings(self._blob)
        self._application = b""
        if self._hardware:
            *parts, self._application = parts
        self.key: Ed25519Key | P256Key
        if self._kind in (b"ssh-ed25519", b"sk-ssh-ed25519@openssh.com"):
            (public,) = parts
            self.key = Ed25519Key(public)
        elif self._kind in (b"ecdsa-sha2-nistp256", b"sk-ecdsa-sha2-nistp256@openssh.com"):
            curve, public = parts
            if curve != b"nistp256":
                raise ValueError("it is of another curve")
            self.key = P256Key(public)
        else:
            raise ValueError("its kind is not known here")

    @property
    def _hardware(self) -> bool:
        return self._kind.startswith(b"sk-")

    @staticmethod
    def name(record: "dict[str, Any]") -> str:
        """Return a key's id: its fingerprint, as `ssh-keygen -l` prints it."""
        digest = sha256(_base64(str(record["key"]).split()[1])).digest()
        return "SHA256:" + b2a_base64(digest, newline=False).decode().rstrip("=")

    def verify(self, text: bytes, made: WireSignature) -> None:
        """Raise UnsignedError unless this key signed the statement, and a person was there."""
        signature = made.signature
        if not signature.startswith(self._MAGIC + b"\0\0\0\1"):
            raise UnsignedError("it is no SSH signature")
        blob, namespace, reserved, hashed, inner = _strings(signature[10:], 5)
        hashes = {b"sha256": sha256, b"sha512": sha512}
        if blob != self._blob or namespace != NAMESPACE.encode() or hashed not in hashes:
            raise UnsignedError("it was made by another key, or for something else")
        signed = self._MAGIC + framed(namespace, reserved, hashed, hashes[hashed](text).digest())
        if self._hardware:
            inner, flags_and_counter = inner[:-5], inner[-5:]
            if not int.from_bytes(flags_and_counter[:1], "big") & self._TOUCHED:
                raise UnsignedError("nobody touched the key")
            device = sha256(self._application).digest() + flags_and_counter
            signed = device + sha256(signed).digest()
        elif not self.record.get("confirmed"):
            raise UnsignedError("that key signs without a person, and no admin vouches for it")
        kind, bare = _strings(inner, 2)
        if kind != self._kind or not self._signed(bare, signed):
            raise UnsignedError("it is false")

    def _signed(self, bare: bytes, signed: bytes) -> bool:
        if isinstance(self.key, Ed25519Key):
            return self.key.signed(bare, signed)
        r, s = _strings(bare, 2)
        return self.key.signed(_positive(r), _positive(s), signed)


class PasskeySigner:
    """A passkey, which signs for pages of its host after a fingerprint, a face or a PIN."""

    records = "passkeys"
    _PRESENT, _VERIFIED, _CAN_BE_COPIED = 0x01, 0x04, 0x08
    # COSE keys as enrolment writes them: one form each (RFC 9053).
    _EC = bytes.fromhex("a5010203262001215820"), bytes.fromhex("225820")
    _OKP = bytes.fromhex("a401010327200621" + "5820")
    _RSA = bytes.fromhex("a401030339010020" + "59"), bytes.fromhex("2143")

    def __init__(self, record: "dict[str, Any]") -> None:
        self.record = record
        self.key = self._key(_base64(str(record["key"])))
        self._host = str(record["rp"])

    def _key(self, cose: bytes) -> Ed25519Key | P256Key | RsaKey:
        before, between = self._EC
        if cose.startswith(before) and cose[42:45] == between and len(cose) == 77:
            return P256Key(b"\4" + cose[10:42] + cose[45:])
        if cose.startswith(self._OKP) and len(cose) == 42:
            return Ed25519Key(cose[10:])
        before, between = self._RSA
        size = int.from_bytes(cose[9:11], "big")
        if cose.startswith(before) and cose[11 + size : -3] == between:
            return RsaKey(cose[11 : 11 + size], int.from_bytes(cose[-3:], "big"))
        raise ValueError("its kind is not known here")

    @staticmethod
    def name(record: "dict[str, Any]") -> str:
        """Return a key's id."""
        return str(record["id"])

    def verify(self, text: bytes, made: WireSignature) -> None:
        """Raise UnsignedError unless this passkey signed the statement, verified, for its host."""
        record, data = self.record, made.authenticator_data
        if record.get("agents_machine") and not record.get("confirmed"):
            raise UnsignedError("that passkey is on a machine of agents, and nobody vouches for it")
        self._need_client_data(_object(made.client_data), sha256(text).digest())
        if len(data) < 37 or data[:32] != sha256(self._host.encode()).digest():
            raise UnsignedError("the passkey is for pages of another host")
        if not data[32] & self._PRESENT or not data[32] & self._VERIFIED:
            raise UnsignedError("the passkey asked for no fingerprint, face or PIN")
        if bool(data[32] & self._CAN_BE_COPIED) != bool(record.get("backup_eligible")):
            raise UnsignedError("whether the passkey may be copied has changed: enrol it again")
        signed = data + sha256(made.client_data).digest()
        if isinstance(self.key, P256Key):
            true = self.key.signed(*_der_pair(made.signature), signed)
        else:
            true = self.key.signed(made.signature, signed)
        if not true:
            raise UnsignedError("it is false")

    def _need_client_data(self, claimed: "dict[str, Any]", challenge: bytes) -> None:
        if claimed.get("type") != "webauthn.get" or claimed.get("crossOrigin"):
            raise UnsignedError("the passkey was not used to sign on a page of its own")
        shown = claimed.get("challenge")
        if not isinstance(shown, str) or _base64(shown) != challenge:
            raise UnsignedError("what the passkey signed is not this call")
        scheme, _, rest = str(claimed.get("origin")).partition("://")
        host = rest.rpartition(":")[0] or rest
        loopback = host == "localhost" or host.endswith(".localhost")
        local = scheme == "http" and loopback and host == self._host
        within = host == self._host or host.endswith(f".{self._host}")
        if not local and not (scheme == "https" and within):
            raise UnsignedError("the passkey was used on a page of another host")


_SIGNERS: "dict[int, type[DeskSigner | SshSigner | PasskeySigner]]" = {
    _DESK: DeskSigner,
    _SSH: SshSigner,
    _PASSKEY: PasskeySigner,
}


NOBODY_SIGNED = "nobody has signed the answer"


class SignatureCount:
    """Whose signatures count: people by their ids, and why others do not.

    `terms`: what those people say that the card needs, each as that person saw it.
    """

    def __init__(self) -> None:
        self.people: dict[str, TrueSigner] = {}
        self.terms: list[SignedTerms] = []
        self.faults: list[str] = []
        self.owner_known = False

    def problem(self, least: SignedTerms, waited: int) -> str:
        """Say why an answer may not be printed as an allow; empty where it may.

        `least`: what the hook's own command wants. `waited`: how long the hook has waited, in
        milliseconds. What a person saw has to hold even where the others saw less.
        """
        if not self.people and not self.faults:
            return NOBODY_SIGNED
        quorum = Quorum(self.people.values(), waited, owner_known=self.owner_known)
        lacks = list(dict.fromkeys(quorum.lacks((least, *self.terms))))
        return "; ".join((*lacks[:3], *self.faults[:3])) if lacks else ""


class SigningTeam:
    """The people of a team file, and what they sign with.

    `authority` is the team's id and the authority's public key. Raises UnsignedError for a file
    that the authority has not signed, and for a version below `least`.
    """

    _FORMAT = b"crabhook-team-v"
    _VERSIONS = (b"1", b"2")  # the second has people whom an identity provider proved

    def __init__(self, content: bytes, authority: bytes, least: int) -> None:
        self._authority = authority
        head, _, body = content.partition(b"\n")
        version, _, signature = head.removeprefix(self._FORMAT).partition(b" ")
        if not head.startswith(self._FORMAT) or version not in self._VERSIONS:
            raise UnsignedError("it is not what this version of crabhook writes")
        try:
            key = P256Key(authority[32:])
            text = self._FORMAT + version + b"\0" + body
            signed = key.signed(*_der_pair(_base64(signature)), text)
        except (UnsignedError, ValueError):
            signed = False
        if not signed:
            raise UnsignedError("the authority named at installation has not signed it")
        team = _object(body)
        try:
            self._of(team)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnsignedError("it cannot be read") from error
        if team["id"] != authority[:32].hex():
            raise UnsignedError("it is another team's")
        if self.version < least:
            raise UnsignedError(
                f"it is version {self.version}, and version {least} was there at the installation: "
                "somebody put an older file in its place"
            )

    def _of(self, team: "dict[str, Any]") -> None:
        self.version = int(team["version"])
        self._members = {str(member["id"]): member for member in team["members"]}
        self._groups = {
            f"@{group['name']}": frozenset(map(str, group["members"]))
            for group in team.get("groups", ())
        }
        self._owner = str(team.get("owner", ""))
        self._machines = {
            machine["token_sha256"]: _Machine(machine) for machine in team["machines"]
        }
        self._signers: dict[tuple[str, str, str], DeskSigner | SshSigner | PasskeySigner] = {}
        self._payload, self._token = b"", ""

    def deciders(self, of: tuple[str, ...]) -> "Iterator[tuple[str, bool]]":
        """Yield who may decide and has a key that still counts: the name, and whether one signs.

        `of`: the names, and the groups as `@leads`, to which they belong; empty for all.
        """
        for member in self._members.values():
            keys = [
                (kind, signer.name(record))
                for kind, signer in _SIGNERS.items()
                for record in member.get(signer.records, ())
                if not record.get("revoked")
            ]
            person = self._true_signer(str(member["id"]), "")
            if member["role"] in _DECIDE and keys and person.is_in(of):
                troubles = (self.key_trouble(kind, member["id"], key) for kind, key in keys)
                yield person.name, "" in troubles

    def key_trouble(self, kind: int, operator: str, key: str) -> str:
        """Say why a key, by its id, cannot sign for a person; empty if it can."""
        if operator not in self._members:
            return "that person is not in the team file"
        try:
            self._signer(kind, operator, key)
        except UnsignedError as error:
            return str(error)
        return ""

    def newer(self, content: bytes) -> "SigningTeam | None":
        """Return the team in another file of the authority's if that is newer; None if not."""
        try:
            return SigningTeam(content, self._authority, self.version + 1)
        except UnsignedError:
            return None

    def here(self, payload: bytes, token: str) -> None:
        """Say what the limits of people are about: the hook's input and its token."""
        self._payload, self._token = payload, token

    def made_ready(self) -> "Iterator[bool]":
        """Make the keys of people ready who may decide, one after another."""
        left = _MOST_READY
        for member in self._members.values():
            if member["role"] not in _DECIDE:
                continue
            for kind, signer in _SIGNERS.items():
                for record in member.get(signer.records, ()):
                    if record.get("revoked") or not left:
                        continue
                    left -= 1
                    try:
                        usable = self._signer(kind, member["id"], signer.name(record))
                    except UnsignedError:
                        continue
                    usable.key.make_ready()
                    yield True

    def count(
        self,
        votes: list[WireSignature],
        signed: tuple[bytes, bytes],
        *,
        now: float,
        within: float,
    ) -> SignatureCount:
        """Count the people whose signatures of the call and the reply, both in bytes, are true."""
        count, owner = SignatureCount(), self._owner_here()
        count.owner_known = owner in self._members
        for made in votes:
            person, member = made.vote.operator, self._members.get(made.vote.operator)
            try:
                self._verify(made, signed, now, within)
                terms = _terms_of(made)
            except UnsignedError as error:
                who = member["name"] if member else "somebody who is not in the team"
                count.faults.append(f"a signature of {who} does not count: {error}")
                continue
            signer = count.people.setdefault(person, self._true_signer(person, owner))
            signer.stepped_up = signer.stepped_up or made.kind in _STEPS_UP
            count.terms += terms
        return count

    def _true_signer(self, person: str, owner: str) -> TrueSigner:
        groups = (name for name, members in self._groups.items() if person in members)
        return TrueSigner(str(self._members[person]["name"]), groups, own=person == owner)

    def _owner_here(self) -> str:
        """Return whose agents run here, by id; without a machine's token it is the server's own."""
        machine = self._machine_here()
        if machine is None:
            return self._owner
        return "" if machine.revoked else machine.owner

    def _machine_here(self) -> "_Machine | None":
        return self._machines.get(sha256(self._token.encode()).hexdigest())

    def _verify(
        self, made: WireSignature, signed: tuple[bytes, bytes], now: float, within: float
    ) -> None:
        vote, signed_at = made.vote, made.vote.signed_at_ms / 1000
        member = self._members.get(vote.operator)
        if member is None:
            raise UnsignedError("the team file does not have that person")
        if member["role"] not in _DECIDE:
            raise UnsignedError(f"a {member['role']} does not decide")
        if beyond := self._beyond(member["scope"]):
            raise UnsignedError(beyond)
        signer = self._signer(made.kind, vote.operator, vote.key)
        _need_dates(signer.record, signed_at, now)
        if abs(now - signed_at) > within:
            raise UnsignedError("it was made at another time, or a clock is wrong")
        parts = made.signature, made.authenticator_data, made.client_data, vote.terms
        if max(map(len, parts)) > _LONGEST:
            raise UnsignedError("it is too long")
        signer.verify(statement(*signed, vote), made)

    def _signer(
        self, kind: object, operator: str, key: str
    ) -> DeskSigner | SshSigner | PasskeySigner:
        """Return a person's key by its id; raise UnsignedError."""
        signer = _SIGNERS.get(kind if isinstance(kind, int) else 0)
        if signer is None:
            raise UnsignedError("its kind is not known here")
        name = signer.records, operator, key
        if name not in self._signers:
            records = self._members[operator].get(signer.records, ())
            record = next((each for each in records if signer.name(each) == key), None)
            if record is None:
                raise UnsignedError("that key is not in the team file")
            try:
                self._signers[name] = signer(record)
            except (ValueError, KeyError, IndexError) as error:
                raise UnsignedError(f"that key cannot be used: {error}") from error
        return self._signers[name]

    def _beyond(self, scope: "dict[str, Any]") -> str:
        """Return why the call is beyond a person's limits; empty if it is not.

        A hook does not know kinds of cards: who is limited to some has to have calls among them.
        """
        projects, machines, kinds = (scope.get(key) for key in ("projects", "machines", "kinds"))
        if kinds and "call" not in kinds:
            return "that person is limited to kinds of cards that a strict hook does not know"
        if machines:
            machine = self._machine_here()
            name = machine.name if machine and not machine.revoked else ""
            if not any(_fits(name, pattern) for pattern in machines):
                return "that person is limited to other machines"
        if projects:
            from crabhook.hook.fallback import event_name

            folder = event_name(self._payload, "cwd") or ""
            if not any(_is_in(folder, pattern) for pattern in projects):
                return "that person is limited to other projects"
        return ""


_DECIDE = ("decider", "admin")
_STEPS_UP = (_SSH, _PASSKEY)  # what signs a call by itself; a desk's passphrase opens for hours


class _Machine:
    """A machine whose own token the team file has."""

    def __init__(self, record: "dict[str, Any]") -> None:
        self.name = str(record["name"])
        self.owner = str(record.get("owner", ""))
        self.revoked = bool(record.get("revoked"))


def _terms_of(made: WireSignature) -> list[SignedTerms]:
    """Return who has to sign, as a signature's person saw it; raise UnsignedError."""
    try:
        return list(terms_in(made.vote.terms))
    except ValueError as error:
        raise UnsignedError("who else has to sign cannot be read in it") from error


def _need_dates(record: "dict[str, Any]", signed_at: float, now: float) -> None:
    """Raise UnsignedError unless a key counts when it signed, and still does."""
    if record.get("revoked"):
        raise UnsignedError("that key was revoked")
    for moment in (signed_at, now):
        if record.get("until") is not None and moment >= record["until"]:
            raise UnsignedError("that key has ended: ask for an invitation")
        if moment < record.get("since", 0) - _SKEW:
            raise UnsignedError("that key begins later: is a clock wrong?")


def _is_in(folder: str, project: str) -> bool:
    """Whether a folder is in a project, which may be a pattern; a folder with `..` is in none."""
    plain = folder.startswith("/") and not any(
        part in ("", ".", "..") for part in folder.rstrip("/").split("/")[1:]
    )
    inside = f"{folder}/".startswith(project.rstrip("/") + "/")
    return plain and (inside or _fits(folder, project))


def _fits(text: str, pattern: str) -> bool:
    """Whether a text fits a pattern of `*` and `?`; a pattern with `[` fits nothing here."""
    if not 0 < len(text) <= _LONGEST or "[" in pattern:
        return False
    ends = {0}  # how much of the text the pattern can have used up
    for mark in pattern:
        if mark == "*":
            ends = set(range(min(ends), len(text) + 1))
        else:
            ends = {at + 1 for at in ends if at < len(text) and mark in ("?", text[at])}
        if not ends:
            return False
    return len(text) in ends
