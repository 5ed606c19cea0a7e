"""An agent's double that speaks ACP: it asks for permissions, and tells what it was answered.

`python tests/support/acp_agent.py REQUESTS [AT_ONCE]`: to each prompt it asks so many times for a
permission, AT_ONCE of them side by side, waits for all answers, and ends its turn with the list of
them by the requests' ids. A prompt "long N" has one request of N bytes, "ask SESSION" one for
another session, "junk" a line that is no JSON, "die" ends the agent while it asks. "form" has forms
in place of permissions, "visit" requests to visit a page.
"""

import json
import sys

OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
SESSION = "session-of-the-double"


def send(**message: object) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def ask(number: int, session: str = SESSION, command: str = "", **more: object) -> None:
    """Ask for a permission."""
    raw = {"command": command or f"touch made-{number}"}
    call = {"toolCallId": f"call-{number}", "title": "Run", "kind": "execute", "rawInput": raw}
    params = {"sessionId": session, "toolCall": call | more, "options": OPTIONS}
    send(id=number, method="session/request_permission", params=params)


FIELDS = {
    "name": {"type": "string", "title": "Name"},
    "size": {"type": "integer", "minimum": 1},
    "fast": {"type": "boolean"},
}
FORMS = {
    "form": {
        "mode": "form",
        "message": "Fill in the form.",
        "requestedSchema": {"type": "object", "properties": FIELDS, "required": ["name"]},
    },
    "visit": {"mode": "url", "message": "Visit it.", "url": "http://127.0.0.1:9/page"},
}


def fill_in(number: int, kind: str) -> None:
    """Ask for a form to be filled in."""
    asked = {"sessionId": SESSION, "toolCallId": f"call-{number}", **FORMS[kind]}
    send(id=number, method="elicitation/create", params=asked)


def prompted(request: dict[str, object], text: str, requests: int, at_once: int) -> None:
    """Do a turn, and end it with what was answered."""
    word, _, rest = text.partition(" ")
    if word == "junk":
        sys.stdout.write("this is no JSON\n")
        sys.stdout.flush()
        requests = 0
    answers: dict[str, list[object]] = {}
    asked, waiting = 0, 0
    while asked < requests or waiting:
        while asked < requests and waiting < at_once:
            if word == "long":
                ask(asked, content=[{"type": "diff", "path": "/x", "newText": "x" * int(rest)}])
            elif word == "ask":
                ask(asked, session=rest)
            elif word in FORMS:
                fill_in(asked, word)
            else:
                ask(asked, command=rest if word == "run" else "")
            asked, waiting = asked + 1, waiting + 1
        if word == "die":
            sys.exit(3)
        message = json.loads(sys.stdin.readline())
        if message.get("method"):
            continue
        answers.setdefault(str(message["id"]), []).append(message.get("result"))
        waiting = asked - len(answers)
    send(id=request["id"], result={"stopReason": "end_turn", "answers": answers})


def main() -> None:
    """Serve one editor."""
    requests, at_once = [*map(int, sys.argv[1:]), 1, 1][:2]
    while line := sys.stdin.readline():
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            about = {"name": "double", "title": "Agent double", "version": "1"}
            send(id=message["id"], result={"protocolVersion": 1, "agentInfo": about})
        elif method == "session/new":
            send(id=message["id"], result={"sessionId": SESSION})
        elif method == "session/prompt":
            prompted(message, message["params"]["prompt"][0]["text"], requests, at_once)


if __name__ == "__main__":
    main()
