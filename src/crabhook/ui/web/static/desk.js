// The page of the web desk: it shows the HTML that the server makes, and sends what a person taps.
//
// Its laws, each in a part of its own:
//   Sight    a button acts only after it was in view, unchanged, for a while; what lets something
//            happen, only after every line of the request was in view
//   Put      nothing moves under a finger: what ends leaves its place, what is new pushes nothing
//   Stream   what is not heard is grey, and takes no tap
//   Acts     a tap is sent until its outcome is told; it is told at the card, in words
// The DOM that it works on is described in ../__init__.py.

const SILENCE = 25_000; // ms without a word of the server after which it is not heard
const HIDDEN_FOR = 5_000; // ms that a hidden page still listens
const BEAT_EVERY = 15_000; // ms between two signs that a person looks
const ARMING = 400; // ms in view until a button acts
const HOLD = 2; // seconds for which an answer can be taken back
const PARKED = 20; // cards that keep what was typed in them while another is shown

// ---------------------------------------------------------------- Pure parts

/** Return how many ms to wait before trying again. */
export function backoff(tries) {
  return Math.min(15_000, 500 * 2 ** tries);
}

/** Reads server-sent events out of pieces of text, which end anywhere. */
export class EventText {
  #rest = "";

  /** Return the events that are whole now. */
  take(piece) {
    const blocks = (this.#rest + piece).split("\n\n");
    this.#rest = blocks.pop();
    return blocks.map((block) => {
      const event = { name: "message", data: "", id: "" };
      for (const line of block.split("\n")) {
        const [, field, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
        if (field === "event") event.name = value;
        if (field === "data") event.data += value;
        if (field === "id") event.id = value;
      }
      return event;
    });
  }
}

/** Knows what has been in view, unchanged, for how long. A mark names what it showed; ms. */
export class Arming {
  #seen = new Map();

  /** A thing is in view now; another mark counts anew. */
  seen(thing, mark, now) {
    if (this.#seen.get(thing)?.mark !== mark) this.#seen.set(thing, { mark, since: now });
  }

  /** A thing is out of view, or moved: it counts anew. */
  gone(thing) {
    this.#seen.delete(thing);
  }

  /** Nothing is in view. */
  clear() {
    this.#seen.clear();
  }

  /** Whether a thing was in view as it is for the whole delay. */
  armed(thing, mark, now, after = ARMING) {
    const seen = this.#seen.get(thing);
    return seen?.mark === mark && now - seen.since >= after;
  }
}

/** Knows how far each line was scrolled through: a long line needs all its rows. */
export class Reading {
  #lines = new WeakMap();

  /** The part of a line between `from` and `to` is in view; all in px from its top. */
  saw(line, mark, from, to, height) {
    let seen = this.#lines.get(line);
    if (seen?.mark !== mark) this.#lines.set(line, (seen = { mark, height, to: 0, whole: false }));
    if (Math.abs(seen.height - height) > 1) Object.assign(seen, { height, to: 0 });
    if (from <= seen.to + 1) seen.to = Math.max(seen.to, to);
    seen.whole ||= seen.to >= height - 2;
  }

  /** Whether all of a line was in view. */
  whole(line, mark) {
    const seen = this.#lines.get(line);
    return seen?.mark === mark && seen.whole;
  }
}

/** Return words of the server as a sentence of their own. */
export function sentence(words) {
  const whole = words.charAt(0).toUpperCase() + words.slice(1);
  return /[\w)"'”]$/.test(whole) ? `${whole}.` : whole;
}

/** Return a span of seconds in words. */
export function span(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d`;
}

/** Return a moment as this device writes it, with its day where that is another one. */
function moment(at, now) {
  const then = new Date(at * 1000);
  const clock = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === new Date(now * 1000).toDateString()) return clock;
  return `${then.toLocaleDateString([], { day: "numeric", month: "short" })}, ${clock}`;
}

/** Return the time that is left in words; the seconds count where it is short. */
export function left(seconds) {
  if (seconds <= 0) return "no time left";
  if (seconds >= 600) return `${span(seconds)} left`;
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")} left`;
}

/** Return bytes as hexadecimal. */
export function hex(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the bytes of hexadecimal text. */
export function unhex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Return bytes as base64url without padding. */
export function base64url(bytes) {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Return the bytes of base64url. */
export function unbase64url(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

/** Return fields in one run of bytes, each behind its length: no two lists give the same. */
export function framed(fields) {
  const whole = new Uint8Array(fields.reduce((size, field) => size + 4 + field.length, 0));
  let at = 0;
  for (const field of fields) {
    new DataView(whole.buffer).setUint32(at, field.length);
    whole.set(field, at + 4);
    at += 4 + field.length;
  }
  return whole;
}

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Return what a passkey signs for a call: `here` is the stream's hello, `at` the server's time. */
export async function challengeOf(here, text, at) {
  const utf8 = (words) => new TextEncoder().encode(words);
  const when = new Uint8Array(8);
  new DataView(when.buffer).setBigUint64(0, BigInt(Math.round(at * 1000)));
  const fields = ["crabhook-presence-v1", here.team, here.operator].map(utf8);
  fields.push(unhex(here.challenge), utf8(here.rpc), await sha256(utf8(text)), when);
  return sha256(framed(fields));
}

// ---------------------------------------------------------------- Small helpers

const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const randomHex = () => hex(crypto.getRandomValues(new Uint8Array(16)));

/** Return an element of ours: its words are text, never HTML. */
function make(tag, words = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = words;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Say something at a place, if it is not said there already: readers hear each change. */
function say(place, words, tone = "") {
  if (!place) return;
  if (place.textContent !== words) place.textContent = words;
  place.dataset.isTone = tone;
}

/** Say something that is about no card. */
function tell(words) {
  say(byId("told"), words);
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => {
    say(byId("told"), "");
    lookSoon();
  }, 6_000);
}

/** Say something at what a person acts on: at the foot of a card, which stays in view. */
function sayAt(holder, words, tone = "") {
  if (holder.id === "desk") return tell(words);
  const output = outcomeOf(holder);
  Object.assign(holder.dataset, { isSaid: words, isSaidTone: tone });
  if (Boolean(words) === Boolean(output.textContent)) return say(output, words, tone);
  return steady(() => say(output, words, tone)); // it comes or goes, and may move what is below
}

/** Return what is said at what a person acts on. */
const saidAt = (holder) => (holder.id === "desk" ? byId("told") : outcomeOf(holder)).textContent;

/** Return where outcomes are told. It is there before any is: readers hear what changes in it. */
function outcomeOf(holder) {
  const place = holder.matches("article") ? footOf(holder) : (all("form.acts", holder).at(-1) ?? holder);
  const output = all("output.outcome", place).at(-1);
  if (output) return output;
  const ours = make("output", "", { class: "outcome", role: "status", "data-is-ours": "" });
  place.append(ours);
  return ours;
}

/** Return the foot of a card, which stays in view: of one that is over, a foot of ours. */
function footOf(card) {
  const foot = card.querySelector(".first, .foot");
  if (foot) return foot;
  const ours = make("div", "", { class: "foot", "data-is-ours": "" });
  card.append(ours);
  return ours;
}

// ---------------------------------------------------------------- HTML becomes elements

// The one policy of Trusted Types, so the one place where text can become an element. All of it
// comes from our own server, which escapes what agents wrote (ui/web/html.py).
const policy = globalThis.trustedTypes?.createPolicy("crabhook", {
  createHTML: (text) => text,
  createScriptURL: (url) => {
    if (url !== "/sw.js") throw new TypeError("no script of ours");
    return url;
  },
});

/** Return the element that HTML from our server makes; nothing in it runs or loads. */
function element(text) {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(text) : text;
  return template.content.firstElementChild;
}

// What belongs to the page, and stays when the server tells an element anew.
const ownAttribute = (name) =>
  name === "open" || name === "aria-disabled" || name.startsWith("data-is-");
const stays = (node) =>
  node.nodeType === Node.ELEMENT_NODE && (node.hasAttribute("data-is-ours") || isGone(node));

/** Return what names a node among its siblings; "" where only its place does. */
function keyOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  if (node.id) return `#${node.id}`;
  const { name = "", act = "", value = "", field = "", block = "" } = node.dataset;
  if (name || act) return [node.nodeName, name, act, value, node.getAttribute("value"), field].join();
  return block && `block ${block}`;
}

/** Make an element as a fresh one is, and keep its fields, focus and open details. */
function morph(old, fresh) {
  if (old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return fresh;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return old;
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (!ownAttribute(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!ownAttribute(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  morphInside(old, fresh);
  return old;
}

function morphInside(old, fresh) {
  const named = new Map();
  for (const child of old.childNodes) {
    const key = keyOf(child);
    if (key && !named.has(key)) named.set(key, child);
  }
  let place = old.firstChild;
  const pass = () => {
    while (place && stays(place)) place = place.nextSibling;
  };
  for (const wanted of [...fresh.childNodes]) {
    pass();
    const key = keyOf(wanted);
    const alike = place && !keyOf(place) && place.nodeName === wanted.nodeName ? place : null;
    const match = key ? named.get(key) : alike;
    named.delete(key);
    if (!match) {
      old.insertBefore(wanted, place);
      continue;
    }
    if (match === place) place = place.nextSibling;
    else old.insertBefore(match, place);
    match.removeAttribute?.("data-is-gone");
    morph(match, wanted);
  }
  while (place) {
    const next = place.nextSibling;
    if (!stays(place)) takeAway(place);
    place = next;
  }
}

// ---------------------------------------------------------------- Put: what the server tells

const CARD = "#queue-list > [data-card], article[data-card]";
const isGone = (node) => node.hasAttribute("data-is-gone");

/** Take an element away; a card in view leaves its place, greyed, until a person moves on. */
function takeAway(node, words = "") {
  const isCard = node.nodeType === Node.ELEMENT_NODE && node.matches(CARD);
  if (!isCard || !inView(node)) {
    node.remove();
    return;
  }
  node.setAttribute("data-is-gone", "");
  sayEnded(node, words);
}

/** Say how a card ended, unless this page told the outcome of its own answer. */
function sayEnded(holder, words = "") {
  if (holder.hasAttribute("data-is-decided")) return;
  sayAt(holder, holder.dataset.ended || words || "It waits no more.");
}

/** Put what the server tells; `whole`: it is all there is, and the rest is gone. */
function put(fragments, whole = false) {
  const named = new Set(fragments.map(([id]) => id));
  const ends = endsIn(fragments);
  steady(() => {
    for (const [id, text] of fragments) {
      const old = byId(id) ?? parked.get(id);
      if (!text) {
        if (old) takeAway(old, ends.get(id));
        continue;
      }
      const fresh = element(text);
      if (old) {
        const before = markOf(old);
        old.removeAttribute("data-is-gone");
        changed(morph(old, fresh), before);
      } else {
        insert(byId(fresh.dataset.into ?? ""), fresh);
      }
    }
    if (!whole) return;
    for (const row of all("#queue-list > *, #session-list > *")) if (!named.has(row.id)) takeAway(row);
  });
  afterPut();
}

/** Return how each row that goes ended, by its id, as far as the same news tell it. */
function endsIn(fragments) {
  const ends = new Map();
  for (const [id, text] of fragments) {
    if (!text || !id.startsWith("entry-")) continue;
    const { card, ended } = element(text).dataset;
    if (card && ended) ends.set(`row-${card}`, ended);
  }
  return ends;
}

/** Put a new element into a list by its order; what then pushes things in view goes to the end. */
function insert(list, fresh) {
  if (!list) return;
  const order = fresh.dataset.order ?? "";
  const next = [...list.children].find((child) => (child.dataset.order ?? "") > order) ?? null;
  list.insertBefore(fresh, next);
  arrived.push(fresh);
}
const arrived = [];

/** Tell a person that a card which they look at is another one now. */
function changed(holder, before) {
  if (!holder.matches("article[data-card]") || before === markOf(holder)) return;
  const { state, isSaid, isSaidTone, isCounted } = holder.dataset;
  if (holder.hasAttribute("data-is-decided")) {
    // Its buttons went, and what was said beside them with these.
    sayAt(holder, isSaid, isSaidTone);
    offerNext(holder);
  } else if (state && state !== "waiting") sayEnded(holder);
  else if (isCounted && all(".votes", holder).some((votes) => votes.textContent === isCounted)) {
    sayAt(holder, isSaid, isSaidTone); // the change is the yes of this page
  } else sayAt(holder, "It changed: look again.", "warning");
}

let scrolledAt = -Infinity; // when the page scrolled itself, which is no person's moving on

/** Do something to the page so that nothing in view moves, nor loses focus. */
function steady(act) {
  const anchors = all(".list, #card-place")
    .map((list) => [...list.children].find(inView))
    .filter(Boolean)
    .map((anchor) => [anchor, anchor.getBoundingClientRect().top]);
  const buttons = [...near]
    .filter((node) => node.matches("button"))
    .map((button) => [button, button.getBoundingClientRect().top]);
  const focused = document.activeElement;
  act();
  for (const [anchor, top] of anchors) {
    const shift = () => (anchor.isConnected ? anchor.getBoundingClientRect().top - top : 0);
    if (!shift()) continue;
    scrolledAt = performance.now();
    scrollerOf(anchor).scrollBy({ top: shift(), behavior: "instant" });
    if (Math.abs(shift()) <= 1) continue;
    // The page is too short to scroll: what came waits at the end for its place.
    for (const late of arrived) {
      if (late.parentNode !== anchor.parentNode) continue;
      late.parentNode.setAttribute("data-is-unsorted", "");
      late.parentNode.append(late);
    }
  }
  arrived.length = 0;
  for (const [button, top] of buttons) {
    if (Math.abs(button.getBoundingClientRect().top - top) > 2) arming.gone(button);
  }
  if (focused?.isConnected && focused !== document.activeElement) {
    focused.focus({ preventScroll: true });
  }
}

/** Return what scrolls an element: a column of a wide page, or the page. */
function scrollerOf(node) {
  const column = node.closest(".view");
  return column && getComputedStyle(column).overflowY === "auto" ? column : document.scrollingElement;
}

/** Clear the places of what is gone, and sort what came late: a person moved on.
 *
 * `inSight`: also the places in view, below which everything moves up.
 */
function settle(inSight = true) {
  const gone = all(".list > [data-is-gone]").filter((node) => inSight || !inView(node));
  if (!gone.length && !document.querySelector("[data-is-unsorted]")) return;
  steady(() => {
    for (const node of gone) node.remove();
    for (const list of all("[data-is-unsorted]")) {
      list.removeAttribute("data-is-unsorted");
      const order = (row) => row.dataset.order ?? "";
      const sorted = [...list.children].sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
      sorted.forEach((row, place) => {
        if (list.children[place] !== row) list.insertBefore(row, list.children[place]);
      });
    }
  });
  afterPut();
}

/** Bring everything on the page in line with what was put. */
function afterPut() {
  filter();
  count();
  tick();
  watch();
  lookSoon();
  tidyNotices();
  followCard();
}

/** Tell how many cards wait, at the title and on the app's icon. */
function count() {
  const waiting = all("#queue-list > [data-card]:not([data-is-gone])").length;
  say(byId("queue-count"), String(waiting));
  document.title = waiting ? `(${waiting}) crabhook` : "crabhook";
  say(document.querySelector(".back"), waiting ? `Waiting · ${waiting}` : "Waiting");
  navigator.setAppBadge?.(waiting).catch(() => {});
}

// ---------------------------------------------------------------- Sight: what was in view

const arming = new Arming();
const delay = () => Number(document.body.dataset.arming ?? ARMING); // ms
const reading = new Reading();
const near = new Set(); // lines and buttons that the browser has in its window
const sight = globalThis.IntersectionObserver
  ? new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) near.add(target);
          else {
            near.delete(target);
            arming.gone(target);
          }
        }
        lookSoon();
      },
      { threshold: [0, 0.5, 1] },
    )
  : null;
const watched = new WeakSet();
// What a person must have seen; JSON that repeats it is left out.
const LINES = ".asked .line:not(.raw .line)";

/** Watch the buttons and lines that are new. */
function watch() {
  for (const node of all(`button.act, ${LINES}`)) {
    if (watched.has(node)) continue;
    watched.add(node);
    sight.observe(node);
    const holder = holderOf(node);
    if (node.matches("button") && holder && holder.id !== "desk") outcomeOf(holder);
  }
  for (const node of near) if (!node.isConnected) near.delete(node);
}

/** Return what a button belongs to: a card's row or article, a session, or the desk. */
const holderOf = (node) => node.closest("[data-card], [data-session]:not(button), #desk") ?? node.form;

/** Return what names a holder as it is shown. */
const markOf = ({ dataset: { seen = "", sha = "", state = "" } }) => [seen, sha, state].join();

/** Return the rows of the screen where nothing covers a box: no bar, no keyboard, no words of ours. */
function clearRows({ left: from, right: to }) {
  const { offsetTop = 0, height = innerHeight } = globalThis.visualViewport ?? {};
  const covers = all(".tabs, .held li, .told").map((cover) => cover.getBoundingClientRect());
  const beside = (box) => box.right <= from || box.left >= to; // as in another column
  const atFoot = covers.filter((box) => box.height && box.top > innerHeight / 2 && !beside(box));
  const top = document.querySelector(".top").getBoundingClientRect().bottom;
  const bottom = Math.min(innerHeight, offsetTop + height, ...atFoot.map((box) => box.top));
  return { top: Math.max(0, top), bottom };
}

function inView(node) {
  const box = node.getBoundingClientRect();
  const { top, bottom } = clearRows(box);
  return box.height > 0 && box.bottom > top && box.top < bottom;
}

/** Return from where on the foot of a card covers its lines. */
function footOver(holder) {
  const covers = all(".first, .foot, .unread, .outcome", holder).map((cover) => cover.getBoundingClientRect());
  return Math.min(...covers.filter((cover) => cover.height).map((cover) => cover.top));
}

let byKey = false; // whether a key was the last thing that was touched

/** Bring what a key led to out from under the bars, of which the browser knows nothing. */
function onFocus({ target }) {
  if (!byKey) return;
  requestAnimationFrame(() => {
    if (target !== document.activeElement || target.closest(".top, .tabs, .held, dialog")) return;
    const box = target.getBoundingClientRect();
    const shown = clearRows(box);
    const card = target.closest("article[data-card]");
    const isAtFoot = target.closest("article :is(.first, .foot)");
    const bottom = card && !isAtFoot ? Math.min(shown.bottom, footOver(card)) : shown.bottom;
    const below = Math.min(box.bottom - bottom, box.top - shown.top); // its start comes first
    const by = Math.max(0, below) || Math.min(0, box.top - shown.top);
    if (by) scrollerOf(target).scrollBy({ top: by + 8 * Math.sign(by), behavior: "instant" });
  });
}

/** Note what is in view now. */
function look() {
  look.asked = false;
  if (document.hidden || byId("second")?.open) {
    arming.clear();
    refresh();
    return;
  }
  const now = performance.now();
  const rows = new Map(); // what nothing covers, by the holder
  for (const node of near) {
    const box = node.getBoundingClientRect();
    const holder = holderOf(node);
    if (!box.height || !holder) continue;
    if (!rows.has(holder)) {
      const shown = clearRows(holder.getBoundingClientRect());
      rows.set(holder, { ...shown, foot: Math.min(shown.bottom, footOver(holder)) });
    }
    const shown = rows.get(holder);
    if (node.matches("button")) {
      if (box.top >= shown.top - 1 && box.bottom <= shown.bottom + 1) arming.seen(node, markOf(holder), now);
      else arming.gone(node);
      continue;
    }
    const from = Math.max(shown.top, box.top) - box.top;
    const to = Math.min(shown.foot, box.bottom) - box.top;
    if (to > from) reading.saw(node, markOf(holder), from, to, box.height);
  }
  refresh();
  clearTimeout(look.timer);
  look.timer = setTimeout(refresh, delay() + 20);
}

/** Look once the browser draws next. */
function lookSoon() {
  if (look.asked) return;
  look.asked = true;
  requestAnimationFrame(look);
}

/** Return the lines of a request that were not in view yet; null where they are not all here. */
function unread(holder) {
  const counted = unread.once?.get(holder);
  if (counted !== undefined) return counted;
  const lines = linesToRead(holder);
  unread.once?.set(holder, lines);
  return lines;
}

function linesToRead(holder) {
  if (!holder.querySelector(".asked") || holder.dataset.whole === "no") return null;
  const mark = markOf(holder);
  return all(LINES, holder).filter((line) => !reading.whole(line, mark));
}

/** Return why a button does not act now; "" where it does. */
function objection(button) {
  if (!heard) return "The desk is not heard now: nothing can be sent.";
  const holder = holderOf(button);
  const guard = button.dataset.guard ?? "READ";
  if (isGone(holder)) return "It waits no more.";
  if (guard === "FREE" || guard === "BEGIN") return "";
  if (!arming.armed(button, markOf(holder), performance.now(), delay())) {
    return "It has just come into view: look first.";
  }
  if (guard !== "READ") return "";
  if (holder.dataset.whole === "no") return "Part of it is not on this page: allow it at a terminal.";
  const lines = unread(holder);
  if (lines === null) return "Open it and read it first.";
  return lines.length ? `Read on first: ${lines.length} more ${lines.length > 1 ? "lines" : "line"}.` : "";
}

/** Show which buttons act now. */
function refresh() {
  unread.once = new Map(); // a long card is counted once, not by each of its buttons
  showWhatActs();
  unread.once = null;
}

function showWhatActs() {
  for (const button of all("button.act")) {
    if (!button.getClientRects().length) continue;
    button.setAttribute("aria-disabled", String(Boolean(objection(button))));
  }
  for (const [holder, before] of objected) {
    const words = before.button.isConnected ? objection(before.button) : "";
    // Readers hear each change: how many lines are left is told once.
    if (words && words.replace(/\d.*/, "") === before.words.replace(/\d.*/, "")) continue;
    if (words) objected.set(holder, { ...before, words });
    else objected.delete(holder);
    // What was said there since then stays.
    if (saidAt(holder) === before.words) sayAt(holder, words, words && "warning");
  }
  for (const holder of all("article[data-card]")) {
    const first = holder.querySelector(".first");
    if (!first) continue;
    const lines = holder.dataset.state === "waiting" ? unread(holder)?.length ?? 0 : 0;
    let hint = first.querySelector(".unread");
    if (!hint) {
      hint = make("button", "", { type: "button", class: "unread", "data-is-ours": "" });
      first.prepend(hint);
    }
    // It keeps its room, so that nothing moves when the last line was read.
    say(hint, lines ? `${lines} more ${lines > 1 ? "lines" : "line"} to read` : "");
    first.toggleAttribute("data-is-unread", lines > 0);
  }
}

/** Go on to the first line that was not in view. */
function readOn(holder) {
  const [line] = unread(holder) ?? [];
  for (let more = line?.closest("details:not([open])"); more; more = line.closest("details:not([open])")) {
    more.open = true;
  }
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  line?.scrollIntoView({ block: "start", behavior: calm ? "instant" : "smooth" });
}

// ---------------------------------------------------------------- Stream: what is heard

let heard = false;
let here = null; // the stream's hello: who we are, and what a signature needs
let ahead = 0; // seconds by which the server's clock is ahead of `performance.now`
let lastId = "";
let listening = null; // the AbortController of the stream that is open
let heardAt = 0;
let wake = () => {}; // try again at once: the network is back, or a person is
const page = pageId();

/** Return the name of this page, which its server's copy of the news goes by. */
function pageId() {
  if (!globalThis.sessionStorage) return "";
  let id = sessionStorage.getItem("page");
  if (!id) sessionStorage.setItem("page", (id = randomHex()));
  return id;
}

const serverNow = () => ahead + performance.now() / 1000;

function hear(yes, words = "") {
  const begins = yes && !heard;
  heard = yes;
  document.documentElement.classList.toggle("unheard", !yes);
  // A server that stands by shows what waits; what one does there it turns down, in words.
  const live = here?.part === "standby" ? "Stands by" : "Live";
  say(byId("heard"), yes ? live : words || "Not heard", yes ? "good" : "warning");
  refresh();
  if (!begins) return;
  if (!document.hidden) beat(true);
  readView();
  if (document.body.dataset.view !== "you") showPush();
}

/** Listen until the page is hidden or signed out; come back after every break. */
async function listen() {
  if (listening) return;
  const stop = (listening = new AbortController());
  for (let tries = 0; !stop.signal.aborted; tries += 1) {
    const cut = new AbortController();
    stop.signal.addEventListener("abort", () => cut.abort());
    // A proxy may keep a dead stream open: silence is a break, too.
    heardAt = performance.now();
    const alarm = setInterval(() => {
      if (performance.now() - heardAt > SILENCE) cut.abort();
    }, 1_000);
    try {
      const headers = lastId ? { "Last-Event-ID": lastId } : {};
      const response = await fetch(`/news?page=${page}`, { headers, signal: cut.signal });
      if (response.status === 401) {
        signedOut();
        break;
      }
      if (response.status === 403 || response.status === 421) {
        tell(await why(response));
      } else if (response.ok) {
        const text = new EventText();
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          heardAt = performance.now();
          for (const event of text.take(part.value)) {
            if (takeEvent(event)) tries = -1;
          }
        }
      }
    } catch (error) {
      // The connection broke, or we cut it: try again. A fault of ours is told to who looks for it.
      if (!cut.signal.aborted && error.name !== "TypeError") console.error(error);
    } finally {
      clearInterval(alarm);
    }
    if (stop.signal.aborted) break;
    hear(false);
    const woken = new Promise((done) => {
      wake = done;
    });
    await Promise.race([sleep(backoff(Math.max(0, tries))), woken]);
  }
  if (listening === stop) listening = null;
}

/** Take up an event of the stream; true where the desk is heard by it. */
function takeEvent({ name, data, id }) {
  const event = JSON.parse(data);
  if (typeof event.now === "number") ahead = event.now - performance.now() / 1000;
  if (name === "hello") {
    here = event;
    showWho();
    showLeader();
    // Without a gap nothing more has to come before what is shown is true.
    if (event.resumed) hear(true);
  } else if (name === "all" || name === "some") {
    put(event.put, name === "all");
    lastId = id || lastId;
    if (here) hear(true);
  } else if (name === "over") {
    signedOut(sentence(event.why));
  }
  return heard;
}

/** Listen no more. */
function stopListening(words) {
  listening?.abort();
  listening = null;
  hear(false, words);
}

// A desk in a pocket must not count as one that somebody looks at.
function onVisibility() {
  clearTimeout(onVisibility.timer);
  if (document.hidden) {
    arming.clear();
    beat(false);
    onVisibility.timer = setTimeout(() => stopListening("Asleep"), HIDDEN_FOR);
  } else {
    settle();
    wake();
    if (document.body.dataset.view !== "sign-in") listen();
    beat(true);
    lookSoon();
  }
}

/** Tell whether a person looks. Beats are numbered: they may arrive in another order. */
function beat(visible) {
  if (!heard && visible) return;
  const number = 1 + Number(sessionStorage.getItem("beat"));
  sessionStorage.setItem("beat", number); // it outlives the document, as the page's name does
  send("/beat", { page, visible, number }, { keepalive: true }).catch(() => {});
}

// ---------------------------------------------------------------- Requests

/** Send JSON; returns the response. */
function send(path, value, options = {}) {
  const headers = { "Content-Type": "application/json" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(value), ...options });
}

async function answerOf(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

/** Return why the server did not do what was asked. */
const whyOf = (response, answer) =>
  answer.why ? sentence(answer.why) : `The server answers ${response.status}.`;
const why = async (response) => whyOf(response, await answerOf(response));

/** Return the answer of a server that did what was asked; throws its reason where it did not. */
async function answered(response) {
  const answer = await answerOf(response);
  if (!response.ok) throw new Error(whyOf(response, answer));
  return answer;
}

/** Send the same call until its outcome is known: a tap is never lost with a connection. */
async function deliver(path, value, onWait) {
  for (let tries = 0; ; tries += 1) {
    try {
      const response = await send(path, value);
      // A proxy answers for a server that restarts; it knows no outcome.
      if (![502, 503, 504].includes(response.status)) return [response, await answerOf(response)];
    } catch {
      // No answer came, so that nobody knows whether it arrived.
    }
    onWait();
    await sleep(backoff(tries));
  }
}

/** Have something read, and put what comes. */
async function ask(value) {
  if (!heard) return tell("The desk is not heard now.");
  try {
    const response = await send("/ask", { page, ...value });
    const answer = await answerOf(response);
    if (response.status === 401) return signedOut();
    if (response.ok) put(answer.put);
    else tell(whyOf(response, answer));
  } catch {
    tell("No answer came: try again.");
  }
}

// ---------------------------------------------------------------- Acts: what a person does

const objected = new Map(); // the button that did not act, and why, by its holder, until it does
const busy = new Map(); // the call that is on its way, by its card or its holder
const busyAt = (holder) => holder.dataset.card ?? holder;

/** Return what was typed or chosen for an act: a text, or values by their names. */
export function valueOf(fields) {
  const named = {};
  let words = "";
  for (const field of fields) {
    const { name } = field.dataset;
    const choice = field.type === "radio" || field.type === "checkbox";
    if (choice ? !field.checked || !field.value : !field.value.trim()) continue;
    if (!name) words = field.value;
    else if (choice) (named[name] ??= []).push(Number(field.value));
    else named[name] = field.value;
  }
  return Object.keys(named).length ? { ...named, ...(words && { words }) } : words;
}

function fieldsOf(button, holder) {
  const { field } = button.dataset;
  if (!field) return [];
  const own = button.closest(".with-field") ?? holder;
  return all(`[data-field~="${field}"]:is(input, textarea, select)`, own);
}

/** Return the call of a button, without its time. */
function callOf(button, holder) {
  const { act, value } = button.dataset;
  const { card, seen, sha, session } = holder.dataset;
  const call = { id: randomHex(), act };
  if (card) Object.assign(call, { card: Number(card), seen: Number(seen), seen_sha256: sha ?? "" });
  else if (session) call.session = session;
  const typed = valueOf(fieldsOf(button, holder));
  if (value !== undefined) call.choice = value;
  if (typed !== "") call.value = typed;
  if (button.dataset.gives) call.hold = Number(button.dataset.hold ?? HOLD);
  return call;
}

/** Whether an act needs the passkey: without it a page looks, denies bare and stops. */
const needsPasskey = ({ dataset: { key } }, call) =>
  key === "passkey" || (key === "words" && call.value !== undefined);

const closes = (button) => ["deny", "decline", "cancel", "end-turn"].includes(button.dataset.act);

/** Do what a button says, if it may now. Everything that it does not do is told in words. */
async function act(button) {
  const holder = holderOf(button);
  const reason = objection(button);
  if (reason) return object(button, holder, reason);
  const before = busy.get(busyAt(holder));
  if (before) {
    if (!before.takeBack) return sayAt(holder, "Wait: this is being sent.");
    // While an answer is held, only one that is stricter takes its place.
    if (!closes(button)) return sayAt(holder, "An answer is on its way: take it back first.");
    await before.takeBack();
    await before.over;
  }
  const call = callOf(button, holder);
  if (button.hasAttribute("data-needs") && call.value === undefined && call.choice === undefined) {
    const [field] = fieldsOf(button, holder);
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
    return sayAt(holder, "Say it in words first.", "warning");
  }
  const mine = { takeBack: null, takenBack: null, posted: null, over: null };
  busy.set(busyAt(holder), mine);
  mine.over = carryOut(button, holder, call, mine).finally(() => busy.delete(busyAt(holder)));
  return mine.over;
}

/** Have a call confirmed and signed where it needs that, give it, and tell what became of it. */
async function carryOut(button, holder, call, mine) {
  const { second, gives } = button.dataset;
  if (second) {
    if (!(await secondYes(second, button.textContent))) return sayAt(holder, "Nothing was sent.");
    call.second = second;
  }
  call.at = Math.round(serverNow() * 1000) / 1000;
  const posted = { page, call: JSON.stringify(call) };
  if (needsPasskey(button, call)) {
    sayAt(holder, "Your passkey signs this.");
    const signed = holder.dataset.strict === undefined
      ? await assertion(await challengeOf(here, posted.call, call.at))
      : await statementsSigned(posted);
    if (signed.why) return sayAt(holder, signed.why, "warning");
    Object.assign(posted, signed);
  }
  const endHold = hold(call, gives, holder, mine);
  sayAt(holder, gives ? `${gives}: sent in a moment.` : "Sent.");
  const again = () => sayAt(holder, "No answer came yet: the same is sent again.", "warning");
  try {
    mine.posted = deliver("/do", posted, again);
    let [response, answer] = await mine.posted;
    if (response.status === 202) {
      // The server gives it in a while, also where this page sleeps meanwhile.
      await Promise.race([sleep(answer.held * 1000), mine.takenBack]);
      [response, answer] = await deliver("/outcome", { page, id: call.id }, again);
    }
    return told(response, answer, holder, gives);
  } finally {
    endHold();
  }
}

/** Tell why a button did not act, and lead on to what is missing. */
function object(button, holder, words) {
  sayAt(holder, words, "warning");
  objected.set(holder, { button, words });
  if (button.dataset.guard !== "READ" || !heard || isGone(holder)) return;
  const lines = unread(holder);
  if (lines?.length) readOn(holder);
  else if (lines === null && holder.matches("li") && holder.dataset.card) {
    location.hash = `#card-${holder.dataset.card}`;
  }
}

/** Tell the outcome of a call at its card. */
function told(response, answer, holder, gives) {
  const words = whyOf(response, answer);
  if (response.ok && answer.taken_back) return sayAt(holder, "Taken back: nothing was decided.");
  if (response.ok) {
    clearFields(holder);
    if (answer.still_needs) {
      holder.dataset.isCounted = answer.still_needs;
      return sayAt(holder, `Your yes counts. ${answer.still_needs}`, "good");
    }
    if (gives) holder.setAttribute("data-is-decided", "");
    sayAt(holder, gives ? `${gives}.` : "Done.", "good");
    offerNext(holder);
    return undefined;
  }
  if (response.status === 401 && answer.needs !== "assertion") {
    sayAt(holder, "You are signed out: sign in, and do it again.", "warning");
    return signedOut();
  }
  if (answer.changed && answer.card) {
    put([[`card-${holder.dataset.card}`, answer.card]]);
    return sayAt(holder, `Nothing was decided. ${words}`, "warning");
  }
  const by = answer.late && answer.by && !words.includes(answer.by) ? ` By: ${answer.by}.` : "";
  return sayAt(holder, `${words}${by}`, "warning");
}

/** Empty the fields of what was done, as they were sent. */
function clearFields(holder) {
  if (holder.matches("article")) return; // it shows what was answered
  for (const field of all("textarea, input[type=text]", holder)) field.value = field.defaultValue;
}

/** Lead on to the next card that waits. */
function offerNext(holder) {
  if (!holder.matches("article")) return;
  const rows = all("#queue-list > [data-card]:not([data-is-gone])");
  const next = rows.find((row) => row.dataset.card !== holder.dataset.card);
  const link = make("a", next ? `Next: #${next.dataset.card}` : "Back to the list", {
    href: next ? `#card-${next.dataset.card}` : "#queue",
    class: "next",
    "data-is-ours": "",
  });
  all("a.next", holder).forEach((old) => old.remove());
  footOf(holder).append(link);
}

/** Show an answer that can be taken back; returns what ends that. */
function hold(call, gives, holder, mine) {
  if (!call.hold) return () => {};
  const until = performance.now() + call.hold * 1000;
  const words = make("span", "", { class: "words" });
  const button = make("button", "Take back", { type: "button" });
  const item = make("li");
  item.append(words, button);
  byId("held").append(item);
  const turn = () => {
    const seconds = Math.ceil((until - performance.now()) / 1000);
    const others = byId("held").children.length - 1;
    const when = seconds > 0 ? `${gives.toLowerCase()} in ${seconds} s` : "is being sent";
    say(words, `#${call.card} ${when}${others ? ` · and ${others} more` : ""}`);
  };
  turn();
  const timer = setInterval(turn, 250);
  let taken;
  mine.takenBack = new Promise((done) => {
    taken = done;
  });
  mine.takeBack = async () => {
    button.setAttribute("aria-disabled", "true");
    await mine.posted; // nothing is held before
    const [response, answer] = await deliver("/take-back", { id: call.id }, () => {});
    if (response.ok) taken();
    else sayAt(holder, whyOf(response, answer), "warning");
  };
  button.addEventListener("click", mine.takeBack);
  return () => {
    clearInterval(timer);
    if (item.contains(document.activeElement)) holder.querySelector("h2")?.focus();
    item.remove();
    lookSoon(); // what it covered is in view now
  };
}

/** Have the secrets of a card shown, for which the passkey signs, or cover them again. */
async function uncover(button) {
  const holder = holderOf(button);
  const number = Number(holder.dataset.card);
  if (button.dataset.covers === undefined) return readCard(number);
  if (!heard) return tell("The desk is not heard now.");
  const at = Math.round(serverNow() * 1000) / 1000;
  const posted = { page, call: JSON.stringify({ id: randomHex(), act: "uncover", card: number, at }) };
  sayAt(holder, "Your passkey signs this.");
  const signed = await assertion(await challengeOf(here, posted.call, at));
  if (signed.why) return sayAt(holder, signed.why, "warning");
  try {
    const response = await send("/uncover", { ...posted, assertion: signed.assertion });
    if (!response.ok) return sayAt(holder, await why(response), "warning");
    put([[holder.id, await response.text()]]);
    return sayAt(holder, "");
  } catch {
    return sayAt(holder, "No answer came: try again.", "warning");
  }
}

/** Ask for the second yes to an effect; its buttons are armed anew, as a card's are. */
function secondYes(effect, yes) {
  const dialog = byId("second");
  say(byId("second-effect"), effect);
  say(byId("second-yes"), `${yes.trim()}, all the same`);
  dialog.showModal();
  byId("second-no").focus();
  const armed = performance.now() + delay();
  byId("second-yes").setAttribute("aria-disabled", "true");
  const timer = setTimeout(() => byId("second-yes").removeAttribute("aria-disabled"), armed - performance.now());
  return new Promise((done) => {
    const end = (answer) => {
      clearTimeout(timer);
      dialog.close();
      dialog.onclose = byId("second-yes").onclick = byId("second-no").onclick = null;
      done(answer);
    };
    byId("second-yes").onclick = (event) => {
      if (performance.now() >= armed && event.isTrusted) end(heard);
    };
    byId("second-no").onclick = () => end(false);
    dialog.onclose = () => end(false);
  });
}

// ---------------------------------------------------------------- Passkeys

/** Return a passkey's assertion for a challenge, or why there is none. */
async function assertion(challenge) {
  if (!globalThis.PublicKeyCredential) {
    return { why: "This browser has no passkeys here: they need HTTPS and a name." };
  }
  try {
    const publicKey = { challenge, rpId: location.hostname, userVerification: "required", timeout: 60_000 };
    const credential = await navigator.credentials.get({ publicKey });
    return { assertion: jsonOf(credential) };
  } catch (error) {
    const words = { NotAllowedError: "The passkey was not used: nothing was sent." };
    return { why: words[error.name] ?? `The passkey could not be used (${error.name}): nothing was sent.` };
  }
}

/** Return a passkey's assertions for what strict hooks are to print, or why there are none. */
async function statementsSigned(posted) {
  let answer;
  try {
    const response = await send("/statements", posted);
    if (!response.ok) return { why: await why(response) };
    answer = await response.json();
  } catch {
    return { why: "No answer came: try again." };
  }
  const assertions = [];
  for (const statement of answer.statements) {
    const signed = await assertion(await sha256(unbase64url(statement)));
    if (signed.why) return signed;
    assertions.push(signed.assertion);
  }
  return { assertions, signed_at: answer.signed_at };
}

/** Return a credential as JSON, also in browsers that cannot write it themselves. */
function jsonOf(credential) {
  if (credential.toJSON) return credential.toJSON();
  const names = ["clientDataJSON", "authenticatorData", "signature", "userHandle", "attestationObject"];
  const response = {};
  for (const name of names) {
    if (credential.response[name]) response[name] = base64url(credential.response[name]);
  }
  return { id: credential.id, rawId: credential.id, type: credential.type, response };
}

let challenge = null; // to sign in by, fetched ahead: Safari wants no request behind the tap

async function fetchChallenge() {
  const response = await send("/challenge", {});
  const answer = await answerOf(response);
  challenge = response.ok ? { text: answer.challenge, at: performance.now() } : null;
  if (!response.ok) say(byId("sign-in-said"), whyOf(response, answer), "warning");
}

async function signIn() {
  const said = byId("sign-in-said");
  try {
    if (!challenge || performance.now() - challenge.at > 90_000) await fetchChallenge();
    if (!challenge) return;
    const { text } = challenge;
    challenge = null; // each counts once
    const signed = await assertion(unbase64url(text));
    if (signed.why) return say(said, signed.why, "warning");
    const response = await send("/session", { challenge: text, assertion: signed.assertion });
    if (!response.ok) return say(said, await why(response), "warning");
    say(said, "");
    show();
    listen();
  } catch {
    say(said, "The server does not answer: try again.", "warning");
  }
}

/** Show the page to sign in; what was typed at cards stays where it is. */
function signedOut(words = "") {
  stopListening("Signed out");
  lastId = "";
  document.body.dataset.view = "sign-in";
  say(byId("sign-in-said"), words);
  byId("sign-in-go").focus();
  fetchChallenge().catch(() => {});
}

async function signOut() {
  try {
    await fetch("/session", { method: "DELETE" });
  } catch {
    return tell("The server does not answer: you are still signed in.");
  }
  for (const list of all(".list, #card-place, #desk")) list.replaceChildren();
  parked.clear();
  return signedOut("You are signed out.");
}

/** Lead from a server that stands by to the page of the leader, if that is another page. */
function showLeader() {
  const { part, page_at: at = "" } = here;
  const link = byId("leads");
  link.hidden = part !== "standby" || !at.startsWith("https://") || at === location.origin;
  if (!link.hidden) link.href = at;
}

function showWho() {
  const { name, device, role } = here;
  say(byId("you-are"), `${name}, ${role}, by ${device}`);
}

// ---------------------------------------------------------------- Views

const parked = new Map(); // cards that were opened, by their id: what was typed in them stays

/** Show the view that the address names. */
function show() {
  const [, name, number] = /^#(c(?=\d)|[a-z]+)-?(\d+)?$/.exec(location.hash) ?? [];
  const views = { c: "card", card: "card", entry: "history", sessions: "sessions", history: "history", you: "you" };
  const view = views[name] ?? "queue";
  const from = document.body.dataset.view;
  scrolled.set(from, scrollY);
  document.body.dataset.view = view;
  for (const link of all("[data-tab]")) {
    if (link.dataset.tab === view || (view === "card" && link.dataset.tab === "queue")) {
      link.setAttribute("aria-current", "page");
    } else link.removeAttribute("aria-current");
  }
  settle();
  if (view === "card") openCard(Number(number));
  else closeCard();
  if (view !== "card" && view !== from) {
    scrollTo(0, scrolled.get(view) ?? 0);
    byId(`${view}-title`)?.focus({ preventScroll: true });
  }
  readView();
  lookSoon();
}

const scrolled = new Map(); // how far each view was scrolled when it was left

/** Have read what the view needs, once the desk is heard. */
function readView() {
  const { view } = document.body.dataset;
  if (!heard) return;
  const entry = Number(/^#entry-(\d+)$/.exec(location.hash)?.[1]);
  if (view === "history" && entry) openEntry(entry);
  if (view === "history" && !entry && !byId("history-list").children.length) {
    ask({ ask: "history", before: 0 });
  }
  if (view === "card") followCard();
  if (view === "you") showPush();
}

/** Show a whole card, as it was left. */
async function openCard(number) {
  const id = `card-${number}`;
  const place = byId("card-place");
  if (!byId(id)) {
    closeCard();
    place.replaceChildren(parked.get(id) ?? make("p", `#${number} is being read.`, { class: "dim" }));
    parked.delete(id);
    scrollTo(0, 0);
  }
  for (const row of all("#queue-list > [data-card]")) row.toggleAttribute("data-is-open", row.id === `row-${number}`);
  // What the server shows depends on its copy of the news, which the stream fills first.
  if (heard) await readCard(number);
  byId(`${id}-title`)?.focus({ preventScroll: true });
}

/** Put the card that is shown aside, with what was typed in it. */
function closeCard() {
  const place = byId("card-place");
  const card = place.querySelector("article[data-card]");
  place.replaceChildren(make("p", "Choose what waits: it opens here.", { class: "choose" }));
  for (const row of all("[data-is-open]")) row.removeAttribute("data-is-open");
  if (!card) return;
  parked.set(card.id, card);
  if (parked.size > PARKED) parked.delete(parked.keys().next().value);
}

/** Return the number of the card that the address names; NaN for none. */
const openNumber = () => Number(/^#c(?:ard-)?(\d+)$/.exec(location.hash)?.[1]);

/** Read a card and put it in its place. */
async function readCard(number) {
  const place = byId("card-place");
  const isOpen = () => openNumber() === number;
  try {
    const response = await fetch(`/card?page=${page}&card=${number}`);
    if (!isOpen()) return;
    if (response.status === 401) return signedOut();
    if (response.ok) {
      const fresh = element(await response.text());
      const old = byId(fresh.id);
      if (!isOpen()) return;
      if (old) put([[fresh.id, fresh.outerHTML]]);
      else {
        place.replaceChildren(fresh);
        afterPut();
      }
      return;
    }
    const words = await why(response);
    if (byId(`card-${number}`)) takeAway(byId(`card-${number}`), words);
    else place.replaceChildren(make("p", words, { role: "status" }));
  } catch {
    if (!place.querySelector("article")) {
      place.replaceChildren(make("p", "No answer came: this card is read once the desk is heard."));
    }
  }
}

/** Keep the card that is shown as its row is: the stream tells rows, a card is read whole. */
function followCard() {
  const card = byId("card-place")?.querySelector("article[data-card]");
  const number = openNumber();
  if (!number || followCard.reading) return;
  const row = byId(`row-${number}`);
  const waits = row && !isGone(row);
  const isWaiting = card?.dataset.state === "waiting" && !isGone(card);
  const same = card && (waits ? isWaiting && row.dataset.seen === card.dataset.seen : !isWaiting);
  if (same || (!card && !heard)) return;
  followCard.reading = true;
  readCard(number).finally(() => {
    followCard.reading = false;
  });
}

/** Show an entry of the history whole. */
async function openEntry(number) {
  await ask({ ask: "entry", entry: number });
  byId(`entry-${number}`)?.scrollIntoView({ block: "start", behavior: "instant" });
}

/** Show of each list only what is of the session that was chosen. */
function filter() {
  for (const choice of all("select[data-list]")) {
    const rows = [...byId(choice.dataset.list).children];
    const sessions = new Map([["", "all"]]);
    for (const { dataset } of rows) {
      if (dataset.session) sessions.set(dataset.session, dataset.of || dataset.session);
    }
    const listed = [...choice.options].map(({ value }) => value).join();
    if (listed !== [...sessions.keys()].join()) {
      const kept = choice.value;
      const options = [...sessions].map(([value, words]) => make("option", words, { value }));
      choice.replaceChildren(...options);
      choice.value = sessions.has(kept) ? kept : "";
    }
    choice.closest("label").hidden = sessions.size < 3;
    for (const row of rows) {
      const { session } = row.dataset;
      row.hidden = Boolean(choice.value && session && session !== choice.value);
    }
  }
}

/** Tell all times anew. */
function tick() {
  const now = serverNow();
  for (const time of all("time[data-since], time[data-until], time[data-at]")) {
    const { since, until, at } = time.dataset;
    if (at) {
      say(time, moment(at, now));
    } else if (here) {
      say(time, until ? left(until - now) : span(now - since));
      time.toggleAttribute("data-is-soon", Boolean(until) && until - now < 120);
    }
  }
}

/** Give a line of a plan a field for a note. */
function noteOn(button) {
  const line = button.closest(".line");
  const name = `line-${button.dataset.line}`;
  let note = line.parentNode.querySelector(`[data-name="${name}"]`);
  if (!note) {
    const label = make("label", "", { class: "note", "data-is-ours": "" });
    note = make("textarea", "", { "data-field": "reason", "data-name": name, rows: "2" });
    label.append(make("span", `Note on line ${button.dataset.line}`, { class: "label" }), note);
    line.after(label);
  }
  note.focus();
}

// ---------------------------------------------------------------- Push

/** Ask the server about this device's notices: its key, a subscription, a test. */
async function pushSend(method, path, value = {}) {
  return answered(await (method === "GET" ? fetch(path) : send(path, value, { method })));
}

/** Subscribe this device: on a tap alone, and never for longer than a person waits. */
async function pushOn() {
  const said = byId("push-said");
  const late = (ms, words) => sleep(ms).then(() => Promise.reject(new Error(words)));
  try {
    const registration = await Promise.race([navigator.serviceWorker.ready, late(5_000, "The page's worker does not start.")]);
    say(said, "Your browser asks whether it may show notices.");
    if ((await Notification.requestPermission()) !== "granted") {
      return say(said, "This browser may not show notices of this page: its settings decide that.", "warning");
    }
    say(said, "The push service is asked for an address.");
    const { key } = await pushSend("GET", "/push");
    const options = { userVisibleOnly: true, applicationServerKey: unbase64url(key) };
    // A browser has one subscription for a page's name: one for another server's key ends here.
    const other = await registration.pushManager.getSubscription();
    if (other && base64url(other.options.applicationServerKey) !== key) await other.unsubscribe();
    // Some browsers never answer where their push service cannot be reached.
    const subscription = await Promise.race([
      registration.pushManager.subscribe(options),
      late(20_000, "The browser's push service does not answer."),
    ]);
    await pushSend("POST", "/push", { subscription: subscription.toJSON() });
    say(said, "Notices come to this device.", "good");
  } catch (error) {
    say(said, `No notices here: ${error.message}`, "warning");
  }
  return showPush();
}

async function pushOff() {
  const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  try {
    if (subscription) await pushSend("DELETE", "/push", { endpoint: subscription.endpoint });
    await subscription?.unsubscribe();
    say(byId("push-said"), "No more notices come to this device.");
  } catch (error) {
    say(byId("push-said"), error.message, "warning");
  }
  return showPush();
}

async function pushTest() {
  const said = byId("push-said");
  say(said, "A test is under way.");
  try {
    const { sent } = await pushSend("POST", "/push/test");
    const words = sent.map(({ device, answer, why: reason }) => `${device}: ${reason || `the push service says ${answer}`}.`);
    say(said, words.join(" ") || "No device is called.");
  } catch (error) {
    say(said, error.message, "warning");
  }
  return showPush();
}

/** Return how a device is reached, and when somebody was there, in words. */
function phoneWords({ device, here: isThis, accepted, shown, seen, trouble }) {
  const when = (at) => moment(at, Date.now() / 1000);
  const called = shown && shown >= accepted ? `last notice shown ${when(shown)}` : `last notice sent ${when(accepted)}, not reported as shown`;
  const parts = [trouble || (accepted ? called : "no notice yet"), seen && `last here ${when(seen)}`];
  return `${device || "A device"}${isThis ? " (this passkey)" : ""}: ${parts.filter(Boolean).join(" · ")}`;
}

/** Return that a device takes no notices any more, in words. */
const goneWords = ({ device, at }) =>
  `${device || "A device"}: takes no notices any more since ${moment(at, Date.now() / 1000)}`;

const SILENT = "This server does not call this device: turn notices on here again.";

/** Show what can be done about notices on this device, and which devices are called. */
async function showPush() {
  const can = "serviceWorker" in navigator && "PushManager" in globalThis;
  const registration = can ? await navigator.serviceWorker.getRegistration() : null;
  const own = await registration?.pushManager.getSubscription().catch(() => null);
  if (!can) {
    say(byId("push-said"), "This browser has no notices here. On an iPhone, put the page on the Home Screen first.");
  }
  try {
    const { phones, gone } = await pushSend("GET", "/push");
    const words = [...phones.map(phoneWords), ...gone.map(goneWords)];
    byId("push-devices").replaceChildren(...words.map((each) => make("li", each)));
    // Another server of the same name may have this subscription, and this server may not.
    const mark = own && hex(await sha256(new TextEncoder().encode(own.endpoint))).slice(0, 16);
    const isCalled = phones.some((phone) => phone.mark === mark);
    byId("push-on").hidden = isCalled || !can;
    byId("push-off").hidden = byId("push-test").hidden = !isCalled;
    if (own && !isCalled) say(byId("push-said"), SILENT, "warning");
    if (own && !isCalled && document.body.dataset.view !== "you") tell(`${SILENT} That is under You.`);
  } catch {
    // The page tells already that the desk is not heard.
  }
}

/** Take notices away whose card waits no more. */
async function tidyNotices() {
  if (!heard) return;
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => null);
  for (const notice of (await registration?.getNotifications().catch(() => [])) ?? []) {
    const cards = notice.data?.cards ?? [];
    const waits = (card) => byId(`row-${card}`) && !isGone(byId(`row-${card}`));
    if (cards.length && !cards.some(waits)) notice.close();
  }
}

// ---------------------------------------------------------------- Enrolling

/** Ask for a step of enrolling; `shown` proves that we know the invitation's secret. */
async function enrolStep(step, value) {
  return answered(await send("/enrol", { step, ...value }));
}

async function enrol() {
  const secret = location.hash.slice(1);
  const said = byId("enrol-said");
  const button = byId("enrol-make");
  button.hidden = true;
  if (!secret) return say(said, "Open the whole link of your invitation, or scan its code.", "warning");
  if (!globalThis.PublicKeyCredential) {
    return say(said, "This browser has no passkeys here: they need HTTPS and a name.", "warning");
  }
  const shown = base64url(await sha256(new TextEncoder().encode(`crabhook-enrol-v1\0${secret}`)));
  try {
    const begun = await enrolStep("begin", { shown });
    say(byId("enrol-who"), `${begun.name}, this device joins the team ${begun.team}.`);
    byId("enrol-device").value ||= deviceName();
    button.hidden = false;
    button.onclick = () => makePasskey(shown, begun.options);
  } catch (error) {
    say(said, error.message, "warning");
  }
  return undefined;
}

/** Return the name under which this device is in the team; nothing while somebody compares. */
async function joinedAs(shown) {
  try {
    return (await enrolStep("outcome", { shown })).device;
  } catch (error) {
    // Out of reach for a moment: a second passkey would be refused, so it is asked again.
    if (error instanceof TypeError) return "";
    throw error;
  }
}

async function makePasskey(shown, options) {
  const said = byId("enrol-said");
  const device = byId("enrol-device").value.trim();
  if (!device) return say(said, "Give this device a name.", "warning");
  try {
    const credential = await navigator.credentials.create({ publicKey: creationOf(options) });
    const { words } = await enrolStep("offer", { shown, device, registration: jsonOf(credential) });
    byId("enrol-make").hidden = true;
    const list = byId("enrol-words");
    list.replaceChildren(...words.split(/\s+/).map((word) => make("li", word)));
    list.hidden = false;
    say(said, "Compare these six words with those at the desk. If they are the same, somebody there says yes.");
    while (!(await joinedAs(shown))) await sleep(1_500);
    // The secret is used up: it stays in no history of addresses.
    history.replaceState(null, "", "/enrol");
    say(said, "This device is in.", "good");
    location.assign("/");
  } catch (error) {
    const refused = error.name === "NotAllowedError";
    say(said, refused ? "No passkey was made: try again." : error.message, "warning");
  }
  return undefined;
}

/** Return the options to make a passkey by, also in browsers that cannot read them as JSON. */
function creationOf(options) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) {
    return PublicKeyCredential.parseCreationOptionsFromJSON(options);
  }
  return {
    ...options,
    challenge: unbase64url(options.challenge),
    user: { ...options.user, id: unbase64url(options.user.id) },
    excludeCredentials: options.excludeCredentials.map((key) => ({ ...key, id: unbase64url(key.id) })),
  };
}

function deviceName() {
  const [, name] = /(iPhone|iPad|Android|Macintosh|Windows|CrOS|Linux)/.exec(navigator.userAgent) ?? [];
  return { Macintosh: "Mac", CrOS: "Chromebook" }[name] ?? name ?? "browser";
}

// ---------------------------------------------------------------- Taps and keys

// A tap counts for the button that was armed when the finger came down, and for no other.
let down = null;

function onPointerDown(event) {
  byKey = false;
  const button = event.target.closest?.("button.act");
  down = button && { button, objected: objection(button) };
}

function onClick(event) {
  const button = event.target.closest?.("button");
  if (!button) return openRow(event);
  if (button.matches(".act")) {
    event.preventDefault();
    const byHand = event.detail > 0; // a key's click has no finger before it
    if (byHand && down?.button !== button) return undefined;
    if (byHand && down.objected) return object(button, holderOf(button), down.objected);
    return act(button);
  }
  if (button.matches(".unread")) return readOn(holderOf(button));
  if (button.matches(".number[data-line]")) return noteOn(button);
  if (button.matches(".ask")) return askBy(button);
  if (button.matches(".uncover")) return uncover(button);
  return undefined;
}

function askBy({ dataset }) {
  const value = { ask: dataset.ask };
  for (const name of ["card", "entry", "before"]) {
    if (dataset[name] !== undefined) value[name] = Number(dataset[name]);
  }
  if (dataset.denies !== undefined) value.denies = dataset.denies !== "no";
  return ask(value);
}

/** Open the card of a row that was tapped anywhere but on what acts. */
function openRow(event) {
  const row = event.target.closest?.("#queue-list > [data-card]");
  if (!row || isGone(row) || event.target.closest("a, label, input, textarea, select, summary, form")) return;
  if (!getSelection().isCollapsed) return;
  location.hash = `#card-${row.dataset.card}`;
}

const KEYS = {
  a: ["allow", "answer", "accept", "keep-going", "retry"],
  d: ["deny", "decline"],
};

function onKeyDown(event) {
  byKey = true;
  const isTyping = event.target.closest?.("input, textarea, select");
  if (event.repeat && event.key === "Enter" && event.target.closest?.("button")) event.preventDefault();
  if (isTyping || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (byId("second")?.open) return;
  if (event.key === "Escape" && document.body.dataset.view === "card") location.hash = "#queue";
  const holder = event.target.closest?.("[data-card]");
  if (event.key === "j" || event.key === "k") step(holder, event.key === "j" ? 1 : -1);
  const acts = KEYS[event.key];
  if (!holder || !acts) return;
  const button = acts.map((name) => holder.querySelector(`button.act[data-act="${name}"]`)).find(Boolean);
  if (button) act(button);
}

function step(holder, by) {
  const links = all("#queue-list > [data-card] a.open").filter((link) => link.getClientRects().length);
  const now = links.findIndex((link) => holder?.contains(link));
  links[Math.max(0, Math.min(links.length - 1, now + by))]?.focus();
}

// ---------------------------------------------------------------- The start

function startDesk() {
  addEventListener("hashchange", () => {
    // Who is signed out sees no view of the desk; the address is shown after signing in.
    if (document.body.dataset.view !== "sign-in") show();
  });
  addEventListener("scroll", lookSoon, { passive: true, capture: true });
  addEventListener("resize", lookSoon);
  document.addEventListener("toggle", lookSoon, { capture: true });
  document.addEventListener("visibilitychange", onVisibility);
  document.addEventListener("pointerdown", onPointerDown, { capture: true });
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKeyDown);
  document.addEventListener("focusin", onFocus);
  document.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("input", onInput);
  // What is gone leaves its place once it is out of view, or a person touched something else.
  // Who taps one button after another finds the next where it was, and it is armed.
  const onScrollEnd = () => performance.now() - scrolledAt > 300 && settle(false);
  document.addEventListener("scrollend", onScrollEnd, { capture: true });
  document.addEventListener("pointerup", ({ target }) => {
    if (target.closest?.("[data-is-gone]")) return;
    setTimeout(settle, 50, !target.closest?.("button.act"));
  });
  addEventListener("pagehide", () => stopListening("Asleep"));
  addEventListener("pageshow", (event) => event.persisted && onVisibility());
  addEventListener("online", () => wake());
  byId("sign-in-go").addEventListener("click", signIn);
  byId("sign-out").addEventListener("click", signOut);
  byId("push-on").addEventListener("click", pushOn);
  byId("push-off").addEventListener("click", pushOff);
  byId("push-test").addEventListener("click", pushTest);
  for (const choice of all("select[data-list]")) choice.addEventListener("change", filter);
  setInterval(tick, 1_000);
  setInterval(() => document.hidden || beat(true), BEAT_EVERY);
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (/^#[a-z]+-?\d*$/.test(data?.open)) location.hash = data.open;
  });
  startWorker();
  begin();
}

function startWorker() {
  const url = policy ? policy.createScriptURL("/sw.js") : "/sw.js";
  navigator.serviceWorker?.register(url).catch(() => {});
}

/** Show what there is to see. */
function begin() {
  hear(false, "Connecting");
  show();
  // A link on another site brings no Strict cookie with the document. It needs none: the document
  // is the same for everybody, and what it asks for itself has the cookie.
  listen();
}

let objectionsTimer;

/** Ask what the rules say of an edited command, once a person rests. */
function onInput({ target }) {
  if (target.dataset?.field !== "input") return;
  clearTimeout(objectionsTimer);
  objectionsTimer = setTimeout(() => {
    const holder = holderOf(target);
    const button = holder?.querySelector('button.act[data-field="input"]');
    if (button && heard) ask({ ...callOf(button, holder), ask: "objections" });
  }, 700);
}

if (globalThis.document) {
  if (document.documentElement.dataset.page === "enrol") enrol();
  else startDesk();
}
