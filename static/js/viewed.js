// Tells the server that the page was seen, once, when it is really visible: GET changes nothing.

export function viewed() {
  const element = document.querySelector("[data-viewed]");
  if (!element) return;
  const tell = () => {
    if (document.hidden) return;
    document.removeEventListener("visibilitychange", tell);
    fetch(element.dataset.viewed, { method: "POST", headers: { "X-CSRFToken": element.dataset.token }, keepalive: true }).catch(() => {});
  };
  document.addEventListener("visibilitychange", tell);
  tell();
}
