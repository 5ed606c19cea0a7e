"""Where a soak runs: a folder, a small disk for the state, a wire to the server; or what is missing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import trustme

from tests.soak import link
from tests.soak.jobs import RULES, SERVER_WAIT
from tests.soak.link import Link
from tests.support.isolation import raise_loopback

DISK = 96  # megabytes: enough for the record of a long run, until it is filled
PORT = 7443


class Surroundings:
    """All that is around the server and the hooks, for as long as the block lasts.

    `apart`: we are in namespaces of our own; without there is neither a small disk nor a wire.
    What is `kept` stays for somebody to look at.
    """

    def __init__(self, seed: int, *, apart: bool) -> None:
        self.apart = apart
        self.kept = False
        self.folder = Path(tempfile.mkdtemp(prefix="crabhook-soak-", dir="/tmp"))
        self.state = self.folder / "state"
        self.link: Link | None = None
        self._seed = seed
        self._open = ExitStack()

    def __enter__(self) -> Self:
        try:
            self.state.mkdir(mode=0o700)
            rules = self.folder / "config" / "crabhook" / "rules.toml"
            rules.parent.mkdir(parents=True)
            rules.write_text(RULES, encoding="utf-8")
            if self.apart:
                raise_loopback()
                self._mount()
                self.link = self._open.enter_context(Link(str(self._seed)))
            self._certify()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        if not self.kept:
            shutil.rmtree(self.folder)

    @property
    def inside(self) -> list[str]:
        """The command that runs the server in its own place."""
        return self.link.inside if self.link else []

    @property
    def host(self) -> str:
        """The server's address, as the hooks have it."""
        return link.SERVER if self.link else "127.0.0.1"

    @property
    def remote(self) -> str:
        """Where the server listens for hooks on other machines."""
        return f"{self.host}:{self._port}"

    @property
    def serving(self) -> list[str]:
        """The options of the server's port."""
        return [
            *("--token-file", f"{self.folder}/token"),
            *(
                "--wait",
                f"{SERVER_WAIT:g}",
                "--tls-cert",
                f"{self.folder}/server.pem",
                "--tls-key",
                f"{self.folder}/server.key",
            ),
        ]

    @property
    def asking(self) -> list[str]:
        """The options of a hook on another machine."""
        ca = f"{self.folder}/ca.pem"
        return ["--server", self.remote, "--token-file", f"{self.folder}/token", "--tls-ca", ca]

    def _mount(self) -> None:
        """Give the state a small disk of its own, which only our namespace sees."""
        options = f"size={DISK}m,mode=700"
        mount = ["mount", "-t", "tmpfs", "-o", options, "none", str(self.state)]
        subprocess.run(mount, check=True)
        self._open.callback(self._unmount)

    def _unmount(self) -> None:
        if self.kept:
            shutil.copytree(self.state, self.folder / "state-kept")
        subprocess.run(["umount", str(self.state)], check=True)

    def _certify(self) -> None:
        authority = trustme.CA()
        certificate = authority.issue_cert(self.host)
        authority.cert_pem.write_to_path(self.folder / "ca.pem")
        certificate.cert_chain_pems[0].write_to_path(self.folder / "server.pem")
        certificate.private_key_pem.write_to_path(self.folder / "server.key")
        self._port = PORT if self.link else _free_port()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def left_behind(folder: Path) -> list[str]:
    """Return what of us is still there, seen from inside our own process namespace."""
    found = [f"the folder {folder}"] if folder.exists() else []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            found.append(f"process {place.name}: {command}")
    return found
