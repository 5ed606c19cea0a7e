"""crabhook's own settings file: any text is settings, or an error in words."""

from __future__ import annotations

from crabhook.config import _TABLES, SettingsError, parse
from tests.fuzz.mutation import words
from tests.fuzz.target import Target
from tests.fuzz.text import text_of


def law(data: bytes) -> None:
    """The bytes are the file; what is read is within what each setting may be."""
    try:
        settings = parse(text_of(data), "settings.toml")
    except SettingsError as error:
        assert str(error).startswith("settings.toml")
        return
    assert settings.wait > 0
    assert settings.max_waiting > 0
    assert settings.otherwise in ("pass", "ask", "deny")


KEYS = sorted({key for table in _TABLES.values() for key in table})
WORDS = [*(f"[{table}]\n" for table in _TABLES), *(f"{key} = " for key in KEYS), "true", "0", "1", "-1", "9" * 30, "1e400", "nan", "inf", '"x"', '"~/x"', '"/x"', '"pass"', '"deny"', "[]", '["call"]', "[[]]", "{}", '"""', "'", "\n", "#", "2027-01-01", ".", "=", "\\ud800", "\0", "[" * 300]  # fmt: skip


def seeds() -> list[bytes]:
    """Every table with every key, each once."""
    return [f"[{table}]\n{key} = {value}\n".encode() for table, keys in _TABLES.items() for key in keys for value in ("1", '"x"', '["x"]')]  # fmt: skip


TARGET = Target(law, words.of(WORDS), seeds)
