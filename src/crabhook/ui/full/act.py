"""What keys can do at the desk."""

from enum import StrEnum, auto


class Act(StrEnum):
    """What a key does."""

    # moving about
    UP = auto()
    DOWN = auto()
    FIRST = auto()
    LAST = auto()
    PAGE_UP = auto()
    PAGE_DOWN = auto()
    OPEN = auto()
    BACK = auto()
    HELP = auto()
    QUIT = auto()
    # deciding one request
    ALLOW = auto()
    ALLOW_WITH_NOTE = auto()
    EDIT = auto()
    ALWAYS = auto()
    REMEMBER = auto()
    ALLOW_WITH_MODE = auto()
    DENY = auto()
    DENY_AND_INTERRUPT = auto()
    KEEP_GOING = auto()
    RETRY = auto()
    HALT = auto()
    TELL_USER = auto()
    HUSH = auto()
    HAND_BACK = auto()
    DEFER = auto()
    PASS = auto()
    DECLINE = auto()
    CANCEL = auto()
    TAKE_BACK = auto()
    # its time
    EXTEND = auto()
    SNOOZE = auto()
    # answering questions
    CHOOSE_NUMBER = auto()
    CHOOSE = auto()
    OWN_WORDS = auto()
    REMARK = auto()
    NEXT_QUESTION = auto()
    QUESTION_BEFORE = auto()
    QUESTION_AFTER = auto()
    REVIEW = auto()
    SEND = auto()
    # forms of MCP servers
    ACCEPT = auto()
    FILL = auto()
    FILL_CHOICE = auto()
    FILL_NUMBER = auto()
    FIELD_BEFORE = auto()
    FIELD_AFTER = auto()
    CLEAR_FIELD = auto()
    # plans
    NOTE_LINES = auto()
    NOTE = auto()
    UNNOTE = auto()
    SEND_NOTES = auto()
    CHANGES = auto()
    # secrets
    BARE = auto()
    # many at once
    MARK = auto()
    MARK_ALIKE = auto()
    UNMARK_ALL = auto()
    ALLOW_MARKED = auto()
    DENY_MARKED = auto()
    HAND_BACK_MARKED = auto()
    PASS_MARKED = auto()
    # standing orders
    ORDERS = auto()
    GO_AWAY = auto()
    COME_BACK = auto()
    # lists and what is to be confirmed
    PICK = auto()
    PICK_NUMBER = auto()
    TURN = auto()
    CONFIRM = auto()
    # typing
    ENTER_LINE = auto()
    LEAVE_LINE = auto()
    EARLIER_LINE = auto()
    LATER_LINE = auto()
    COMPARE = auto()
    LEAVE_EDIT = auto()
    OUTSIDE_EDITOR = auto()
