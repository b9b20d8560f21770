// Theme, sorting, filtering and the choice among reports. The page shows all it holds without this.
(() => {
  "use strict";

  // The theme: a press turns it round, and it is kept where the browser keeps anything.
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const theme = document.getElementById("theme");
  const label = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", isDark() ? "switch to the light theme" : "switch to the dark theme");
  };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("gpubench-theme", root.dataset.theme);
    } catch {
      // A page from a file may have no storage.
    }
    label();
  });
  system.addEventListener("change", label);
  label();

  // Sorting: what a cell says it sorts by, else its text; cells without a figure come last either way.
  const collator = new Intl.Collator("en", { numeric: true });
  const key = (body, index, numeric) => {
    const cell = body.rows[0].cells[index];
    if (!numeric) return cell.textContent;
    return cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
  };
  const order = (numeric, sign) => (a, b) => {
    if (!numeric) return sign * collator.compare(a.key, b.key);
    if (Number.isNaN(a.key) || Number.isNaN(b.key)) return Number.isNaN(a.key) - Number.isNaN(b.key);
    return sign * (a.key - b.key);
  };

  const sortable = (table, bodies) => {
    const heads = [...table.tHead.rows[0].cells];
    const sort = (index, direction) => {
      const numeric = heads[index].dataset.sort === "number";
      const sign = direction === "descending" ? -1 : 1;
      const keyed = bodies.map((body) => ({ body, key: key(body, index, numeric) }));
      if (direction !== "none") keyed.sort(order(numeric, sign));
      heads.forEach((head, at) => head.setAttribute("aria-sort", at === index ? direction : "none"));
      table.append(...keyed.map((entry) => entry.body));
    };
    const next = { none: "ascending", ascending: "descending", descending: "none" };
    heads.forEach((head, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(index, next[head.getAttribute("aria-sort")]));
    });
  };

  // Filtering: the row must contain every word and match every choice.
  const filterable = (section, bodies) => {
    const controls = section.querySelector(".controls");
    const count = section.querySelector(".count");
    const texts = bodies.map((body) => body.rows[0].textContent.toLowerCase());
    const whole = count.textContent;
    const filters = Object.fromEntries(
      [...controls.querySelectorAll("[data-filter]")].map((input) => [input.dataset.filter, input]),
    );
    const filter = () => {
      const words = filters.text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      bodies.forEach((body, index) => {
        const fits =
          words.every((word) => texts[index].includes(word)) &&
          ["op", "backend", "outcome"].every((name) => !filters[name].value || filters[name].value === body.dataset[name]) &&
          (!filters.best.checked || body.dataset.best === "1");
        body.hidden = !fits;
        shown += fits;
      });
      count.textContent = shown === bodies.length ? whole : `${shown} of ${whole}`;
    };
    controls.hidden = false;
    controls.addEventListener("input", filter);
    filter();
    return () => {
      for (const input of Object.values(filters)) {
        if (input.type === "checkbox") input.checked = false;
        else input.value = "";
      }
      filter();
    };
  };

  // A press anywhere on a row opens it, unless text is being selected.
  const openable = (body) => {
    body.rows[0].addEventListener("click", (event) => {
      if (event.target.closest("summary, a, button") || String(getSelection())) return;
      const details = body.querySelector("details");
      details.open = !details.open;
    });
  };

  const unfilter = new Map();
  for (const table of document.querySelectorAll("table.rows")) {
    const bodies = [...table.tBodies];
    sortable(table, bodies);
    unfilter.set(table, filterable(table.closest("section"), bodies));
    bodies.forEach(openable);
  }

  // One of several reports at a time; the first entry shows the overview of all.
  const chooser = document.querySelector("nav[data-chooser]");
  const members = [...document.querySelectorAll("article.member")];
  const all = document.getElementById("all");
  const choose = (id) => {
    const chosen = members.find((member) => member.id === id);
    members.forEach((member) => (member.hidden = member !== chosen));
    all.hidden = Boolean(chosen);
    for (const link of chooser.querySelectorAll("a")) {
      const isIt = link.hash === `#${chosen ? id : "all"}`;
      if (isIt) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };

  // A link to a row opens it, even where a filter hides it.
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (chooser) choose(target?.closest("article.member")?.id);
    const body = target?.closest("table.rows > tbody");
    if (!body) return;
    if (body.hidden) unfilter.get(body.closest("table"))();
    body.querySelector("details").open = true;
    body.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", follow);
  follow();
})();
