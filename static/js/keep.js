// A part that is fetched again takes nothing from a reader's hands: what is unfolded stays unfolded, the focus stays.

const open = new Set();
let focused = "";

export function keep() {
  document.addEventListener("htmx:beforeSwap", remember);
  document.addEventListener("htmx:afterSwap", restore);
}

function remember(event) {
  open.clear();
  for (const element of event.detail.target.querySelectorAll("details[id][open]")) open.add(element.id);
  focused = event.detail.target.contains(document.activeElement) ? document.activeElement.id : "";
}

function restore() {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}
