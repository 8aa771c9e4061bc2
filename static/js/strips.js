// A strip of chips that is wider than the window begins where the chosen one is in sight.

export function strips() {
  for (const chosen of document.querySelectorAll(".chips > [aria-current]")) {
    const strip = chosen.parentElement;
    const beyond = chosen.getBoundingClientRect().right - strip.getBoundingClientRect().right;
    if (beyond > 0) strip.scrollLeft += beyond + chosen.offsetWidth / 2;
  }
}
