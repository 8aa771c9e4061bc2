// Answers are plain forms. This only keeps one press from being sent twice and says that it is on its way.

export function answers() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const method = event.submitter?.getAttribute("formmethod") ?? form.method;
    if (method !== "post" || event.defaultPrevented) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    saySending(form, event.submitter);
  });
}

function saySending(form, button) {
  const place = form.querySelector("[data-sending]");
  button?.setAttribute("aria-disabled", "true");
  if (place) place.textContent = place.dataset.sending;
}
