// Single keys, named by aria-keyshortcuts on what they reach. They choose and move; none of them sends anything.
// They are silent in fields, with a modifier held, while a dialog is open, and where the reader has switched them off.

const STORED = "vermilion.keys";
const on = () => localStorage.getItem(STORED) !== "off";

export function keys() {
  const dialog = document.getElementById("keys");
  if (!dialog) return;
  document.addEventListener("keydown", (event) => pressed(event, dialog));
  for (const opener of document.querySelectorAll("[data-keys]")) {
    opener.hidden = false;
    opener.addEventListener("click", () => dialog.showModal());
  }
  const toggle = dialog.querySelector("#keys-on");
  toggle.checked = on();
  toggle.addEventListener("change", () => localStorage.setItem(STORED, toggle.checked ? "on" : "off"));
}

function pressed(event, dialog) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat || dialog.open) return;
  if (event.target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]")) return;
  if (!on()) return;
  const act = event.key === "?" ? () => dialog.showModal() : action(event.key);
  if (!act) return;
  event.preventDefault();
  act();
}

function action(key) {
  if ("jk".includes(key) && document.querySelector(".item")) return () => move(key === "j" ? 1 : -1);
  if (key === "x" && current()) return () => current().querySelector("input[type=checkbox]")?.click();
  const target = document.querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]:not(:disabled)`);
  return target && (() => reach(target));
}

function reach(target) {
  target.closest("details")?.setAttribute("open", "");
  target.focus();
  if (target.matches("a, button, input[type=radio]")) target.click();
}

const current = () => document.activeElement?.closest(".item");

function move(by) {
  const items = [...document.querySelectorAll(".item")];
  const at = items.indexOf(current());
  const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : at + by];
  next?.querySelector("h3 a")?.focus();
}
