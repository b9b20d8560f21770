// The theme chosen earlier on this page, or the system's.
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  try {
    const kept = localStorage.getItem("gpubench-theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // A page from a file may have no storage.
  }
})();
