// A list does not move under a finger. While [data-calm] is in use the bell does not redraw it: what was closed
// meanwhile is marked in place, and what is new waits behind a link.

const CALM = 8_000;
const LOOK_AGAIN = 2_000;
let touched = 0;
let stale = false;

export function calm() {
  if (!list()) return;
  document.addEventListener("live", holdBack, true); // Capture: before htmx hears it.
  document.addEventListener("pointerdown", () => { touched = Date.now(); });
  setInterval(catchUp, LOOK_AGAIN);
}

const list = () => document.querySelector("[data-calm]");
const ids = (root) => new Set([...root.querySelectorAll("[data-id]")].map((element) => element.dataset.id));

function inUse() {
  return list().matches(":hover, :focus-within") || Boolean(list().querySelector("input:checked")) || Date.now() - touched < CALM;
}

function holdBack(event) {
  stale = event.target === list() && inUse();
  if (!stale) return;
  event.stopImmediatePropagation();
  compare();
}

function catchUp() {
  if (!stale || inUse()) return;
  stale = false;
  list().dispatchEvent(new CustomEvent("live"));
}

async function compare() {
  const answer = await fetch(list().getAttribute("hx-get"), { headers: { "HX-Request": "true" } });
  if (!answer.ok) return;
  const now = ids(new DOMParser().parseFromString(await answer.text(), "text/html"));
  const shown = ids(list());
  for (const id of shown) if (!now.has(id)) markClosed(list().querySelector(`[data-id="${CSS.escape(id)}"]`));
  sayNew([...now].filter((id) => !shown.has(id)).length);
}

function markClosed(item) {
  if (item.dataset.closed) return;
  item.dataset.closed = "yes";
  item.querySelectorAll("input").forEach((input) => { input.checked = false; input.disabled = true; });
  item.querySelector("[data-state-words]")?.replaceChildren(words("closed"));
}

function sayNew(count) {
  const place = list().querySelector("[data-news]");
  if (!place) return;
  place.replaceChildren();
  if (!count) return;
  place.append(words(count === 1 ? "one" : "many"));
  const number = place.querySelector("[data-number]");
  if (number) number.textContent = count;
}

const words = (name) => list().querySelector(`template[data-words="${name}"]`).content.cloneNode(true);
