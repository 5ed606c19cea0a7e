"""Figures of the record."""

import pytest

from crabhook.store.change import happened
from crabhook.store.opening import Place, open_history
from crabhook.store.record import RecordKind
from crabhook.store.verify import Share, stats
from crabhook.store.writer import Writer
from tests.unit.store.making import decision, entry


def test_decisions_are_counted_by_who_made_them_and_about_what(place: Place, store: Writer) -> None:
    by_rule = {"by": "crabhook", "rule": "Bash(ls *)", "waited": 0.0}
    by_order = {"by": "allow everything of this session", "waited": 0.0}
    store.write(
        [
            happened(entry(), entry(RecordKind.ASKED)),
            happened(
                *(decision(n, body={"by": "operator", "waited": float(n)}) for n in range(1, 11))
            ),
            happened(decision(11, body=by_rule), decision(12, "deny", tool="Edit", body=by_order)),
            happened(
                decision(13, "pass", body={"by": "crabhook"}),
                entry(RecordKind.EXPIRED, tool="Edit"),
            ),
        ]
    )
    with open_history(place) as history:
        found = stats(history.find())
    assert found.all.by == {"operator": 10, "rules": 2, "nobody": 2}
    assert found.all.verdicts == {"allow": 11, "deny": 1, "pass": 1, "expired": 1}
    assert (found.all.percentile(50), found.all.percentile(90)) == (5.0, 9.0)
    assert list(found.tools) == ["Bash", "Edit"]
    assert found.tools["Edit"].by == {"rules": 1, "nobody": 1}
    assert found.values()["all"] == {
        "decisions": 14,
        "by": {"operator": 10, "rules": 2, "nobody": 2},
        "verdicts": {"allow": 11, "deny": 1, "pass": 1, "expired": 1},
        "operator_median": 5.0,
        "operator_p90": 9.0,
    }


@pytest.mark.parametrize(("percent", "seconds"), [(0, 1.0), (50, 1.0), (51, 3.0), (100, 3.0)])
def test_a_percentile_is_one_of_the_waits(percent: float, seconds: float) -> None:
    assert Share(waits=[3.0, 1.0]).percentile(percent) == seconds
    assert Share().percentile(percent) is None
