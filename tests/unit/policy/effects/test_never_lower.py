"""No trick makes a call look less bad than it is, and none costs more than it should."""

from dataclasses import replace
from functools import cache
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.card import Level
from crabhook.policy import protected
from crabhook.policy.effects.found import MOST_EFFECTS, MOST_LETTERS, MOST_OBJECTS, MOST_UNKNOWN
from crabhook.policy.effects.objects import LONGEST
from crabhook.policy.effects.risk import effects_of
from tests.support.examples import examples, share
from tests.support.rows import every_row
from tests.unit.policy.effects.corpus import lines
from tests.unit.policy.law import bash, context

DOUBTFUL = [
    'rm -rf "$x"',
    "rm -rf $x",
    'rm -rf a "$x"',
    'rm -rf "$x"/b',
    'cp a "$x"',
    "rm -rf $(ls)",
    'git push "$x" -f',
]
PLAIN = [
    case.event.tool.input["command"]
    for name, case in lines()
    if case.level and case.event.tool and not set(name) & set("'\"␤$`(){}<>;&|!\\")
]
LINES = [
    case.event.tool.input["command"]
    for name, case in lines()
    if case.event.tool and "unclosed" not in name  # which another one would close
]
WRAPPERS = [
    "sh -c '{}'", 'bash -c "{}"', "env A=1 {}", "nice {}", "nice -n 5 {}", "timeout 10 {}", "nohup {}", "( {} )", "{{ {}; }}", "if true; then {}; fi",
    "true && {}", "{} || true", "{}; ls", "ls; {}", "eval '{}'", "time {}", "command {}", "sudo {}", "f() {{ {}; }}; f", "for i in 1; do {}; done", "echo $({})",
    "{} > /dev/null 2>&1", "{} | cat", "{} &", "sh <<'EOF'\n{}\nEOF", "trap '{}' EXIT", "cat <({})", "! {}", "while true; do {}; done", "case a in a) {};; esac",
    "stdbuf -oL {}", "setsid {}", "sh -c \"sh -c '{}'\"", "watch {}", "\n\n{}\n", "{} # a note", "xargs {}",
]  # fmt: skip


@cache
def level(line: str) -> Level:
    return effects_of(bash(line), context()).level


@every_row("turn, wrapper", list(enumerate(WRAPPERS)))
def test_a_wrapper_never_lowers_the_level(turn: int, wrapper: str) -> None:
    quoting = "'" in wrapper  # in which nothing is expanded before the inner shell
    for line in (*share(PLAIN, turn, of=12), *(() if quoting else DOUBTFUL)):
        if not ('"' in line and '"' in wrapper):
            assert level(wrapper.format(line)) >= level(line), (wrapper, line)


@examples(200)
@given(
    st.sampled_from(LINES),
    st.sampled_from(LINES),
    st.sampled_from(["; ", " && ", " || ", "\n", " | "]),
)
def test_another_command_never_lowers_the_level(first: str, second: str, joint: str) -> None:
    both = level(f"{first}{joint}{second}")
    if "\n" not in first and "#" not in first:
        assert both >= level(first)
    if "cd " not in first:  # which moves the second
        assert both >= min(level(second), Level.CAUTION)


@examples(100)
@given(st.sampled_from(PLAIN), st.data())
def test_quotes_never_lower_the_level(line: str, data: st.DataObject) -> None:
    words = line.split(" ")
    quote = st.sampled_from(["'{}'", '"{}"', "{}", "\\{}"])
    quoted = [data.draw(quote).format(word) if word.isalnum() else word for word in words]
    assert level(" ".join(quoted)) >= level(line)


@every_row("line", protected._TABLES["commands"])
def test_what_no_rule_is_made_of_is_never_without_a_mark(line: str) -> None:
    free = {  # they run what stands beside them, which has its own effects, or change the shell alone
        "eval *", "exec *", "source *", ". *", "trap *", "alias *", "xargs *", "parallel *", "env *", "watch *", "setsid *", "nohup *", "history *",
        "base64 -d*", "base64 --decode*", "openssl enc*", "crabhook *", "* -m crabhook *", "* --delete*", "find * -exec*", "find * -ok*", "chmod -R *", "chmod *777*", "chown *", "rm -*",
        "dd *", "truncate *", "git clean *", "systemctl *", "scp *", "service *", "launchctl *", "rsync *", "python -c *",
    }  # fmt: skip
    words = line.replace("\\*", "*").replace("*", " x y ")
    if line not in free:
        assert level(words) >= Level.CAUTION, words


@examples(200)
@given(st.text(max_size=200) | st.text("abcrm -/;&|$(){}'\"`<>=*~.\n", max_size=80))
def test_any_line_has_a_risk_of_bounded_words(line: str) -> None:
    risk = effects_of(bash(line), context())
    assert len(risk.effects) <= MOST_EFFECTS + 1
    assert len(risk.unknown) <= MOST_UNKNOWN + 1
    for one in risk.effects:
        most = MOST_LETTERS if "NOBODY SEES" in one.words else MOST_OBJECTS
        assert len(one.words) < (LONGEST + 20) * (most + 1)


@pytest.mark.parametrize(
    "line",
    ["x " * 200_000, "rm -rf /srv/x; " * 30_000, "a=$x; " * 1000, '"$(rm x)" ' * 800, "(" * 8000, "rm " + "../a " * 1600, "`" * 400_000],
    ids=lambda line: line[:12],
)  # fmt: skip
def test_a_huge_line_costs_a_bounded_time_and_is_marked(line: str) -> None:
    started = process_time()
    risk = effects_of(bash(line), context())
    assert process_time() - started < 5
    assert risk.level >= Level.CAUTION


def test_more_effects_than_a_person_reads_are_counted_with_the_worst_first() -> None:
    line = "sudo ls; rm ../x; cat .env; git push -f; kill 1; npm ci; curl a.example.org; reboot; docker run x; psql; ls /srv"
    risk = effects_of(bash(line), context())
    assert [one.level for one in risk.effects] == sorted(
        (one.level for one in risk.effects), reverse=True
    )
    assert risk.effects[-1].words.startswith("and ")
    assert risk.level == Level.DANGER


def test_a_link_is_as_bad_as_where_it_leads() -> None:
    links = {"/work/app/out": "/srv/data"}
    assert effects_of(bash("rm -rf out/x"), context(links)).level == Level.DANGER
    assert effects_of(bash("rm -rf in/x"), context(links)).level == Level.CAUTION


def test_without_a_project_every_file_is_outside() -> None:
    risk = effects_of(bash("rm x", cwd="/home/dev"), replace(context(), project=""))
    assert risk.level == Level.DANGER


def test_an_event_without_a_tool_has_no_risk() -> None:
    assert effects_of(replace(bash("rm x"), tool=None), context()).effects == ()
