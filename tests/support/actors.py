"""Everybody who can have decided, and every way a wait can have ended."""

from hypothesis import strategies as st

from crabhook.model.actor import (
    AnsweredAtAgent,
    Ended,
    Follows,
    Headless,
    Nobody,
    Operator,
    OrderKind,
    RuleActor,
    StandingOrder,
    TimeUp,
)

_TEXT = st.text(st.characters())  # lone surrogates too, as agents can write them

ENDS = (
    st.sampled_from(Ended)
    | st.builds(AnsweredAtAgent, _TEXT)
    | st.builds(TimeUp, st.sampled_from(Follows))
)
ACTORS = (
    st.builds(Operator, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT, _TEXT)
    | st.builds(RuleActor, _TEXT)
    | st.builds(
        StandingOrder,
        st.integers(0, 2**31),
        st.sampled_from(OrderKind),
        st.none() | st.integers(1, 8),
    )
    | st.just(Headless())
    | st.builds(Nobody, ENDS)
)
