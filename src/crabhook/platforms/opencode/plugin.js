// crabhook's plugin for OpenCode, which `crabhook install opencode` writes. It asks crabhook's server
// about each call, and gives OpenCode the answers. Nothing is allowed here: without an answer it denies,
// or leaves the call to OpenCode, as it was installed.
// The next line is all that differs between two installations.
const SETTINGS = {};

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const SOON = 5_000; // milliseconds for what only shows something
const LOOK_EVERY = 20_000; // milliseconds between two looks whether a server that we wait for lives
const KEPT = 4096; // entries of a list, the oldest forgotten first
const MOST_SHOWN = 256; // messages that wait to be shown
const DENIED_WITHOUT_WORDS = "The crabhook operator denied this.";

// OpenCode may load this more than once in a process, so what it knows is kept here, once for all.
const calls = new Map(); // by session and call: its tool, its input, and what became of it here
const parents = new Map(); // by session: the session that began it, "" for none
const asked = new Map(); // by request of OpenCode's: how our question about it is withdrawn
const waiting = new Map(); // by what waits: its session, and how it is withdrawn
let shown = Promise.resolve();
let showing = 0;

function keep(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > KEPT) map.delete(map.keys().next().value);
  return value;
}

// A model names its calls, so another session may have a call of the same name.
const named = (session, id) => `${session} ${id}`;

// Whether what OpenCode asks about is what this call was when it was decided: another plugin may have
// changed it since.
function fits(known, metadata, directory) {
  return Object.entries(metadata ?? {}).every(([key, value]) => {
    const own = Object.keys(known.input ?? {}).find((name) => name.toLowerCase() === key.toLowerCase());
    if (own === undefined) return true;
    const path = key.toLowerCase() === "filepath";
    const [here, there] = [known.input[own], value].map((it) => (path ? resolve(directory, String(it)) : it));
    return JSON.stringify(here) === JSON.stringify(there);
  });
}

// Without this a proxy of the user's would get what is meant for the loopback, the token too.
const host = new URL(SETTINGS.url).hostname.replace(/^\[|\]$/g, "");
if (SETTINGS.url.startsWith("http:")) {
  for (const name of ["NO_PROXY", "no_proxy"]) {
    const names = (process.env[name] ?? "").split(",").filter(Boolean);
    if (!names.includes(host)) process.env[name] = [...names, host].join(",");
  }
}

// The token lets us ask and never answer. It is read each time, since a server may make another.
function token() {
  try {
    return readFileSync(SETTINGS.token, "utf8").trim();
  } catch {
    return (process.env.CRABHOOK_TOKEN ?? "").trim();
  }
}

class Unanswered extends Error {}
class Withdrawn extends Unanswered {}

// Return the server's answer, null for no opinion. Throws Unanswered, and never waits without end.
async function ask(body, seconds, withdrawal = new AbortController()) {
  const late = AbortSignal.timeout(seconds * 1000);
  const lost = new AbortController();
  const look = setInterval(() => alive().catch(() => lost.abort()), LOOK_EVERY);
  try {
    const response = await fetch(SETTINGS.url, {
      method: "POST",
      redirect: "error",
      timeout: false, // Bun's own would end each question after five minutes
      signal: AbortSignal.any([late, lost.signal, withdrawal.signal]),
      headers: {
        Authorization: `Bearer ${token()}`,
        "Content-Type": "application/json",
        "X-Crabhook-Stance": SETTINGS.stance,
        "X-Crabhook-Wait": String(Math.ceil(seconds)),
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Unanswered(`${response.status} ${text.trim().slice(0, 300)}`);
    return text === "" ? null : JSON.parse(text);
  } catch (error) {
    if (error instanceof Unanswered) throw error;
    if (withdrawal.signal.aborted) throw new Withdrawn("it was withdrawn");
    if (lost.signal.aborted) throw new Unanswered("the server does not live any more");
    if (late.aborted) throw new Unanswered("nobody decided in time");
    throw new Unanswered(String(error?.message ?? error).slice(0, 300));
  } finally {
    clearInterval(look);
  }
}

// Throws where the server cannot even say how it is, twice.
async function alive() {
  const healthz = new URL("/healthz", SETTINGS.url);
  const knock = () => fetch(healthz, { redirect: "error", signal: AbortSignal.timeout(SOON) });
  await knock().catch(knock);
}

// Ask about something that may be withdrawn from this moment on; `key` names it.
async function wait(key, session, body) {
  const withdrawal = new AbortController();
  waiting.set(key, { session, withdrawal });
  try {
    return await ask(await body(), SETTINGS.wait, withdrawal);
  } finally {
    waiting.delete(key);
  }
}

function withdraw(session) {
  for (const it of waiting.values()) if (it.session === session) it.withdrawal.abort();
}

// Show the operator what happened, in order; no call waits for that.
async function show(body) {
  if (showing >= MOST_SHOWN) return;
  showing += 1;
  shown = shown
    .then(() => ask(body, SOON / 1000))
    .catch(() => null)
    .finally(() => (showing -= 1));
  await shown;
}

function refusal(error) {
  const what = error instanceof Unanswered ? error.message : `a fault of its plugin: ${error}`;
  return (
    `crabhook cannot ask the operator (${what}); this is denied, as the plugin was installed to. ` +
    `Start the operator's terminal: ${SETTINGS.serve}`
  );
}

export const Crabhook = async ({ client, directory, serverUrl }) => {
  const mode = ["acp", "run", "serve", "web"].find((word) => process.argv.includes(word)) ?? "terminal";

  // Return the session that began this one, "" for none; asked of OpenCode where nobody said.
  async function parent(session) {
    if (parents.has(session)) return parents.get(session);
    const limit = new Promise((done) => setTimeout(() => done(null), SOON));
    const got = await Promise.race([client.session.get({ path: { id: session } }).catch(() => null), limit]);
    return keep(parents, session, got?.data?.parentID ?? "");
  }

  // A subagent has a session of its own: it is shown as an agent of the session that began it.
  async function about(event, session, more) {
    const above = await parent(session);
    let root = above || session;
    for (let at = 0; at < 100 && parents.get(root); at += 1) root = parents.get(root);
    return {
      hook_event_name: event,
      session_id: root,
      ...(above ? { agent_id: session } : {}),
      cwd: directory,
      started_as: mode,
      ...more,
    };
  }

  const call = (id, tool, input) => ({ tool_name: tool, tool_input: input, tool_use_id: id });

  // Answer a request by OpenCode's own API, within this process; some versions need a socket for that.
  async function answer(path, body) {
    try {
      const got = await client._client.post({
        url: path,
        query: { directory },
        headers: { "content-type": "application/json" },
        body,
      });
      if (got.response) return got.response.status;
    } catch {
      // there is a listening server, or nobody takes the answer
    }
    const url = new URL(path, serverUrl);
    url.searchParams.set("directory", directory);
    const password = process.env.OPENCODE_SERVER_PASSWORD;
    const name = process.env.OPENCODE_SERVER_USERNAME ?? "opencode";
    const sent = await fetch(url, {
      method: "POST",
      signal: AbortSignal.timeout(SOON),
      headers: {
        "content-type": "application/json",
        ...(password ? { authorization: `Basic ${btoa(`${name}:${password}`)}` } : {}),
      },
      body: JSON.stringify(body),
    });
    return sent.status;
  }

  // Ask about a request of OpenCode's that a person may answer meanwhile, and answer it.
  async function broker({ id, sessionID: session, tool }, body, path, denied, only) {
    if (asked.has(id)) return; // another copy of us in this process has it
    const state = keep(asked, id, { by: "", body, session, call: tool?.callID });
    let reply;
    try {
      reply = await wait(id, session, body);
    } catch (error) {
      if (!SETTINGS.closed) return; // OpenCode's own dialog stays
      reply = denied(refusal(error));
    }
    if (reply === null || state.by) return; // no opinion, or a person was first
    const said = only(reply);
    state.by = "crabhook";
    if (said.reply === "reject" || reply.refused) refused(state);
    const status = await answer(`${path}/${id}/reply`, said).catch((error) => String(error));
    if (status === 200) return;
    state.by = "";
    const unheard = { ...(await body()), hook_event_name: "crabhook.unheard" };
    show({ ...unheard, answer: said.reply ?? "the answers", status: String(status) });
  }

  // What was refused never ran, whatever OpenCode says of it afterwards.
  function refused(state) {
    const known = state && calls.get(named(state.session, state.call));
    if (known) known.refused = true;
  }

  async function permission(it) {
    const last = calls.get(named(it.sessionID, it.tool?.callID));
    const known = last && !last.doubtful && fits(last, it.metadata, directory) ? last : null;
    if (known?.allowed && !asked.has(it.id)) {
      // The operator has allowed this very call, before OpenCode asked.
      keep(asked, it.id, { by: "crabhook" });
      await answer(`/permission/${it.id}/reply`, { reply: "once" });
      return;
    }
    if (mode === "run") return; // which rejects at once what it should ask
    const body = () =>
      about("permission.asked", it.sessionID, {
        ...call(it.tool?.callID ?? it.id, known?.tool ?? it.permission, known?.input ?? it.metadata),
        permission: it.permission,
        patterns: it.patterns,
        ...(known && known.tool === it.permission ? {} : { metadata: it.metadata }),
      });
    const denied = (reason) => ({ reply: "reject", message: reason });
    // Nothing but these two is ever answered: "always" would allow what nobody has seen, and without
    // a message the turn ends.
    const only = (said) =>
      said.reply === "once" ? { reply: "once" } : denied(said.message || DENIED_WITHOUT_WORDS);
    await broker(it, body, "/permission", denied, only);
  }

  async function question(it) {
    const input = { questions: it.questions };
    const body = () =>
      about("question.asked", it.sessionID, call(it.tool?.callID ?? it.id, "question", input));
    const denied = (reason) => ({ answers: it.questions.map(() => [reason]) });
    await broker(it, body, "/question", denied, ({ answers }) => ({ answers }));
  }

  // A request is answered: by us, or by a person at the agent, which ends our question.
  async function replied(event, it) {
    const state = asked.get(it.requestID);
    if (state?.by === "crabhook") return;
    if (state) state.by = "agent";
    if (it.reply === "reject") refused(state);
    const reply = it.reply ?? (event === "question.replied" ? "answered" : "rejected");
    const body = state ? await state.body() : await about(event, it.sessionID, {});
    // The server ends the question when it hears that; where it does not, we do.
    await show({ ...body, hook_event_name: event, reply });
    waiting.get(it.requestID)?.withdrawal.abort();
  }

  async function heard(type, it) {
    const session = it.sessionID;
    if (type === "permission.asked") return permission(it);
    if (type === "question.asked") return question(it);
    if (type === "permission.replied" || type === "question.replied" || type === "question.rejected")
      return replied(type, it);
    if (type === "session.created") {
      keep(parents, it.info.id, it.info.parentID ?? "");
      return show(await about(type, it.info.id, { title: it.info.title, version: it.info.version }));
    }
    if (type === "session.idle" || type === "session.error" || type === "session.deleted") {
      const id = session ?? it.info?.id;
      if (!id) return;
      withdraw(id);
      return show(await about(type, id, { error: it.error?.data?.message ?? it.error?.name }));
    }
    if (type === "message.part.updated" && it.part?.type === "tool" && it.part.state?.status === "error") {
      const known = calls.get(named(it.part.sessionID, it.part.callID));
      if (!known || known.refused || known.over) return;
      known.over = true;
      const more = { ...call(it.part.callID, known.tool, known.input), error: it.part.state.error };
      return show(await about(type, it.part.sessionID, more));
    }
  }

  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const key = named(sessionID, callID);
      const last = calls.get(key);
      // Of two calls with one name nobody can say which one is asked about later.
      const doubtful = Boolean(last && !last.over && !last.refused);
      const known = keep(calls, key, { tool, input: structuredClone(output.args), doubtful });
      let reply;
      try {
        const body = () => about("tool.execute.before", sessionID, call(callID, tool, output.args));
        reply = await wait(key, sessionID, body);
      } catch (error) {
        if (!SETTINGS.closed && !(error instanceof Withdrawn)) return;
        known.refused = true;
        throw new Error(refusal(error));
      }
      if (reply === null) return;
      if (reply?.decision !== "allow") {
        known.refused = true;
        throw new Error(reply?.reason || DENIED_WITHOUT_WORDS);
      }
      if (reply.input) {
        for (const key of Object.keys(output.args)) delete output.args[key];
        for (const [key, value] of Object.entries(reply.input))
          Object.defineProperty(output.args, key, { value, writable: true, enumerable: true, configurable: true });
      }
      known.input = structuredClone(output.args);
      known.allowed = true;
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const key = named(sessionID, callID);
      const known = calls.get(key);
      if (known) known.over = true;
      if (known?.refused) return; // a question that was answered with a refusal
      const result = output?.output ?? output?.content ?? null;
      const more = { ...call(callID, tool, args), tool_response: result };
      const body = () => about("tool.execute.after", sessionID, more);
      const reply = await wait(`${key} after`, sessionID, body).catch(() => null);
      if (!reply?.note) return;
      if (typeof output.output === "string") output.output += `\n\n${reply.note}`;
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: reply.note });
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text);
      show(await about("chat.message", sessionID, { prompt: prompt.join("\n") }));
    },
    event: async ({ event: { type, properties } }) => {
      heard(type, properties ?? {}).catch(() => null); // OpenCode waits for no event
    },
  };
};
