// When the question closes under somebody's hands, what they had typed is not lost: it stays in the closed panel, to be
// copied. What they had sent themselves is on its way and is not said to be unsent.

let typed = "";

export function written() {
  const template = document.getElementById("written");
  if (!template) return;
  document.addEventListener("htmx:oobBeforeSwap", (event) => { if (isPanel(event.detail.target)) remember(event.detail.target); });
  document.addEventListener("htmx:oobAfterSwap", () => showAgain(template));
}

const isPanel = (element) => element?.id === "answer";

function remember(panel) {
  const sent = panel.querySelector("form")?.dataset.sent;
  const texts = [...panel.querySelectorAll("textarea")].map((field) => field.value.trim());
  typed = sent ? "" : texts.filter(Boolean).join("\n\n");
}

function showAgain(template) {
  const panel = document.getElementById("answer");
  if (!typed || !panel || panel.querySelector("#written-text")) return;
  const kept = template.content.cloneNode(true);
  kept.querySelector("textarea").value = typed;
  const ways = panel.querySelector(".body > .bar:last-of-type");
  if (ways) ways.before(kept); else panel.querySelector(".body").append(kept);
}
