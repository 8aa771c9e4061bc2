// Answers are plain forms. This only keeps one press from being sent twice and says that it is on its way. And it keeps
// Enter on a choice from sending the form: for radio buttons Chromium looks past the disabled first button to the next.

export function answers() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input:is([type=radio], [type=checkbox])")) event.preventDefault();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
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
