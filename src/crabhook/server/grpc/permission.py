"""PermissionService: takes hooks' requests in, and returns replies."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import NoReturn, TypeAlias

import grpc

from crabhook.broker.messages import Refusal
from crabhook.broker.restoring import COME_BACK_WITHIN
from crabhook.hook.statement import ticket_digest
from crabhook.model.ballot import Terms
from crabhook.model.card import Origin, Request, Stance
from crabhook.model.decision import Reply
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, compact_utf8, compact_with
from crabhook.model.marked_call import PROVES
from crabhook.model.signing import SignedOnly
from crabhook.model.trace import trace_parent
from crabhook.platforms import CLIENTS
from crabhook.server.address import MAX_REPLY, NO_TOKEN, Context, Tokens, admitted
from crabhook.server.core.deadlines import deadlines
from crabhook.server.core.intake import Intake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.v1 import permission_pb2 as pb
from crabhook.v1.permission_pb2_grpc import PermissionServiceServicer

_TICKET = re.compile(r"[0-9A-Za-z_-]{1,64}")

_STANCES = {
    pb.STANCE_UNSPECIFIED: Stance.GATE,
    pb.STANCE_GATE: Stance.GATE,
    pb.STANCE_COMPANION: Stance.COMPANION,
    pb.STANCE_SUPERVISOR: Stance.SUPERVISOR,
}


def fault_of(message: pb.PermissionRequest, platforms: Mapping[str, object]) -> str:
    """Return what is wrong with a request's envelope, or ""."""
    if not _TICKET.fullmatch(message.request_id):
        return "request_id must be 1 to 64 characters of [0-9A-Za-z_-]"
    if not _TICKET.fullmatch(message.secret):
        return "secret must be 1 to 64 characters of [0-9A-Za-z_-]"
    if message.platform not in platforms:
        names = ", ".join(sorted(platforms))
        return f"platform {message.platform[:40]!r} is not known here, but known: {names}. {PROVES}"
    return ""


def request_of(
    message: pb.PermissionRequest, event: Event, now: float, wait: float, machine: str = ""
) -> Request:
    """Return the request in `message`, whose payload is `event`.

    It waits `wait` seconds from `now`, or as long as its hook waits. `machine` is the owner of the
    token that the hook showed, if a machine of the team is.
    """
    until, client = deadlines(now, wait, message.wait_ms / 1000), message.client
    if trace_parent(client.traceparent):
        event = replace(event, trace=client.traceparent)
    return Request(
        id=message.request_id,
        secret=message.secret,
        event=event,
        wait_until=until.wait_until,
        stance=_STANCES.get(message.stance, Stance.GATE),
        origin=Origin(client.host, client.pid, client.user, machine),
        gives_up_at=until.gives_up_at,
        size=len(message.payload),
        when_lost=message.when_lost,
        strict=_strict(message) if message.HasField("strict") else None,
        terms=_terms(message.strict),
    )


MOST_NEEDED = 100  # people, whom a hook may want to sign
_MOST_NAMED = 20  # of the names and groups of a hook
_LONGEST_NAME = 64  # letters


def _strict(message: pb.PermissionRequest) -> SignedOnly:
    return SignedOnly(message.payload, ticket_digest(message.secret))


def _terms(strict: pb.StrictHook) -> tuple[Terms, ...]:
    """Return whose signatures a hook itself wants; what is cut, the hook still checks."""
    need = min(max(strict.need, 1), MOST_NEEDED)
    of = tuple(name[:_LONGEST_NAME] for name in strict.of[:_MOST_NAMED])
    return (Terms(need, of, rule="its hook's command"),) if need > 1 or of else ()


_ALONE, _ALONE_ENDS = b'{"hookSpecificOutput":', b"}\n"


def response_of(
    reply: Reply, *, confirm: bool, form: "pb.AnswerForm.ValueType" = pb.ANSWER_FORM_UNSPECIFIED
) -> pb.PermissionResponse:
    """Return the response: the reply, and the same decision field by field, or one of them.

    A form that this server does not know gets both.
    """
    response = pb.PermissionResponse(confirm=confirm)
    if form != pb.ANSWER_FORM_REPLY:
        output = reply.output or {}
        _tell(response, output, _TOP_LEVEL | _FLAT)
        specific = output.get("hookSpecificOutput")
        if isinstance(specific, dict) and form == pb.ANSWER_FORM_FIELDS:
            _tell_once(response, specific)
        elif isinstance(specific, dict):
            _tell_twice(response, specific, reply.stdout if len(output) == 1 else b"")
    printed = response.reply  # filled in its place: a message that is handed in is copied
    printed.exit_code = reply.exit_code
    printed.stderr = reply.stderr.encode("utf-8", "backslashreplace")
    if form != pb.ANSWER_FORM_FIELDS:
        printed.stdout = reply.stdout
    for each in reply.signed:
        response.signatures.add(
            kind=pb.SignatureKind.ValueType(each.kind),
            operator_id=each.operator,
            key_id=each.key,
            signed_at_ms=each.signed_at,
            verdict=each.verdict,
            card=each.card,
            terms=each.terms,
            signature=each.signature,
            authenticator_data=each.authenticator_data,
            client_data_json=each.client_data,
        )
    return response


def _tell_twice(
    response: pb.PermissionResponse, specific: Mapping[str, Value], stdout: bytes
) -> None:
    """Set what is specific to the event as fields, and as JSON; `stdout` may hold that JSON."""
    _tell(response, specific, _SPECIFIC)
    _tell_decision(response, specific.get("decision"))
    holder, key = _place_of_input(specific)
    if key:  # encoded once: it may have megabytes
        response.updated_input_json = compact(holder[key])
    if stdout:
        whole = stdout[len(_ALONE) : -len(_ALONE_ENDS)].decode("ascii")
    elif key and holder is specific:
        whole = compact_with(specific, key, response.updated_input_json)
    else:
        whole = compact(specific)
    response.hook_specific_output_json = whole


def _tell_once(response: pb.PermissionResponse, specific: Mapping[str, Value]) -> None:
    """Set what is specific to the event as fields, and as JSON what has no field."""
    rest = dict(specific)
    for key in _tell(response, specific, _SPECIFIC):
        del rest[key]
    holder, place = _place_of_input(specific)
    if place:
        response.updated_input_json = compact_utf8(holder[place])
        if holder is specific:
            del rest[place]
    inner = rest.pop("decision", None)
    if isinstance(inner, dict):
        carried = _tell_decision(response, inner)
        if holder is inner:
            carried.add(place)
        inner = {key: value for key, value in inner.items() if key not in carried}
    if inner:
        rest["decision"] = inner
    if rest:
        response.other_output_json = compact_utf8(rest)


_INPUT_KEYS = ("updatedInput", "tool_input")


def _place_of_input(specific: Mapping[str, Value]) -> tuple[Mapping[str, Value], str]:
    """Return where an output holds the tool's whole input: an object, and the key in it or ""."""
    inner = specific.get("decision")
    for holder in (specific, inner if isinstance(inner, dict) else {}):
        for key in _INPUT_KEYS:
            if holder.get(key) is not None:
                return holder, key
    return specific, ""


def _tell_decision(response: pb.PermissionResponse, inner: Value) -> set[str]:
    """Set the answer to a PermissionRequest as fields; return the keys that have a field."""
    if not isinstance(inner, dict):
        return set()
    keys = _tell(response, inner, _DECISION)
    updates = inner.get("updatedPermissions")
    if isinstance(updates, list):
        for update in updates:
            _tell_update(response.updated_permissions.add(), update)
        keys.add("updatedPermissions")
    return keys


def _tell_update(message: pb.PermissionUpdate, update: Value) -> None:
    """Set a permission update, whole and as fields; of a kind that is not known, what fits."""
    message.json = compact_utf8(update)
    if not isinstance(update, dict):
        return
    _tell(message, update, _UPDATE)
    rules, directories = update.get("rules"), update.get("directories")
    for rule in rules if isinstance(rules, list) else ():
        if isinstance(rule, dict):
            _tell(message.rules.add(), rule, _RULE)
    texts = (
        [directory for directory in directories if isinstance(directory, str)]
        if isinstance(directories, list)
        else []
    )
    message.directories.extend(map(_sendable, texts))


# The platform's key -> the wire's field, where both are a text or a boolean.
_TOP_LEVEL = {
    "continue": "continue",
    "stopReason": "stop_reason",
    "suppressOutput": "suppress_output",
    "systemMessage": "system_message",
    "decision": "decision",
    "reason": "reason",
}
# What other agents read in hookSpecificOutput, and Copilot at the top level but on PreToolUse.
_FLAT = {
    "behavior": "behavior",
    "message": "message",
    "interrupt": "interrupt",
    "additionalContext": "additional_context",
}
_SPECIFIC = {
    "hookEventName": "hook_event_name",
    "permissionDecision": "permission_decision",
    "permissionDecisionReason": "permission_decision_reason",
    "additionalContext": "additional_context",
}


_DECISION = {"behavior": "behavior", "message": "message", "interrupt": "interrupt"}
_UPDATE = {"type": "type", "behavior": "behavior", "mode": "mode", "destination": "destination"}
_RULE = {"toolName": "tool_name", "ruleContent": "rule_content"}


def _tell(
    message: pb.PermissionResponse | pb.PermissionUpdate | pb.PermissionRule,
    values: Mapping[str, Value],
    fields: Mapping[str, str],
) -> set[str]:
    """Set the wire's fields of texts and booleans; return the keys whose field was set."""
    keys = set()
    for key, value in values.items():
        field = fields.get(key)
        if field is None or not isinstance(value, str | bool):
            continue
        setattr(message, field, _sendable(value) if isinstance(value, str) else value)
        keys.add(key)
    return keys


def _sendable(text: str) -> str:
    """Return a text without lone surrogates, which protobuf does not take; JSON keeps them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_STATUS = {
    Refusal.NOT_YOURS: grpc.StatusCode.PERMISSION_DENIED,
    Refusal.SUPERSEDED: grpc.StatusCode.ABORTED,
    Refusal.FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Refusal.SESSION_FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Refusal.UNRECORDED: grpc.StatusCode.FAILED_PRECONDITION,
    Refusal.UNSPENT: grpc.StatusCode.FAILED_PRECONDITION,
    Refusal.UNDECIDED: grpc.StatusCode.DEADLINE_EXCEEDED,
    Refusal.OVER: grpc.StatusCode.ALREADY_EXISTS,  # the request has an answer already
    Refusal.CLOSED: grpc.StatusCode.NOT_FOUND,  # no operator is there any more
    Refusal.STOPPED: grpc.StatusCode.NOT_FOUND,
    Refusal.HANDED_OVER: grpc.StatusCode.UNAVAILABLE,
    Refusal.ELSEWHERE: grpc.StatusCode.UNAVAILABLE,
}
_ELSEWHERE = (Refusal.HANDED_OVER, Refusal.ELSEWHERE)
ASK_INSTEAD = "crabhook-leader"
"""The trailing metadata that names the server to ask instead, HOST:PORT."""


TeamFile: TypeAlias = Callable[[], bytes]
"""Returns the team's file as it is now; empty where there is none to use."""


def _no_team() -> bytes:
    return b""


class PermissionPort(PermissionServiceServicer):
    """Passes hooks' requests to one runner.

    `wait` is how many seconds a request may wait for the operator; over TCP a client shows one of
    `tokens`. `team` returns the team's file, for strict hooks that have another. `lost`: the
    listener ended, so that calls end against their clients' will.
    """

    def __init__(
        self, runner: Runner, *, wait: float, tokens: Tokens, team: TeamFile = _no_team
    ) -> None:
        self._wait, self._tokens, self._team = wait, tokens, team
        self.lost: Callable[[], bool] = lambda: False
        self._stays = self._grace
        self.switch_to(runner)

    def _grace(self) -> float:
        """Return how many seconds a hook may take to come back, after its listener ended."""
        return COME_BACK_WITHIN if self.lost() else 0.0

    def switch_to(self, runner: Runner) -> None:
        """Pass requests to this runner from now on."""
        self._runner, self._intake = runner, Intake(runner)

    async def RequestPermission(  # noqa: N802 - the wire's name
        self,
        request: pb.PermissionRequest,
        context: Context,
    ) -> pb.PermissionResponse:
        """Take a request in; return the reply, which the hook prints."""
        if (machine := admitted(context, self._tokens)) is None:
            await self._refuse_stranger(context)
        if elsewhere := self._runner.elsewhere:  # before the payload is read
            self._runner.witness.refused(elsewhere.refusal)
            await self._turn_away(elsewhere.refusal, context)
        if fault := fault_of(request, CLIENTS):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, fault)
        try:
            event = CLIENTS[request.platform].read(request.payload)
        except PayloadError as error:
            return self._unreadable(request, error, machine)
        try:
            asked = request_of(request, event, self._runner.now(), self._wait, machine)
            pending = await self._intake.enter(asked)
            pending.stays = self._stays
            if not pending.over:
                await self._accept(pending, context)
            reply = pending.given or await pending.wait()
        except RefusedError as error:
            await self._turn_away(error.refusal, context)
        response = response_of(reply, confirm=pending.confirm, form=request.answer_form)
        if request.HasField("strict"):
            response.team_file = self._newer_team(request.strict.team_sha256)
        if (size := response.ByteSize()) > MAX_REPLY:
            why = (
                f"the answer has {size} bytes and this server sends {MAX_REPLY} at most. Ask again "
                "with the same ticket and an answer_form, and the input comes once"
            )
            await context.abort(grpc.StatusCode.OUT_OF_RANGE, why)
        return response

    async def ConfirmReply(  # noqa: N802 - the wire's name
        self,
        request: pb.ConfirmReplyRequest,
        context: Context,
    ) -> pb.ConfirmReplyResponse:
        """Take a hook's receipt, which says that it has printed its reply."""
        if admitted(context, self._tokens) is None:
            await self._refuse_stranger(context)
        if not self._runner.confirm(request.request_id, request.secret):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody waits for this receipt")
        return pb.ConfirmReplyResponse()

    def _newer_team(self, has: bytes) -> bytes:
        """Return the team's file; nothing for a hook that has it."""
        content = self._team()
        return b"" if sha256(content).digest() == has else content

    async def _turn_away(self, refusal: Refusal, context: Context) -> NoReturn:
        """End a call without a reply; the hook hears where to ask instead, if that is known."""
        elsewhere = self._runner.elsewhere  # none, though it hands over: the next one is not known
        hooks = elsewhere.hooks if elsewhere and refusal in _ELSEWHERE else ""
        hint = ((ASK_INSTEAD, hooks),) if hooks else ()
        await context.abort(_STATUS[refusal], str(refusal), hint)
        raise AssertionError  # pragma: no cover - `abort` has raised

    async def _accept(self, pending: PendingCall, context: Context) -> None:
        """Say that the request waits, as soon as it is on record."""
        await pending.recorded()
        if not pending.over:
            try:
                await context.send_initial_metadata(())  # "accepted", as permission.proto says
            except BaseException:
                pending.leave()
                raise

    async def _refuse_stranger(self, context: Context) -> NoReturn:
        """End the call of a client that shows no token of ours."""
        self._runner.witness.stranger()
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
        raise AssertionError  # pragma: no cover - `abort` has raised

    def _unreadable(
        self, request: pb.PermissionRequest, error: PayloadError, machine: str
    ) -> pb.PermissionResponse:
        """Answer an unreadable input with no opinion, and the reason on standard error."""
        text = f"unreadable input of {len(request.payload)} bytes: {error}"
        self._runner.witness.unread(request.platform)
        self._runner.observe(Event(request.platform, "?", machine=machine), text)
        note = f"crabhook: no opinion: the hook's input could not be read: {error}\n"
        return response_of(Reply(stderr=note), confirm=False)
