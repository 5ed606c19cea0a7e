// The worker of the web desk: it opens the page without a server, and shows notices.
//
// Its cache holds the document and its files, which are the same for everybody: no text of a card.
// A message of the push service is the JSON of declarative web push; where a phone shows that by
// itself, this worker only reports it.

const SHELL = "shell";
const FILES = ["/", "/desk.js", "/style.css", "/manifest.webmanifest", "/icon.svg", "/icon-192.png"];
const PATIENCE = 4_000; // ms for the network, before what is kept is shown

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(SHELL)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const isOurs = origin === self.location.origin && FILES.includes(pathname);
  if (event.request.method === "GET" && isOurs) event.respondWith(file(event.request, pathname));
});

/** Return a file as the server has it now; the kept one where the server does not answer. */
async function file(request, name) {
  const cache = await caches.open(SHELL);
  const kept = await cache.match(name);
  const fresh = fetch(request).then((response) => {
    if (response.ok) cache.put(name, response.clone());
    return response.status < 500 || !kept ? response : kept;
  });
  if (!kept) return fresh;
  const late = new Promise((done) => setTimeout(done, PATIENCE, kept));
  return Promise.race([fresh, late]).catch(() => kept);
}

// ---------------------------------------------------------------- Notices

self.addEventListener("push", (event) => event.waitUntil(showNotice(event)));

async function showNotice({ data, notification, appBadge }) {
  // Where the browser has read the message itself, it brings the notice ready made.
  let message = { notification, app_badge: appBadge };
  try {
    if (!notification) message = data.json();
  } catch {
    // A service may wake a worker without a message: something must be shown all the same.
  }
  const { title = "Something waits", navigate = "/", data: facts, ...options } = fields(message.notification);
  const badge = message.app_badge;
  if (badge === 0) navigator.clearAppBadge?.();
  else if (badge) navigator.setAppBadge?.(badge);
  await self.registration.showNotification(title, {
    icon: "/icon-192.png",
    badge: "/badge.png",
    ...options,
    // A silent notice may not call anew, says the standard.
    renotify: Boolean(options.renotify && options.tag && !options.silent),
    data: { ...facts, navigate },
  });
  await report(facts?.token, "shown");
}

/** Return a notice's fields: those of a ready made one are not its own properties. */
function fields(notice) {
  if (!notice) return {};
  const names = ["title", "navigate", "data", "body", "tag", "renotify", "silent", "actions"];
  return Object.fromEntries(names.filter((name) => notice[name] != null).map((name) => [name, notice[name]]));
}

/** Tell the server what became of a notice; by its token, since nobody may be signed in. */
async function report(token, what) {
  if (token) await post("/push/report", { token, what }).catch(() => {});
}

function post(path, value) {
  const headers = { "Content-Type": "application/json" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(value) });
}

self.addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  notification.close();
  const acts = { deny, later };
  event.waitUntil((acts[action] ?? open)(notification.data ?? {}));
});

// What was put away is not to come back as a quiet notice that its card has ended.
self.addEventListener("notificationclose", (event) => {
  event.waitUntil(report(event.notification.data?.token, "closed"));
});

/** Deny without a reason: a session's cookie is enough for that, and for nothing that opens. */
async function deny(facts) {
  const call = JSON.stringify({ id: randomHex(), ...facts.deny, at: Date.now() / 1000 });
  try {
    const response = await post("/do", { page: randomHex(), call });
    if (response.ok) return await report(facts.token, "closed");
    const { why } = await response.json().catch(() => ({}));
    return await notDenied(facts, why ?? `The server answers ${response.status}.`);
  } catch {
    return notDenied(facts, "The server does not answer.");
  }
}

function notDenied({ navigate }, why) {
  const body = `${why} Tap to open the desk.`;
  return self.registration.showNotification("Nothing was denied", {
    body,
    icon: "/icon-192.png",
    badge: "/badge.png",
    tag: "denied",
    data: { navigate },
  });
}

const later = ({ token }) => report(token, "later");

/** Show the page at its card: the one that is open, or a new one. */
async function open({ navigate = "/", token }) {
  await report(token, "closed");
  const { hash } = new URL(navigate, self.location.origin);
  for (const client of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
    if (new URL(client.url).pathname !== "/") continue;
    client.postMessage({ open: hash || "#queue" });
    return client.focus();
  }
  return self.clients.openWindow(`/${hash}`);
}

function randomHex() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
