"""The forms of a report: lines, JSON, SARIF."""

import json
from pathlib import Path

import pytest

from crabhook.lint.report import SCHEMA, Report, Unread, as_json, as_sarif, lines
from crabhook.lint.rules import STANDARD, TODAY
from crabhook.lint.script import LintFinding, LintRule, Severity, SourcePlace

RULES = {rule.id: rule for rule in TODAY.rules()}
FOUND = [
    LintFinding(Path("hooks/a b.py"), SourcePlace(3, 5), RULES["CH001"], "first"),
    LintFinding(Path("/abs/ü.sh"), SourcePlace(1, 1), RULES["CH021"], "second"),
    LintFinding(Path("hooks/a b.py"), SourcePlace(9, 1), RULES["CH001"], "third"),
]
FILES = [Path("hooks/a b.py"), Path("/abs/ü.sh")]
REPORT = Report(FOUND, FILES, [Unread(Path("gone.py"), "No such file")])


def test_a_line_has_the_place_the_severity_the_rule_and_the_message() -> None:
    told = list(lines(REPORT))
    assert told[0] == "hooks/a b.py:3:5: critical CH001 first"
    assert told[1].strip() == RULES["CH001"].means
    assert told[2].strip() == f"Do: {RULES['CH001'].do}"
    assert "/abs/ü.sh:1:1: low CH021 second" in told
    assert told[-2] == "gone.py: not looked at: No such file"
    assert told[-1] == "2 files looked at: 3 findings (2 critical, 1 low)"


def test_what_to_do_is_said_once_for_each_rule_of_a_file() -> None:
    assert sum(line.startswith("    Do:") for line in lines(REPORT)) == 2


def test_nothing_found_is_said() -> None:
    assert list(lines(Report())) == ["nothing was looked at"]
    assert list(lines(Report([], [Path("a")]))) == ["1 file looked at: nothing found"]


def test_json_has_every_fact_of_a_finding() -> None:
    value = as_json(REPORT, TODAY)
    assert json.loads(json.dumps(value)) == value
    assert isinstance(value, dict)
    assert {key: value[key] for key in ("schema", "profile", "files", "unread")} == {
        "schema": SCHEMA,
        "profile": "today",
        "files": ["hooks/a b.py", "/abs/ü.sh"],
        "unread": [{"path": "gone.py", "reason": "No such file"}],
    }
    findings = value["findings"]
    assert isinstance(findings, list)
    assert findings[0] == {
        "path": "hooks/a b.py",
        "line": 3,
        "column": 5,
        "rule": "CH001",
        "severity": "critical",
        "title": RULES["CH001"].title,
        "message": "first",
        "means": RULES["CH001"].means,
        "do": RULES["CH001"].do,
    }


@pytest.mark.parametrize("profile", [TODAY, STANDARD], ids=lambda one: one.name)
def test_sarif_has_what_its_schema_requires(profile: object) -> None:
    chosen = TODAY if profile is TODAY else STANDARD
    log = as_sarif(Report([], FILES), chosen)
    assert isinstance(log, dict)
    assert log["version"] == "2.1.0"
    assert str(log["$schema"]).endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]  # type: ignore[misc]
    driver = run["tool"]["driver"]  # type: ignore[index,call-overload]
    assert driver["name"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert ids == [rule.id for rule in chosen.rules()]
    assert len(set(ids)) == len(ids)
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}


def test_a_result_of_sarif_points_at_its_rule_its_file_and_its_region() -> None:
    log = json.loads(json.dumps(as_sarif(REPORT, TODAY)))
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    for result, one in zip(run["results"], FOUND, strict=True):
        assert result["ruleId"] == one.rule.id
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == one.rule.id
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"].startswith(one.message)
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert region == {"startLine": one.place.line, "startColumn": one.place.column}
    uris = [
        r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]
    ]
    assert uris == ["hooks/a%20b.py", "file:///abs/%C3%BC.sh", "hooks/a%20b.py"]
    assert [one["location"]["uri"] for one in run["artifacts"]] == uris[:2]


def test_sarif_says_what_was_not_looked_at() -> None:
    log = json.loads(json.dumps(as_sarif(REPORT, TODAY)))
    (invocation,) = log["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (notice,) = invocation["toolExecutionNotifications"]
    assert "No such file" in notice["message"]["text"]
    done = json.loads(json.dumps(as_sarif(Report(), TODAY)))
    assert done["runs"][0]["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize("severity", list(Severity))
def test_every_severity_has_its_level(severity: Severity) -> None:
    rule = LintRule("CH001", severity, "t", "m.", "d")
    report = Report([LintFinding(Path("a"), SourcePlace(1, 1), rule, "x")])
    (run,) = json.loads(json.dumps(as_sarif(report, TODAY)))["runs"]
    expected = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
    assert run["results"][0]["level"] == expected[str(severity)]
