"""Whether rules can be read; and what mends them."""

import sys
from hashlib import sha256

import pytest

from crabhook.doctor.examination import own_rules, project_rules
from crabhook.doctor.finding import Finding, Status
from crabhook.policy.rule import Trust
from crabhook.rulebook.files import Trusted, write_trusted
from crabhook.store.change import written
from crabhook.store.opening import open_writer
from crabhook.store.record import Document, iso
from tests.support.cluster import Cluster, require
from tests.support.typist import Typist
from tests.unit.doctor.home import Home, is_well, typist

pytestmark = pytest.mark.process

GOOD = '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\n'
BROKEN = f'{GOOD}\n[[rule]]\nverdict = "perhaps"\nmatch = "Bash"\n'


def test_without_rule_files_all_is_well(home: Home) -> None:
    assert all(map(is_well, own_rules(home.machine())))
    assert list(project_rules(home.machine())) == []


def own(home: Home) -> Finding:
    return next(own_rules(home.machine()))


def test_broken_rules_are_a_fault_with_their_line_and_editing_mends(home: Home) -> None:
    home.write(home.config / "rules.toml", BROKEN)
    finding = own(home)
    assert (finding.status, finding.id) == (Status.FAULT, "rules.own")
    assert "+6 " in finding.mend
    home.mend(finding, editor=typist(home.folder, GOOD))
    assert is_well(own(home))
    assert own(home).figures == {"number": 1}


def test_a_broken_list_of_trusted_files_is_a_fault(home: Home) -> None:
    home.write(home.config / "trusted.toml", "[[trusted]]\nfolder = 1\n")
    _, finding = own_rules(home.machine())
    assert (finding.status, finding.id) == (Status.FAULT, "rules.trusted")
    home.mend(finding, editor=typist(home.folder, ""))
    assert all(map(is_well, own_rules(home.machine())))


def trust(home: Home, *options: str) -> None:
    command = [sys.executable, "-m", "crabhook", "rules", "trust", str(home.project), *options]
    with Typist(command, home.environment) as person:
        person.answer("[y/N] ", "y\n")
        assert person.finish()[0] == 0


def test_a_projects_rules_count_as_far_as_they_are_trusted(home: Home) -> None:
    path = home.write(home.project / ".crabhook" / "rules.toml", GOOD)
    finding = home.look_around(project_rules)
    assert (is_well(finding), finding.figures["trust"]) == (True, "none")
    assert f"crabhook rules trust {home.project}" in finding.what
    trust(home)
    assert "to deny and to ask" in home.look_around(project_rules).what
    path.write_text(f"# changed\n{GOOD}")
    finding = home.look_around(project_rules)
    assert (finding.status, "has changed" in finding.what) == (Status.WARNING, True)
    home.mend(finding, typed="y\n")
    assert is_well(home.look_around(project_rules))


def test_a_trusted_file_that_is_broken_is_a_fault(home: Home) -> None:
    path = home.write(home.project / ".crabhook" / "rules.toml", GOOD)
    trust(home, "--full")
    trusted = (home.config / "trusted.toml").read_text()
    path.write_text(BROKEN)
    now, before = (sha256(text.encode()).hexdigest() for text in (BROKEN, GOOD))
    (home.config / "trusted.toml").write_text(trusted.replace(before, now))
    finding = home.look_around(project_rules)
    assert (finding.status, "line 6" in finding.what) == (Status.FAULT, True)
    home.mend(finding, editor=typist(home.folder, GOOD))
    assert home.look_around(project_rules).status is Status.WARNING  # other bytes than trusted


def test_a_file_that_is_not_trusted_is_not_even_read(home: Home) -> None:
    home.write(home.project / ".crabhook" / "rules.toml", BROKEN)
    assert is_well(home.look_around(project_rules))


@pytest.mark.thorough
def test_where_servers_share_a_record_the_rules_there_are_looked_at(home: Home) -> None:
    cluster = Cluster(require())
    try:
        cluster.make()
        home.write(home.config / "settings.toml", f'[record]\nstore = "{cluster.url()}"\n')
        home.write(home.config / "rules.toml", GOOD)
        assert list(own_rules(home.machine())) == []  # that there is no record is another finding
        writer = open_writer(cluster.url())
        assert is_well(own(home))
        rules = Document("rules", 1, GOOD, iso(0), "ann at laptop")
        writer.write([written(rules, rules.entry(None, 0, {}))])
        assert is_well(own(home))
        assert "ann at laptop" in own(home).what
        home.write(home.config / "rules.toml", BROKEN)
        assert (own(home).status, own(home).id) == (Status.WARNING, "rules.own")
        assert own(home).mend.endswith("rules pull")
        theirs = home.write(home.project / ".crabhook" / "rules.toml", GOOD)
        full = Trusted(str(home.project), sha256(GOOD.encode()).hexdigest(), Trust.FULL)
        here = home.write(home.config / "trusted.toml", write_trusted([full]))
        assert home.look_around(project_rules).figures["trust"] == "full"  # it will be taken
        trusted = Document("trusted", 1, "", iso(0), "ann at laptop")
        writer.write([written(trusted, trusted.entry(None, 0, {}))])
        assert home.look_around(project_rules).figures["trust"] == "none"
        here.unlink()
        there = Document("trusted", 2, write_trusted([full]), iso(0), "ann at laptop")
        writer.write([written(there, there.entry(trusted, 0, {}))])
        assert home.look_around(project_rules).figures["trust"] == "full"
        theirs.write_text(f"# changed\n{GOOD}")
        assert home.look_around(project_rules).status is Status.WARNING
        cluster.sql("UPDATE crabhook.document SET text = ''")
        assert own(home).status is Status.FAULT
        assert list(project_rules(home.machine())) == []  # which `rules.trusted` tells
        writer.close()
    finally:
        cluster.remove()


FAILING = f'{GOOD.replace("deny", "allow")}[[test]]\nask = "rm x"\n'


def test_tests_that_fail_are_a_fault_and_editing_mends(home: Home) -> None:
    home.write(home.config / "rules.toml", FAILING)
    finding = own(home)
    assert (finding.status, finding.id) == (Status.FAULT, "rules.own")
    assert "+5 " in finding.mend
    home.mend(finding, editor=typist(home.folder, GOOD))
    assert is_well(own(home))


def test_tests_of_a_trusted_file_that_fail_are_a_fault(home: Home) -> None:
    home.write(home.project / ".crabhook" / "rules.toml", FAILING)
    trusted = Trusted(str(home.project), sha256(FAILING.encode()).hexdigest(), Trust.FULL)
    home.write(home.config / "trusted.toml", write_trusted([trusted]))
    failing, trusting = project_rules(home.machine())
    assert (failing.status, "1 OF 1 TESTS" in failing.what) == (Status.FAULT, True)
    assert is_well(trusting)


def test_a_rule_that_can_never_decide_is_named_beside_the_count(home: Home) -> None:
    home.write(home.config / "rules.toml", GOOD + GOOD)
    dead, counted, _ = own_rules(home.machine())
    assert (dead.status, dead.id) == (Status.WARNING, "rules.own")
    assert "line 4: deny Bash(rm *) can never decide" in dead.what
    assert "+4 " in dead.mend
    assert (is_well(counted), counted.figures) == (True, {"number": 2})
