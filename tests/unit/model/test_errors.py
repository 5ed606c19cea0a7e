"""Every error we raise on purpose can be caught as one, and none as another."""

import pytest

from crabhook.model import errors


@pytest.mark.parametrize("kind", [errors.PayloadError, errors.QuestionError, errors.DecisionError])
def test_every_error_has_one_root_and_no_other_kin(kind: type[Exception]) -> None:
    assert kind.__mro__[1:3] == (errors.CrabhookError, Exception)
