"""What is handed in."""

from tests.unit.policy.law import context


def test_the_machine_of_the_tests_follows_its_links() -> None:
    here = context({"/a": "/b"})
    assert [here.real(path) for path in ("/a", "/a/c", "/ab")] == ["/b", "/b/c", "/ab"]
