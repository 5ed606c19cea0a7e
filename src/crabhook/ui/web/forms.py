"""What a person fills in: an agent's questions, and the form of an MCP server.

The names of fields are places, such as `q1` and `f1`: no letter of an agent's is a name.
"""

from collections.abc import Iterable, Sequence

from crabhook.desk.acts import Field
from crabhook.model.elicitation import FormField
from crabhook.model.jsontext import Value, compact
from crabhook.model.question import Option, Question
from crabhook.present.document import McpForm, Questions
from crabhook.present.phrases import joined as phrase
from crabhook.ui.form_values import choices_of
from crabhook.ui.web.html import NOTHING, Html, can_be_typed, el, joined, labelled
from crabhook.ui.web.texts import Pen, lines_of, paragraph, section, text_block

_BREAK = el("br")
_INPUT_MODES = {"integer": "numeric", "number": "decimal"}


def questions(each: Questions, pen: Pen) -> Html:
    """Return questions to be answered, or the answers that they have."""
    if each.unreadable:
        return paragraph(f"these questions cannot be read: {each.unreadable}", "warning")
    asked = enumerate(each.questions, 1)
    if pen.open:
        return section("questions", *(_question(place, it, pen) for place, it in asked))
    answers = each.answers
    return section("questions", *(_answered(it, answers.get(it.text), pen) for _, it in asked))


def _answered(question: Question, answer: Value, pen: Pen) -> Html:
    options = phrase(*(option.label for option in question.options))
    words = options if answer is None else f"answered: {answer}"
    heading = el("h3", _lines(question.text, pen))
    return joined((heading, el("p", _lines(words, pen), class_="quote")))


def _lines(words: str, pen: Pen) -> Html:
    return joined(lines_of(pen.words(words)), _BREAK)


def _question(place: int, question: Question, pen: Pen) -> Html:
    choices = _Choices(Field.ANSWERS, f"q{place}", pen, several=question.several)
    options = [
        choices.one(number, option.label, _beside(option, pen))
        for number, option in enumerate(question.options, 1)
    ]
    if options and not question.several:
        options.append(choices.none(is_chosen=True))
    words = "or in your own words" if options else "your answer"
    return el(
        "fieldset",
        el("legend", _lines(phrase(question.header, question.text, by=": "), pen)),
        *options,
        _typed(words, Field.ANSWERS, f"q{place}-words"),
        _typed("note to the model", Field.ANSWERS, f"q{place}-note"),
        class_="question",
        data_question=place,
        data_several="yes" if question.several else "no",
    )


def _beside(option: Option, pen: Pen) -> Html:
    parts = NOTHING
    if option.description:
        parts = el("span", _lines(option.description, pen), class_="dim")
    if option.preview:
        parts = joined((parts, text_block("preview", option.preview, pen, "preview")))
    return parts


class _Choices:
    """What there is to choose for one name: any number of it, or one."""

    def __init__(self, field: Field, name: str, pen: Pen, *, several: bool) -> None:
        self._field, self._name, self._pen = field, name, pen
        self._kind = "checkbox" if several else "radio"

    def one(
        self, number: int, label: str, beside: Html = NOTHING, *, is_chosen: bool = False
    ) -> Html:
        """Return one of them, by its number from 1 on."""
        return self._choice(str(number), _lines(label, self._pen), beside, is_chosen=is_chosen)

    def none(self, *, is_chosen: bool) -> Html:
        """Return the choice of nothing."""
        return self._choice("", Html("no answer"), NOTHING, is_chosen=is_chosen)

    def _choice(self, value: str, label: Html, beside: Html, *, is_chosen: bool) -> Html:
        mark = el(
            "input",
            type=self._kind,
            name=f"{self._name}-of-{self._pen.card}",
            value=value,
            checked=is_chosen,
            data_field=self._field,
            data_name=self._name,
        )
        return el("div", el("label", mark, label, class_="choice"), beside, class_="option")


def _typed(label: str, field: Field, name: str, value: str = "", **attributes: str | bool) -> Html:
    typed = el(
        "input",
        type="text",
        value=value,
        data_field=field,
        data_name=name,
        autocomplete="off",
        **attributes,
    )
    return labelled(label, typed)


def form(each: McpForm, pen: Pen) -> Html:
    """Return the fields of an MCP server's form; only their names where it was answered."""
    if not pen.open:
        return section("form", *(el("p", _lines(asked.title, pen)) for asked in each.entries))
    entries: Iterable[tuple[int, FormField]] = enumerate(each.entries, 1)
    return section("form", *(_entry(place, asked, pen) for place, asked in entries))


def _entry(place: int, asked: FormField, pen: Pen) -> Html:
    choices = choices_of(asked)
    about = el("p", _lines(asked.description, pen), class_="dim") if asked.description else NOTHING
    if not choices:
        return el("div", *_typed_entry(f"f{place}", asked, pen), about, class_="entry")
    several = asked.kind == "array"
    chosen = [compact(value) for value in _listed(asked.default, several=several)]
    made = _Choices(Field.CONTENT, f"f{place}", pen, several=several)
    options = [
        made.one(number, title, is_chosen=compact(value) in chosen)
        for number, (value, title) in enumerate(choices, 1)
    ]
    if not several:
        options.append(made.none(is_chosen=not chosen))
    legend = el("legend", _lines(_heading(asked), pen))
    return el("fieldset", legend, about, *options, class_="entry")


def _heading(asked: FormField) -> str:
    return f"{asked.title} (required)" if asked.required else asked.title


def _typed_entry(name: str, asked: FormField, pen: Pen) -> Sequence[Html]:
    """Return a field to type in, with its default unless a browser would change that."""
    default = asked.default
    value = "" if default is None else default if isinstance(default, str) else compact(default)
    is_kept = can_be_typed(value) and not set(value) & set("\n\t")
    label = f"{_heading(asked)} · {phrase(asked.kind, asked.format, by=', ')}"
    field = _typed(
        label,
        Field.CONTENT,
        name,
        value if is_kept else "",
        inputmode=_INPUT_MODES.get(asked.kind, "text"),
        required=asked.required,
    )
    return [field] if is_kept else [field, text_block("default", value, pen, "its default")]


def _listed(value: Value, *, several: bool) -> Sequence[Value]:
    if value is None:
        return ()
    return value if several and isinstance(value, list) else [value]
