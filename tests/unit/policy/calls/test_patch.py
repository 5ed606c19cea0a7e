"""A patch names its files, however its headers are written; what Codex reads, rules see."""

import pytest

from crabhook.policy.calls.shell_call import read_patch
from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, allowing, call, denying, verdict


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


@every_row(
    "text, paths",
    [
        (patch("*** Add File: a", "+x"), ("a",)),
        (patch("*** Delete File: a b", "*** Delete File: /c"), ("a b", "/c")),
        (patch("*** Update File: a", "*** Move to: ../b", "@@ def f", " x", "-y", "+z"), ("a", "../b")),
        (patch("*** Update File: a", "@@", "-y", "*** End of File"), ("a",)),
        (patch("*** Update File: a", "@@", " x", "", "-y"), ("a",)),
        (patch("*** Add File: a", "+*** Delete File: b", "+"), ("a",)),
        (patch("*** Update File: a", "@@", "-*** Delete File: b"), ("a",)),
        (patch("*** Add File: a\r", "+x\r", "*** Delete File: b\r"), ("a", "b")),
        # seen with 0.169: what stands before a header does not keep Codex from reading it
        (patch("*** Add File: a", "+x", "  *** Delete File: b"), ("a", "b")),
        (patch("*** Add File: a", "+x", "\t*** Delete File: b"), ("a", "b")),
        (patch("*** Add File: a", "+x", "\xa0*** Delete File: b"), ("a", "b")),
        (" " + patch("*** Delete File:  a "), (" a",)),
    ],
)  # fmt: skip
def test_every_file_is_named_and_nothing_is_in_doubt(text: str, paths: tuple[str, ...]) -> None:
    read = read_patch(text)
    assert read.paths == paths
    assert read.trouble == ""


@every_row(
    "text",
    [
        "",
        "nothing",
        patch(),
        patch("+x"),
        "*** Delete File: a",
        "<<'EOF'\n" + patch("*** Delete File: a") + "\nEOF",
        patch("*** Environment ID: other", "*** Delete File: a"),
        patch("*** Add File: a", "+x", "***  Delete File: b"),
        patch("*** Add File: a", "+x", "*** delete file: b"),
        patch("*** Add File: a", "+x", "what is this"),
        patch("*** Add File: a", "+x", "*** Delete File:"),
        patch("*** Add File: a", "+x", "*** End Patch", "*** Begin Patch", "*** Delete File: b"),
    ],
)
def test_a_patch_that_is_not_understood_is_never_allowed(text: str) -> None:
    assert read_patch(text).trouble
    assert (
        verdict(allowing("Edit", "Write", "ApplyPatch"), call("apply_patch", command=text)) == OPEN
    )


def test_a_denial_of_one_file_stops_the_whole_patch() -> None:
    hidden = patch("*** Add File: a", "+x", "  *** Delete File: private/key")
    for law in (denying("Edit(private/**)"), denying("Read(private/**)")):
        assert verdict(law, call("apply_patch", command=hidden)) == "deny"
    allowed = patch("*** Add File: src/a", "+x", "  *** Delete File: b")
    assert verdict(allowing("Edit(/src/**)"), call("apply_patch", command=allowed)) == OPEN


@pytest.mark.parametrize(
    "line",
    [
        "apply_patch <<'EOF'\n{}\nEOF",
        "cd src && apply_patch <<EOF\n{}\nEOF",
        "/usr/bin/apply_patch <<'EOF'\n{}\nEOF",
        "applypatch '{}'",
        "bash -c \"apply_patch '{}'\"",
    ],
)
def test_a_patch_in_a_command_is_seen_by_denials_and_never_allowed(line: str) -> None:
    inside = patch("*** Add File: a", "+x", "  *** Delete File: private/key")
    command = call("Bash", command=line.replace("{}", inside))
    assert verdict(denying("Edit(**/private/**)"), command) == "deny"
    assert verdict(allowing("Bash", "Edit", "Write"), command) == OPEN
