"""Whether settings can be read, and rules where this installation has what reads them."""

import pytest

from crabhook.doctor.examination import rules, settings
from crabhook.doctor.finding import Status
from tests.unit.doctor.home import Home, is_well, typist

pytestmark = pytest.mark.process


def test_with_no_files_all_is_well(home: Home) -> None:
    assert is_well(home.look_around(settings))
    assert [one.id for one in rules(home.machine())] == ["rules.own", "rules.trusted"]


@pytest.mark.parametrize(
    "text", ["[server]\nwiat = 3\n", "[server]\n\nwait = -1\n", "a = [\n", "\n\n[nothing]\n"]
)
def test_wrong_settings_are_a_fault_that_editing_mends(home: Home, text: str) -> None:
    home.write(home.config / "settings.toml", text)
    finding = home.look_around(settings)
    assert (finding.status, "does not start" in finding.means) == (Status.FAULT, True)
    home.mend(finding, editor=typist(home.folder, "[server]\nwait = 60\n"))
    assert is_well(home.look_around(settings))
