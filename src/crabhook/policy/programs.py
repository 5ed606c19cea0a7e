"""What well-known programs do with the files that they are given by name."""

from crabhook.policy.names import names

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

# git's subcommands that only tell.
GIT_READERS = names(
    "log show diff status blame ls-files ls-tree grep check-ignore shortlog add commit"
)


def only_reads(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command leaves alone the files that it names."""
    if program == "git":
        return len(words) > 1 and words[1] in GIT_READERS
    if program == "sort":
        return not any(word.startswith(("-o", "--output")) for word in words)
    return program in READERS
