// The bell: one socket a page. It carries a topic and a number, never content; what is shown is fetched over HTTP,
// by the elements that say data-watch="topic" and hx-trigger="live". While the socket is shut, a slow tick rings instead.

const TICK = 20_000;
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 30_000;
const SILENCE_ALLOWED = 2_500; // A socket that comes back within this time is not worth a word.
const SIGNED_OUT = 4401;
const PACE = 1_000; // What rings all the time is looked at once in this time, and once more at the end;
const LIST_PACE = 3_000; // a list, of which every run that moves rings, less often.

let socket = null;
let wait = FIRST_WAIT;
let asOf = new Date();
let lostTimer = null;
let wasOpen = false;
let asked = "";
const newest = new Map(); // Of each topic that rang and was not looked at yet: its number.
const looked = new Map(); // When each topic was looked at last.

export function live() {
  if (!document.body.dataset.live) return;
  connect();
  setInterval(tick, TICK);
  addEventListener("online", reconnectNow);
  document.addEventListener("visibilitychange", () => document.hidden || isOpen() || reconnectNow());
  document.addEventListener("htmx:afterSwap", watchAll);
  document.addEventListener("htmx:afterOnLoad", () => { asOf = new Date(); sayClock(); });
  document.addEventListener("htmx:responseError", (event) => {
    if ([401, 403, 404].includes(event.detail.xhr.status)) say("signed-out");
  });
}

const watched = () => [...document.querySelectorAll("[data-watch]")];
const isOpen = () => socket?.readyState === WebSocket.OPEN;

function connect() {
  const address = new URL(document.body.dataset.live, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  socket = new WebSocket(address);
  socket.addEventListener("open", opened);
  socket.addEventListener("message", (event) => heard(JSON.parse(event.data)));
  socket.addEventListener("close", closed);
}

function opened() {
  wait = FIRST_WAIT;
  clearTimeout(lostTimer);
  lostTimer = null;
  say(null);
  asked = "";
  watchAll();
  if (wasOpen) ringAll(); // Bells rung while the socket was shut are lost: look once.
  wasOpen = true;
}

function closed(event) {
  if (event.code === SIGNED_OUT) return say("signed-out");
  lostTimer ??= setTimeout(() => say("connection-lost"), SILENCE_ALLOWED);
  setTimeout(() => socket.readyState === WebSocket.CLOSED && connect(), wait * (0.5 + Math.random() / 2));
  wait = Math.min(wait * 2, LONGEST_WAIT);
}

function reconnectNow() {
  wait = FIRST_WAIT;
  if (socket.readyState === WebSocket.CLOSED) connect();
  ringAll();
}

// Topics are sent once a socket, and again when a swap brought others.
function watchAll() {
  const topics = JSON.stringify({ watch: [...new Set(watched().map((element) => element.dataset.watch))].sort() });
  if (!isOpen() || topics === asked) return;
  asked = topics;
  socket.send(topics);
}

function heard({ topic, seq }) {
  const pending = newest.has(topic);
  newest.set(topic, seq);
  if (pending) return;
  const pace = topic.includes(":") ? PACE : LIST_PACE;
  setTimeout(look, (looked.get(topic) ?? -pace) + pace - performance.now(), topic);
}

function look(topic) {
  const seq = newest.get(topic);
  newest.delete(topic);
  for (const element of watched()) {
    if (element.dataset.watch !== topic || seq <= Number(element.dataset.seq ?? -1)) continue;
    element.dataset.seq = seq;
    looked.set(topic, performance.now());
    ring(element);
  }
}

function ring(element) {
  element.dispatchEvent(new CustomEvent("live", { bubbles: false, cancelable: true }));
}

const ringAll = () => watched().forEach(ring);
const tick = () => isOpen() || document.hidden || ringAll();

// What a person is told of the connection: one of the templates at the foot of the page, or nothing.
function say(name) {
  const place = document.getElementById("connection");
  if (!place || place.dataset.said === (name ?? "")) return;
  place.dataset.said = name ?? "";
  place.replaceChildren(...(name ? [document.getElementById(name).content.cloneNode(true)] : []));
  sayClock();
}

function sayClock() {
  const time = document.querySelector("#connection time");
  if (!time) return;
  time.dateTime = asOf.toISOString();
  time.textContent = asOf.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: document.body.dataset.zone });
}
