"""What the hook is told: every option, every variable, and what is wrong with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.hook import Options, read_options
from crabhook.hook.wire import COMPANION, GATE
from tests.support.rows import every_row
from tests.unit.hook.peers import CONSOLE, environment, run_hook

EXAMPLES = {
    "--server": ("server", "host:1", "host:1"),
    "--token-file": ("token_file", "/dev/null", "/dev/null"),
    "--tls-ca": ("tls_ca", "/ca.pem", "/ca.pem"),
    "--wait": ("wait", "1.5", 1.5),
    "--reconnect": ("reconnect", "0", 0.0),
    "--platform": ("platform", "gemini", "gemini"),
    "--when-unreachable": ("when_unreachable", "deny", "deny"),
    "--when-lost": ("when_lost", "ask", "ask"),
}
VARIABLES = {
    b"CRABHOOK_SERVER": ("server", "host:1", "host:1"),
    b"CRABHOOK_TOKEN": ("token", "t", "t"),
    b"CRABHOOK_WAIT": ("wait", "1.5", 1.5),
    b"CRABHOOK_WHEN_UNREACHABLE": ("when_unreachable", "deny", "deny"),
    b"CRABHOOK_WHEN_LOST": ("when_lost", "ask", "ask"),
}


def test_told_nothing_it_has_its_defaults() -> None:
    assert vars(read_options([], {})) == vars(Options())
    defaults = Options()
    assert (defaults.wait, defaults.reconnect, defaults.platform) == (3630.0, 120.0, "claude")
    assert (defaults.when_unreachable, defaults.when_lost) == ("pass", "pass")
    assert (defaults.stance, defaults.problem) == (GATE, "")


@every_row("name", EXAMPLES)
@every_row("joined", [True, False])
def test_an_option_says_one_thing(*, name: str, joined: bool) -> None:
    attribute, text, value = EXAMPLES[name]
    options = read_options([f"{name}={text}"] if joined else [name, text], {})
    told = Options()
    setattr(told, attribute, value)
    told.problem = options.problem  # an empty token file is one
    assert vars(options) == vars(told)
    assert options.problem == "" or name == "--token-file"


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable_says_the_same(variable: bytes) -> None:
    attribute, text, value = VARIABLES[variable]
    told = Options()
    setattr(told, attribute, value)
    assert vars(read_options([], {variable: text.encode()})) == vars(told)


def test_an_empty_variable_says_nothing() -> None:
    assert vars(read_options([], dict.fromkeys(VARIABLES, b""))) == vars(Options())


def test_an_argument_counts_for_more_than_a_variable_and_a_later_for_more_than_an_earlier() -> None:
    environment = {b"CRABHOOK_SERVER": b"a:1", b"CRABHOOK_WHEN_LOST": b"deny"}
    options = read_options(["--server", "b:1", "--server", "c:1"], environment)
    assert (options.server, options.when_lost) == ("c:1", "deny")


def test_a_companion_says_so() -> None:
    assert read_options(["--companion"], {}).stance == COMPANION


@every_row(
    "arguments, problem",
    [
        (["--srever", "x"], "there is no option '--srever'"),
        (["--server"], "--server needs a value, not ''"),
        (["--server="], "--server needs a value, not ''"),
        (["--server", "a\0b"], "--server needs a value"),
        (["--companion=yes"], "there is no option '--companion=yes'"),
        (["serve"], "there is no option 'serve'"),
        ([""], "there is no option ''"),
        (["-x"], "there is no option '-x'"),
        (["--wait", "0"], "--wait needs more than no time, not '0'"),
        (["--wait", "-1"], "--wait needs a number of seconds, not '-1'"),
        (["--wait", "nan"], "--wait needs a number of seconds, not 'nan'"),
        (["--wait", "inf"], "--wait needs a number of seconds, not 'inf'"),
        (["--wait", "1e9"], "--wait needs a number of seconds, not '1e9'"),
        (["--wait", "soon"], "--wait needs a number of seconds, not 'soon'"),
        (["--reconnect", "-0.1"], "--reconnect needs a number of seconds, not '-0.1'"),
        (["--when-lost", "dney"], "--when-lost is one of pass, ask and deny, not 'dney'"),
        (["--when-unreachable", ""], "--when-unreachable is one of pass, ask and deny, not ''"),
    ],
)
def test_a_wrong_option_is_named_and_the_rest_is_still_read(
    arguments: list[str], problem: str
) -> None:
    options = read_options([*arguments, "--when-unreachable", "deny", "--oops"], {})
    assert options.problem.startswith(problem)
    assert options.when_unreachable == "deny"


def test_a_forgotten_value_swallows_no_wish_to_deny() -> None:
    options = read_options(["--server", "--when-unreachable", "deny"], {})
    assert (options.when_unreachable, options.server) == ("deny", Options().server)


def test_a_wrong_variable_is_named() -> None:
    options = read_options([], {b"CRABHOOK_WAIT": b"soon", b"CRABHOOK_WHEN_UNREACHABLE": b"ask"})
    assert options.problem == "CRABHOOK_WAIT needs a number of seconds, not 'soon'"
    assert options.when_unreachable == "ask"


@given(st.lists(st.one_of(st.sampled_from([*EXAMPLES, "--companion", "deny"]), st.text())))
def test_no_arguments_are_an_accident(arguments: list[str]) -> None:
    options = read_options(arguments, {})
    assert options.when_lost in ("pass", "ask", "deny")
    assert 0 < options.wait <= 1e8


@pytest.mark.process
@pytest.mark.parametrize("wish", ["option", "variable"])
def test_a_wrong_option_fails_closed_where_that_was_wished(wish: str) -> None:
    env = environment(**({"CRABHOOK_WHEN_UNREACHABLE": "deny"} if wish == "variable" else {}))
    options = ("--srever=x", *(("--when-unreachable=deny",) if wish == "option" else ()))
    hook = run_hook(*options, env=env, door=CONSOLE)
    assert b'"permissionDecision":"deny"' in hook.stdout
    assert hook.returncode == 0
    assert b"there is no option '--srever=x'" in hook.stderr
    assert b"see crabhook --help" in hook.stderr


@pytest.mark.process
def test_a_wrong_option_leaves_the_agent_alone_by_default() -> None:
    hook = run_hook("--wait", "0")
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert hook.stderr == (
        b"crabhook was started with a wrong option (--wait needs more than no time, not '0'); the"
        b" agent goes on by its own rules, which may ask its user or run it without asking; see crabhook"
        b" --help, and how the hook is installed\n"
    )
