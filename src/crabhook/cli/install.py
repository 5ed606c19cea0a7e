"""`crabhook install` and `uninstall`: crabhook's hooks in an agent's settings, or out of them."""

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from crabhook import config
from crabhook.cli.commands import Subcommand, declaring, servers
from crabhook.hook import own_folder
from crabhook.hook.failover import listed
from crabhook.install import program
from crabhook.install.entries import known, with_hooks
from crabhook.install.settings_file import (
    SettingsChange,
    backups_of,
    has_hooks,
    plan,
    read,
    read_settings,
    removal,
)
from crabhook.model.ballot import Terms
from crabhook.model.card import Stance
from crabhook.model.errors import CrabhookError, InstallError
from crabhook.platforms import HOOKED
from crabhook.platforms.installation import (
    MAX_WAIT,
    USUAL_WAIT,
    Installation,
    SettingsScope,
    StrictHooks,
    Transport,
)
from crabhook.platforms.interface import Platform
from crabhook.platforms.sending import USUAL_URL, endpoint, export, served
from crabhook.server.address import (
    Address,
    AddressError,
    TcpAddress,
    asked_address,
    default_address,
    parse_address,
)
from crabhook.ui.console import say

_FILES = ("--tls-cert", "FILE", "--tls-key", "FILE")
_FAIL_CLOSED = (
    "Fail-closed: if the server cannot be reached, or is lost, the call it was to decide is denied."
)
_ANEW = "Restart sessions that run already: they do not see the change."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what decides where the hooks go, how they ask, and whom."""
    add_place_arguments(parser)
    values = {
        **{stance.value: stance for stance in Stance},
        "transports": [transport.value for transport in Transport],
        "address": _address,
        "path": _path,
        "seconds": _seconds,
        "authority": _authority,
        "count": _count,
        "people": _people,
        "wishes": ["pass", "ask", "deny"],
        "USUAL_URL": USUAL_URL,
        "USUAL_WAIT": USUAL_WAIT,
        "LONGEST": MAX_WAIT // 86_400,
    }
    declaring("install", values)(parser)


add_place_arguments = declaring(
    "place",
    {
        "named": ", ".join(HOOKED),
        "scopes": [scope.value for scope in SettingsScope],
        "here": Path(),
    },
)


def chosen_path(arguments: argparse.Namespace) -> Path:
    """Return the settings file that the arguments name."""
    agent = known(arguments.agent)
    return agent.settings.path(SettingsScope(arguments.scope), arguments.project, os.environ)


def run(arguments: argparse.Namespace) -> int:
    """Install; return 0, or 1 with the reason on standard error and nothing changed."""
    return refusing("install", _install, arguments)


def refusing(
    command: str, act: Callable[[argparse.Namespace], None], arguments: argparse.Namespace
) -> int:
    """Return 0 when `act` has run, or 1 after saying why it was refused."""
    try:
        act(arguments)
    except InstallError as error:
        say(
            f"crabhook {command}: {error}.",
            "Nothing was changed: the agent runs as before. Put this right and run it again.",
            stream=sys.stderr,
        )
        return 1
    return 0


def _install(arguments: argparse.Namespace) -> None:
    agent = known(arguments.agent)
    _need_one_way(arguments, agent)
    _join(arguments)
    installation = _installation(arguments, agent)
    entries = agent.settings.groups(installation)
    own = agent.settings.own
    change = plan(chosen_path(arguments), lambda text: with_hooks(text, entries, own))
    if arguments.dry_run:
        sys.stdout.write(change.difference())
    else:
        managed = arguments.scope == SettingsScope.MANAGED
        what = f"{agent.title}'s hooks for crabhook, {len(entries)} events"
        report(change, what, shared=managed)
        compiled = program.compile_hook()
        say(agent.settings.stances[installation.stance])
        at = " or ".join(listed(installation.server or ""))
        say(f"Hooks ask the server at {installation.url if agent.settings.own else at}.")
        say(_FAIL_CLOSED if installation.fail_closed else agent.settings.unreachable)
        if installation.strict:
            say(_signed_words(installation.strict))
        joined = _reached(agent.program, "the team's server")
        say(*(next_steps(agent, installation) if arguments.join is None else [joined]))
        if not compiled:
            warn("the hook could not be byte-compiled here, so each call starts a little slower")
    for trouble in _troubles(arguments, agent, installation, change):
        warn(trouble)


def _join(arguments: argparse.Namespace) -> None:
    """If wanted, join a team, which says where hooks go and with which token."""
    if arguments.join is None:
        return
    if arguments.dry_run or arguments.server or arguments.token_file or arguments.tls_ca:
        raise InstallError(
            "--join says which server is asked and with what, and is used up by that: "
            "leave out --server, --token-file, --tls-ca and --dry-run"
        )
    from crabhook.cli.team.attaching import join_machine  # few machines join

    try:
        keys = join_machine(arguments.join)
    except CrabhookError as error:
        raise InstallError(str(error)) from error
    say(f"This machine is {keys.name} in the team. Its token is in {keys.token_file}.")
    arguments.server, arguments.tls_ca = keys.server, str(keys.authority)
    arguments.token_file = str(keys.token_file)


def report(change: SettingsChange, what: str, *, shared: bool = False) -> None:
    """Carry out `change` and say what was done, to which file, and where the old file is kept."""
    path, target = change.settings.path, change.settings.target
    place = f"{path}" if path == target else f"{path} (a link to {target})"
    if change.is_none:
        say(f"{what}: already so in {place}, nothing was written.")
        return
    done = f"{place} is removed" if change.removes else f"written to {place}"
    backup = change.carry_out(shared=shared)
    say(f"{what}: {done}.")
    if backup:
        same = read(backup).content == change.settings.content
        say(f"The file as it was{'' if same else ', but for hooks of crabhook'}: {backup}")


def warn(sentence: str) -> None:
    """Tell the person what may surprise them."""
    say(f"Note: {sentence}.", stream=sys.stderr)


def _installation(arguments: argparse.Namespace, agent: Platform) -> Installation:
    stance = arguments.stance or agent.settings.stance
    if stance not in agent.settings.stances:
        raise InstallError(
            f"{agent.title} shows its own dialog only when its hooks have answered, so crabhook "
            f"cannot be its {stance}. It can be: {', '.join(agent.settings.stances)}"
        )
    managed = (
        arguments.scope == SettingsScope.MANAGED and SettingsScope.MANAGED in agent.settings.scopes
    )
    if managed and arguments.server is None:
        raise InstallError(
            "managed settings are for every user of this machine, and each has a server of their "
            "own by default. Say with --server which server all of them shall ask"
        )
    try:
        server = arguments.server or _address(asked_address())
    except argparse.ArgumentTypeError as error:
        raise InstallError(f"CRABHOOK_SERVER: {error}") from error
    fail_closed = arguments.fail_closed or stance in agent.settings.closed
    return Installation(
        interpreter=program.interpreter(),
        stub=program.stub(),
        stance=stance,
        fail_closed=fail_closed,
        wait=arguments.wait,
        server=server,
        token_file=arguments.token_file or _read_there(agent),
        tls_ca=arguments.tls_ca,
        url=_url(arguments, agent),
        strict=_strict(arguments, agent, fail_closed=fail_closed),
    )


def _need_one_way(arguments: argparse.Namespace, agent: Platform) -> None:
    """Refuse options of strict hooks for other hooks, and for hooks that have no client of ours."""
    named = arguments.team, arguments.authority, arguments.need, arguments.of
    if not arguments.strict and any((*named, arguments.when_unsigned)):
        raise InstallError("--team, --authority, --need, --of and --when-unsigned go with --strict")
    if arguments.strict and arguments.team is None:
        raise InstallError("--strict needs --team FILE, by which hooks know who signs")
    if arguments.strict and (agent.settings.own or _url(arguments, agent)):
        raise InstallError(
            f"a hook of {agent.title} that is no command of ours checks no signatures: leave out "
            "--strict, or --transport http"
        )
    if arguments.strict and not arguments.team.is_file():
        raise InstallError(f"there is no team file {arguments.team}")


def _strict(
    arguments: argparse.Namespace, agent: Platform, *, fail_closed: bool
) -> StrictHooks | None:
    if not arguments.strict:
        return None
    from crabhook.install.strict import strict_hooks  # few hooks are strict

    wish = arguments.when_unsigned or ("deny" if fail_closed else "pass")
    authority = arguments.authority or (arguments.join and arguments.tls_ca)
    terms = Terms(arguments.need or 1, arguments.of or ())
    return strict_hooks(agent.name, arguments.team, authority, terms, wish)


def _signed_words(strict: StrictHooks) -> str:
    rest = {
        "pass": "leave what nobody signed to the agent's own rules",
        "ask": "have the agent ask its own user about what nobody signed",
        "deny": "deny what nobody signed",
    }[strict.when_unsigned]
    return (
        f"Strict: hooks print what {strict.people} in the team {strict.authority[:12]} signed, by "
        f"version {strict.version} of {strict.team} or a newer. They {rest}, so what rules, orders "
        "and headless desks say counts as unsigned."
    )


def _read_there(agent: Platform) -> str | None:
    """Return the file from which hooks that are a program of their own read the token."""
    return str(config.token_file()) if agent.settings.own else None


def _url(arguments: argparse.Namespace, agent: Platform) -> str | None:
    """Return where the agent shall send its hooks, None for nowhere. Raises InstallError."""
    ways = agent.settings.transports
    transport = Transport(arguments.transport or next(iter(ways)))
    if transport not in ways:
        can = "starts no commands, it sends its hooks by HTTP"
        if transport is Transport.HTTP:
            can = "sends no hooks by HTTP, it only starts commands"
        raise InstallError(f"{agent.title} {can}")
    if transport is Transport.HTTP:
        return endpoint(arguments.url or USUAL_URL, agent.name)
    if arguments.url is not None:
        raise InstallError("--url says where --transport http sends the hooks to")
    return None


def next_steps(agent: Platform, installation: Installation) -> Iterator[str]:
    """Say what remains to do, and on which machine."""
    from crabhook.app.running import is_listened_at  # only an install asks

    if len(several := listed(installation.server or "")) > 1:
        yield f"Next: have servers of one record in PostgreSQL run at {' and '.join(several)}."
        yield _then(agent.program)
        return
    serve, address = _serve(installation), _asked(installation)
    if beyond := _beyond(address):
        run = f"run `{serve}` in a terminal of its own, unless it runs already"
        yield f"Next: on {beyond.host}, where you sit, {run}."
        yield _then(agent.program)
    elif address is not None and installation.url is None and is_listened_at(address):
        yield _reached(agent.program, f"the server that listens at {address}")
    else:
        yield (
            f"Next: run `{serve}` in a terminal of its own, then start `{agent.program}`. {_ANEW}"
        )
    if installation.url is None or agent.settings.own:
        return
    token = installation.token_file or str(config.token_file())
    yield (
        "The server makes the token at its first start. Where you start "
        f"`{agent.program}`, its environment must hold it, or every hook is refused:"
    )
    yield f"  {export(token)}"


def _then(it: str) -> str:
    see = f"run `crabhook doctor {it}` here to see that hooks reach it"
    return f"Then {see}, and start `{it}`. {_ANEW}"


def _reached(it: str, what: str) -> str:
    see = f"run `crabhook doctor {it}` to see that hooks reach {what}"
    return f"Next: {see}, and start `{it}`. {_ANEW}"


def _serve(installation: Installation) -> str:
    """Return the command that listens where the hooks ask; FILE are the files of TLS.

    Where it takes no options that is `crabhook` alone, as README and the help have it.
    """
    words: list[str] = []
    sent = served(installation.url) if installation.url is not None else ()
    address = _asked(installation)
    if beyond := _beyond(address):
        words += ["--listen", f"0.0.0.0:{beyond.port}"]
    elif address not in (None, default_address()):
        words += ["--listen", str(address)]
    if (beyond or installation.tls_ca) and _FILES[0] not in sent:
        words += _FILES
    options = [*words, *sent]
    return shlex.join(["crabhook", "serve", *options]) if options else "crabhook"


def _beyond(address: Address | None) -> TcpAddress | None:
    return address if isinstance(address, TcpAddress) and not address.loopback else None


def _asked(installation: Installation) -> Address | None:
    try:
        return parse_address(installation.server or "")
    except AddressError:  # which is warned of
        return None


def _troubles(
    arguments: argparse.Namespace,
    agent: Platform,
    installation: Installation,
    change: SettingsChange,
) -> Iterator[str]:
    """Say what keeps the hooks from running, or from their expected effect."""
    managed = arguments.scope == SettingsScope.MANAGED
    for switch in agent.settings.switches(change.text):
        if not (managed and agent.settings.overridden(SettingsScope.MANAGED, switch)):
            yield switch
    if managed:
        yield from program.unshared(installation.interpreter, installation.stub)
    yield from agent.settings.troubles(change.settings.path, read_settings)
    yield from agent.settings.cautions
    yield from agent.settings.exposed(os.environ)
    yield from program.misgivings(installation.interpreter)
    yield from _of_files(installation)
    yield from _unreached(agent, installation)
    if arguments.scope == SettingsScope.PROJECT:
        yield "these paths are this machine's: others who share the project's settings lack them"
    for scope in agent.settings.scopes:
        path = agent.settings.path(scope, arguments.project, os.environ)
        if path != change.settings.path and has_hooks(path):
            yield f"crabhook is in {path} too (--scope {scope}), and where the two differ both ask"


def _of_files(installation: Installation) -> Iterator[str]:
    """Say what is wrong with the files that hooks read."""
    if installation.strict:
        from crabhook.install.strict import team_trouble  # few hooks are strict

        if trouble := team_trouble(installation.strict.team):
            yield trouble
    for file in (installation.token_file, installation.tls_ca):
        if file and not Path(file).exists():
            yield f"there is no {file} yet, and without it no hook reaches the server"


def _unreached(agent: Platform, installation: Installation) -> Iterator[str]:
    """Say what keeps hooks over TCP from being accepted."""
    by_tcp = False
    for server in listed(installation.server or ""):
        try:
            address = parse_address(server)
        except AddressError as error:
            yield f"no hook reaches the server: {error}"
            continue
        if not isinstance(address, TcpAddress):
            continue
        by_tcp = True
        if not (address.loopback or installation.tls_ca):
            yield (
                f"{server} is beyond this machine, and a hook sends nothing there in the clear. "
                "Install again with --tls-ca FILE, the certificate to know the server by"
            )
    if by_tcp and installation.token_file is None:
        yield (
            f"a server at HOST:PORT wants its token: install again with --token-file FILE, or have "
            f"CRABHOOK_TOKEN hold it wherever `{agent.program}` is started"
        )


def _address(text: str) -> str:
    """Return the address or list, with absolute paths of sockets."""
    return ",".join(
        f"unix:{_path(address[5:])}"
        if address.startswith("unix:") and address[5:6] != "/"
        else address
        for address in listed(servers(text))
    )


def _path(text: str) -> str:
    """Return an absolute path: a hook runs in its session's folder."""
    return str(Path(text).expanduser().absolute())


def _authority(text: str) -> str:
    """Return an absolute path, or an authority as a hook's command has it."""
    from crabhook.install.strict import is_pinned  # few hooks are strict

    return text if is_pinned(text) else _path(text)


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of people: give 1 to 999")
    return count


def _people(text: str) -> tuple[str, ...]:
    people = tuple(name.strip() for name in text.split(","))
    if not all(people) or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} names nobody: give names, or groups as @leads")
    return people


def _seconds(text: str) -> int:
    if text == "never":
        return MAX_WAIT
    seconds = int(text) if text.isascii() and text.isdecimal() else 0
    if not 0 < seconds <= MAX_WAIT:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time to wait: give seconds from 1 to {MAX_WAIT}, or never"
        )
    return seconds


def _uninstall(arguments: argparse.Namespace) -> None:
    if arguments.all:
        _uninstall_all(arguments)
        return
    agent = known(arguments.agent)
    path = chosen_path(arguments)
    change = removal(path)
    if arguments.dry_run:
        sys.stdout.write(change.difference())
    elif change.is_none:
        say(f"There are no hooks of crabhook in {path}: nothing was written.")
    else:
        report(change, f"{agent.title}'s settings without crabhook")
        say("A session that runs already may ask the operator until it ends.")
        _say_what_is_kept()


def _kept() -> Iterator[tuple[str, Path]]:
    """Yield the folders of this user's that an uninstallation leaves, and what each holds."""
    for what, folder in (
        ("settings, rules and desks", config.config_folder()),
        ("the record, the token, the log and the team", config.state_folder()),
        ("the server's socket", Path(os.fsdecode(own_folder()))),
    ):
        if os.path.lexists(folder):
            yield what, folder


def _say_what_is_kept() -> None:
    for what, folder in _kept():
        say(f"Kept: {what}, in {folder}")
    say("`crabhook uninstall --all` removes these too. Do it before you remove the program.")


def _uninstall_all(arguments: argparse.Namespace) -> None:
    """Take the hooks of this user and this project out of every agent's settings, and the rest.

    The record and the rules are gone for ever then, so a person has to say yes at a terminal: no
    agent can. Raises InstallError.
    """
    from crabhook.app.running import is_listened_at  # few uninstall
    from crabhook.cli.terminal import agrees  # likewise

    if is_listened_at(default_address()):
        raise InstallError("a server runs, so nothing was removed. First: `crabhook down`")
    looked_at = list(_everywhere(arguments.project))
    paths = [change.settings.path for _, change in looked_at]
    changes = [(agent, change) for agent, change in looked_at if not change.is_none]
    folders = list(_kept())
    lines = [f"Hooks of {agent.title}: {change.settings.path}" for agent, change in changes]
    lines += [f"Backup: {backup}" for path in paths for backup in backups_of(path)]
    lines += [f"{what[0].upper()}{what[1:]}: {folder}" for what, folder in folders]
    say(*lines)
    if arguments.dry_run or not lines:
        say("Nothing was removed.")
        return
    if not agrees("Remove all of this, the record and the rules for ever?"):
        raise InstallError("nothing was removed")
    for _, change in changes:
        change.carry_out()
    _remove(paths, [folder for _, folder in folders])
    say("All of it was removed. The program itself: `pipx uninstall crabhook`, or as you got it.")


def _remove(settings: Sequence[Path], folders: Sequence[Path]) -> None:
    """Remove the backups of these settings files, one of which may be new, and these folders."""
    try:
        for backup in [backup for path in settings for backup in backups_of(path)]:
            backup.unlink()
        for folder in folders:
            shutil.rmtree(folder)
    except OSError as error:
        raise InstallError(f"{error.filename} cannot be removed: {error.strerror}") from error


def _everywhere(project: Path) -> Iterator[tuple[Platform, SettingsChange]]:
    """Yield each agent's settings that this user may change, with what takes our hooks out."""
    for agent in HOOKED.values():
        for scope in agent.settings.scopes:
            if scope is not SettingsScope.MANAGED:
                path = agent.settings.path(scope, project, os.environ)
                yield agent, removal(path)


def _add_uninstall_arguments(parser: argparse.ArgumentParser) -> None:
    add_place_arguments(parser)
    declaring("uninstall")(parser)


uninstall = Subcommand(_add_uninstall_arguments, partial(refusing, "uninstall", _uninstall))
