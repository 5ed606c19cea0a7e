"""What has a say in our hooks' environment is known, all that our own client reads included."""

from crabhook.hook.client import _OPTIONS
from crabhook.install.environment import MOVES, moves


def test_every_variable_that_the_client_reads_is_one_that_moves_a_hook() -> None:
    read = {variable.decode() for variable, _ in _OPTIONS.values() if variable}
    assert read | {"CRABHOOK_TOKEN", "XDG_RUNTIME_DIR"} <= set(MOVES)


def test_what_moves_no_hook_is_not_told() -> None:
    told = moves(["NODE_ENV", "CRABHOOK_SERVER", "PATH"])
    assert [name for name, _ in told] == ["CRABHOOK_SERVER"]
