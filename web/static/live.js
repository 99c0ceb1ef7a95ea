// Keeps the reader's place when htmx, the library that reloads parts of pages, replaces a part: the keyboard focus, open
// folds, and the positions of scrolled regions. htmx itself gives the focus back to an element with the same id. So this
// script handles the focus only if the focused element is gone.
(() => {
  "use strict";
  const REGIONS = ".scroll, .log";
  let kept = null;

  const named = (part, selector, name, value) =>
    new Map([...part.querySelectorAll(selector)].map((one) => [name(one), value(one)]));
  const title = (fold) => fold.querySelector("summary")?.textContent.trim() ?? "";
  const label = (region) => region.getAttribute("aria-label") ?? region.getAttribute("aria-labelledby") ?? "";

  document.addEventListener("htmx:beforeSwap", (event) => {
    const part = event.detail.target;
    kept = {
      id: part.id,
      focused: part.contains(document.activeElement),
      folds: named(part, "details", title, (fold) => fold.open),
      regions: named(part, REGIONS, label, (region) => [region.scrollLeft, region.scrollTop]),
    };
  });

  document.addEventListener("htmx:afterSwap", () => {
    const part = kept && document.getElementById(kept.id);
    if (!part) return;
    for (const fold of part.querySelectorAll("details")) {
      fold.open = kept.folds.get(title(fold)) ?? fold.open;
    }
    for (const region of part.querySelectorAll(REGIONS)) {
      [region.scrollLeft, region.scrollTop] = kept.regions.get(label(region)) ?? [0, 0];
    }
    // The focused element is gone, for example the button that cancels a run that has ended.
    if (kept.focused && !part.contains(document.activeElement)) part.focus({ preventScroll: true });
  });
})();
