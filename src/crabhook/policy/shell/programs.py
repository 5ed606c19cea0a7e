"""What well-known programs do with the files that they are given, and which print numbers alone.

Long lists of names are written as text: that is easier to read, to sort and to compare.
"""

import re
from collections.abc import Mapping

from crabhook.policy.shell.script import NUMBER, Atom, Command, Shape, Word


def names(text: str) -> frozenset[str]:
    """Return the names in `text`, which blanks part."""
    return frozenset(text.split())


# They print their words, and open nothing by them.
PRINTERS = frozenset({"echo", "printf", "true", "false", ":", "test", "[", "[[", "basename"})
PRINTERS |= {"dirname", "which", "type", "export", "return", "exit", "sleep", "seq"}

# They do not change a file that they are given.
READERS = PRINTERS | names(
    "cat tac nl head tail less more most bat wc file stat ls dir vdir tree du df cd pushd diff "
    "cmp comm grep egrep fgrep rg ag ack zgrep strings od hexdump xxd md5sum sha1sum sha256sum "
    "sha512sum shasum cksum sort uniq cut paste column jq yq fold fmt realpath readlink "
    "git-log shellcheck actionlint yamllint"
)

# They change, move, make or remove a file that they are given.
WRITERS = names(
    "rm rmdir unlink mv cp tee dd touch mkdir truncate chmod chown chgrp chattr ln install rsync "
    "scp shred sponge patch sed perl ed ex vi vim nano emacs mkfifo mknod mktemp trash gio wget "
    "curl tar unzip gzip gunzip bzip2 xz split csplit"
)

# They open, change or go to whatever file they are given by name.
OPENERS = (READERS - PRINTERS) | WRITERS | names("find awk gawk mawk source .")

# Those whose first word is a pattern or a program, unless an option brings one.
SCRIPT_FIRST = names("grep egrep fgrep rg ag ack zgrep sed awk gawk mawk perl jq yq")

# They take the shell to another folder.
MOVES = names("cd chdir pushd popd")

# They follow the settings of the folder they are in, which may name programs to run.
VERSION_CONTROL = names("git hg svn jj")

# They do what they do to a folder with all that is in it.
RECURSIVE = names(
    "rm mv cp tar zip 7z rsync scp chmod chown chgrp chattr shred grep egrep rg ag ack find "
    "shutil trash srm"
)

# They read a folder whole; the rest of those above only with one of the options below.
_ALWAYS_DEEP = names("mv tar bsdtar gtar pax 7z 7za 7zr rg rga ag ack ugrep pt rgrep")
_DEEP_OPTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        names("grep egrep fgrep"),
        ("rRd", ("--recursive", "--dereference-recursive", "--directories")),
    ),
    **dict.fromkeys(names("cp rsync"), ("rRa", ("--recursive", "--archive"))),
    **dict.fromkeys(names("rm scp zip chmod chown chgrp diff"), ("rR", ("--recursive",))),
    "find": ("", ("-exec", "-ok", "-delete", "-fprint", "-fls")),
}
_DEEP = re.compile(
    r"\b(?:" + "|".join((*RECURSIVE, *_ALWAYS_DEEP, "diff", "xargs", "parallel")) + r")\b|[*?$`\[]"
)
# Named no folder, they search the one they are in.
SEARCH_HERE = names("grep egrep fgrep rgrep rg rga ag ack ugrep pt find git")
_FOLLOWING = ("--follow", "--dereference", "--copy-links", "--copy-unsafe-links")
_FOLLOWING_LETTERS: Mapping[str, str] = {
    **dict.fromkeys(names("grep egrep fgrep"), "RS"),
    **dict.fromkeys(names("cp rsync rg find diff"), "LH"),
    **dict.fromkeys(names("tar bsdtar gtar"), "hL"),
}

# They move, remove or mark what is in a folder, and read none of it.
READ_NOTHING = names("mv rm chmod chown chgrp chattr shred trash srm")

# They tell the names in a folder, or what else is known of a file beside what is in it.
NAMES_ONLY = names("ls dir vdir tree du df stat file realpath readlink find cd pushd")
# They show or carry away what is in the files that they are given.
CONTENT_READERS = (READERS - PRINTERS - NAMES_ONLY) | names(
    "sed awk gawk mawk perl ed ex vi vim nano emacs cp ln install rsync scp tar zip gzip bzip2 xz "
    "split csplit dd base64 base32 nl tee"
)

# git's subcommands that only tell.
GIT_READERS = names(
    "log show diff status blame ls-files ls-tree grep check-ignore shortlog add commit"
)


def reads_deep(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command does what it does to a folder with all that is in it."""
    if program in _ALWAYS_DEEP:
        return True
    if program == "git":
        return "grep" in words[1:]
    if program not in RECURSIVE and program != "diff":
        return False
    if program not in _DEEP_OPTIONS:
        return True
    letters, long = _DEEP_OPTIONS[program]
    return any(_is_option(word, letters, long) for word in words[1:])


def may_read_deep(line: str) -> bool:
    """Whether a shell line may read a folder, or files of a folder that it does not name."""
    return _DEEP.search(line) is not None


def follows_links(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command goes where links in a folder lead."""
    letters = _FOLLOWING_LETTERS.get(program, "")
    return any(_is_option(word, letters, _FOLLOWING) for word in words[1:])


def _is_option(word: str, letters: str, long: tuple[str, ...]) -> bool:
    """Whether a word may be one of the options: by a letter, or by a name that may be cut short."""
    if not word.startswith("-"):
        return False
    name = word.partition("=")[0]
    if len(name) > 2 and any(one.startswith(name) or name.startswith(one) for one in long):
        return True
    return not word.startswith("--") and any(one in word for one in letters)


def only_reads(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command leaves alone the files that it names."""
    if program == "git":
        return len(words) > 1 and words[1] in GIT_READERS
    if program == "sort":
        return not any(word.startswith(("-o", "--output")) for word in words)
    return program in READERS


# The whole command, its words fixed; a blank stands between words.
_FORMS = tuple(
    map(
        re.compile,
        (
            r"wc -[lcwm]",
            r"nproc(?: --all)?",
            r"date (?:-u )?\+(?:%[sdmYHMSjNyuw])+",
            r"id -[ug]",
            r"tput (?:cols|lines)",
            r"git rev-list --count(?: [\w./@{}~^][\w./@{}~^-]*)+",
        ),
    )
)
_GREP = re.compile(r"-[ivwxEFsa]*c[ivwxEFsa]*|--count")
_GREP_OPTION = re.compile(r"-[ivwxEFsa]+")
_OPERATORS = frozenset({"+", "-", "*", "/", "%"})
_STAT = (("stat", "-c", "%s"), ("stat", "-c", "%Y"), ("stat", "-f%z"), ("stat", "-f", "%z"))

# Whose output a line may count on: no function of the line may have such a name.
NUMBER_PRINTERS = names("wc nproc date id tput git grep stat seq expr")


def counts(shape: Shape) -> tuple[Atom, ...]:
    """Return what must be digits for commands of this form to print digits; nothing if none do."""
    if shape.last is None or not shape.last.words or shape.mixed or shape.last.assignments:
        return ()
    words = shape.last.words
    if all(word.fixed and " " not in word.text for word in words):
        text = " ".join(word.text for word in words)
        if any(form.fullmatch(text) for form in _FORMS):
            return (NUMBER,)
    return (NUMBER,) if _counts_matches(words) or _is_size(words) else _computes(words)


def _counts_matches(words: tuple[Word, ...]) -> bool:
    """Whether it is `grep -c` of at most one file, which then is not named in what is printed."""
    if len(words) < 3 or not words[0].fixed or words[0].text not in ("grep", "egrep", "fgrep"):
        return False
    options = [word for word in words[1:] if word.raw.startswith("-")]
    others = words[1 + len(options) :]
    if not 1 <= len(others) <= 2 or not all(word.fixed for word in (*options, *others)):
        return False
    if any("-" in (word.raw[:1], word.text[:1]) or not _is_one(word) for word in others):
        return False
    texts = [word.text for word in options]
    return any(map(_GREP.fullmatch, texts)) and all(
        _GREP.fullmatch(text) or _GREP_OPTION.fullmatch(text) for text in texts
    )


def _is_size(words: tuple[Word, ...]) -> bool:
    head = tuple(word.text for word in words[:-1] if word.fixed)
    last = words[-1]
    return (
        len(words) == len(head) + 1
        and head in _STAT
        and _is_one(last)
        and last.raw[:1] not in "-$`\"'"
    )


def _computes(words: tuple[Word, ...]) -> tuple[Atom, ...]:
    """Return the operands of `seq` or `expr`: of numbers these make numbers."""
    if len(words) < 2 or not words[0].fixed or words[0].text not in ("seq", "expr"):
        return ()
    given = [word for word in words[1:] if not (word.fixed and word.text in _OPERATORS)]
    if not all(word.atoms and not word.glob and not word.parts for word in given):
        return ()
    return tuple(atom for word in given for atom in word.atoms)


def _is_one(word: Word) -> bool:
    return not word.glob and not word.parts and all(atom.joined for atom in word.atoms)


def printed(command: Command) -> tuple[str, ...]:
    """Return what a command is likely to print: a guess, to deny by."""
    texts = [word.text for word in command.words]
    if texts[0] in ("which", "echo") or texts[:2] in (
        ["command", "-v"],
        ["type", "-p"],
        ["type", "-P"],
    ):
        rest = [text for text in texts[1:] if not text.startswith("-")]
    elif texts[0] == "printf":
        rest = [text for text in texts[1:] if text not in ("--", "%s", "%s\\n")]
    else:
        return ()
    return (" ".join(rest),) if rest else ()
