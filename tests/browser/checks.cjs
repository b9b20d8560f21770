// What must hold of the pages in a browser. Each check gets `open`, which gives a page in a window of its own.
const assert = require("node:assert/strict");
const fs = require("node:fs");

const bodies = "table.rows > tbody";
const visible = `${bodies}:not([hidden])`;
const color = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const isDark = (rgb) => rgb.match(/\d+/g).slice(0, 3).every((part) => Number(part) < 80);
const overflows = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

// Frames, drawings and legends whose content is wider than they are.
const cut = (page) =>
  page.evaluate(() => {
    const wide = (element) => element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1;
    const found = [...document.querySelectorAll(".frame, .drawing, .legend, .bar, nav")].filter(wide);
    return found.map((element) => element.getAttribute("aria-label") ?? element.className);
  });

// What the rows sort by in a column, from top to bottom; null where there is no figure.
const values = (page, heading) =>
  page.evaluate((heading) => {
    const table = document.querySelector("table.rows");
    const index = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === heading);
    return [...table.tBodies].map((body) => Number(body.rows[0].cells[index].dataset.v ?? NaN));
  }, heading);

// Figures in order, then those rows that have none.
function assertSorted(found, sign) {
  const figures = found.filter((value) => !Number.isNaN(value));
  assert.ok(figures.length > 10 && figures.length <= found.length);
  assert.ok(found.slice(figures.length).every(Number.isNaN), "rows without a figure come last");
  assert.deepEqual(figures, [...figures].sort((a, b) => sign * (a - b)));
}

exports.checks = {
  "the page is small": async ({ pages }) => {
    const size = fs.statSync(pages.one.file).size;
    // The rows as a file, and what the pointer shows of each point, are a twentieth of it.
    assert.ok(size < 2_100_000, `${size} bytes`);
  },

  "rows sort by time, by the keyboard too": async ({ open, pages }) => {
    const page = await open(pages.one);
    const before = await values(page, "time");
    const heading = page.locator("table.rows th", { hasText: /^time$/ });
    await heading.getByRole("button").click();
    assert.equal(await heading.getAttribute("aria-sort"), "ascending");
    assertSorted(await values(page, "time"), 1);
    await page.keyboard.press("Enter");
    assert.equal(await heading.getAttribute("aria-sort"), "descending");
    assertSorted(await values(page, "time"), -1);
    await page.keyboard.press("Enter");
    assert.equal(await heading.getAttribute("aria-sort"), "none");
    assert.deepEqual(await values(page, "time"), before);
    for (const button of await page.locator("table.rows thead button").all()) await button.click();
    assert.equal(await page.locator("table.rows th[aria-sort=ascending]").count(), 1);
  },

  "rows are filtered by text, by choice and to the best": async ({ open, pages }) => {
    const page = await open(pages.one);
    const all = await page.locator(visible).count();
    await page.getByLabel("filter rows by text").fill("MATMUL faer");
    const texts = await page.locator(`${visible} > tr:first-child`).allTextContents();
    assert.ok(texts.length > 0 && texts.length < all);
    assert.ok(texts.every((text) => text.includes("matmul") && text.includes("faer")));
    assert.equal(await page.locator(".count").textContent(), `${texts.length} of ${all} rows`);
    await page.getByLabel("filter rows by text").fill("");
    await page.getByLabel("outcome").selectOption("measured");
    assert.equal(await page.locator(visible).count(), await page.locator(`${bodies}[data-outcome=measured]`).count());
    await page.getByLabel("outcome").selectOption("");
    await page.getByLabel("op", { exact: true }).selectOption("fft");
    await page.getByLabel("best variants only").check();
    assert.equal(await page.locator(visible).count(), await page.locator(`${bodies}[data-op=fft][data-best]`).count());
    await page.getByLabel("best variants only").uncheck();
    await page.getByLabel("op", { exact: true }).selectOption("");
    assert.equal(await page.locator(visible).count(), all);
  },

  "a row opens its details": async ({ open, pages }) => {
    const page = await open(pages.one);
    const row = page.locator(bodies).first();
    const more = row.locator(".more");
    assert.equal(await more.isVisible(), false);
    await row.locator("summary").focus();
    await page.keyboard.press("Enter");
    assert.ok(await more.isVisible());
    await row.locator("td").nth(3).click();
    assert.equal(await more.isVisible(), false);
  },

  "a warning leads to its row, whatever hides it": async ({ open, pages }) => {
    const page = await open(pages.one);
    await page.getByLabel("filter rows by text").fill("no such row");
    await page.locator("#warnings summary").first().click();
    await page.locator("#warnings a").first().click();
    const target = page.locator(`${bodies}:target`);
    await target.locator(".more").waitFor();
    assert.equal(await page.getByLabel("filter rows by text").inputValue(), "");
  },

  "the theme follows the system, the switch turns it round, and it is kept": async ({ open, pages }) => {
    const ground = (page) =>
      page.locator(".drawing svg rect").first().evaluate((rect) => getComputedStyle(rect).fill);
    const dark = await open(pages.one, { colorScheme: "dark" });
    assert.ok(isDark(await color(dark)));
    assert.ok(isDark(await ground(dark)));
    const page = await open(pages.one, { colorScheme: "light" });
    assert.ok(!isDark(await color(page)));
    assert.ok(!isDark(await ground(page)));
    await page.locator("#theme").click();
    assert.ok(isDark(await color(page)));
    assert.ok(isDark(await ground(page)));
    await page.reload();
    assert.ok(isDark(await color(page)));
    await page.locator("#theme").click();
    assert.ok(!isDark(await color(page)));
  },

  "nothing is cut on a phone or on a small screen": async ({ open, pages }) => {
    for (const [width, height] of [[390, 844], [1280, 800]]) {
      for (const target of [pages.one, pages.two, pages.spoilt]) {
        const page = await open(target, { viewport: { width, height } });
        assert.equal(await overflows(page), false);
        if (target === pages.two) await page.getByRole("link", { name: "first" }).click();
        await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
        assert.equal(await overflows(page), false, "with everything open");
        const panel = await page.locator(".panel:visible").first().boundingBox();
        assert.ok(panel.x >= 0 && panel.x + panel.width <= width, "details fit");
        if (target === pages.one) assert.deepEqual(await cut(page), [], `at ${width} pixels`);
      }
    }
  },

  "a legend is text as large as the page's notes": async ({ open, pages }) => {
    const page = await open(pages.one, { viewport: { width: 390, height: 844 } });
    const legends = page.locator("[data-charts=sizes] .legend");
    assert.equal(await legends.count(), await page.locator("[data-charts=sizes] .chart").count());
    const key = legends.first().locator(".key").first();
    assert.ok((await key.boundingBox()).height >= 12);
    assert.equal(await key.evaluate((key) => getComputedStyle(key).fontSize), "13px");
  },

  "the answer comes first, warnings next, prose last": async ({ open, pages }) => {
    const page = await open(pages.one);
    const parts = await page.locator("section").evaluateAll((parts) => parts.map((part) => part.dataset.part));
    assert.deepEqual(parts.slice(0, 3), ["answer", "warnings", "charts"]);
    assert.deepEqual(parts.slice(-2), ["words", "method"]);
    const table = await page.locator("#answer table.overview").boundingBox();
    assert.ok(table.y < 450, "the overview begins on the first screen");
  },

  "paper has the answer, charts and best variants on at most eight pages": async ({ open, pages }) => {
    const page = await open(pages.one, { colorScheme: "dark" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    for (const left of [".bar", ".controls", ".panel", "details pre"]) {
      assert.equal(await page.locator(left).first().isVisible(), false, left);
    }
    assert.ok(!isDark(await color(page)));
    const rows = page.locator(`${bodies} > tr:first-child:visible`);
    assert.equal(await rows.count(), await page.locator(`${bodies}[data-best]`).count());
    const pdf = await page.pdf({ preferCSSPageSize: true });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    const count = pdf.toString("latin1").match(/\/Type \/Page\b/g).length;
    assert.ok(count >= 3 && count <= 8, `${count} pages`);
  },

  "without script all rows and details are there": async ({ open, pages }) => {
    const page = await open(pages.one, { javaScriptEnabled: false });
    assert.equal(await page.locator(".controls").isVisible(), false);
    assert.equal(await page.locator("#theme").isVisible(), false);
    assert.equal(await page.locator(`${bodies} > tr:first-child:visible`).count(), await page.locator(bodies).count());
    const row = page.locator(bodies).first();
    await row.locator("summary").click();
    assert.ok(await row.locator(".more").isVisible());
  },

  "nothing can be fetched": async ({ open, pages }) => {
    const page = await open(pages.one, {}, /Content Security Policy/);
    const outcome = await page.evaluate(() => fetch("https://example.invalid/").then(() => "fetched", () => "refused"));
    assert.equal(outcome, "refused");
  },

  "no text of a report becomes markup": async ({ open, pages }) => {
    const page = await open(pages.spoilt);
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator("img, iframe, object").count(), 0);
    assert.equal(await page.locator("script").count(), 2);
    assert.ok((await page.locator("h1").textContent()).includes("<script>window.hit=1</script>"));
  },

  "of several reports one is shown at a time, or all side by side": async ({ open, pages }) => {
    const page = await open(pages.two);
    assert.deepEqual(await page.locator("article.member:visible").count(), 0);
    assert.ok(await page.locator("#all").isVisible());
    await page.getByRole("link", { name: "second" }).click();
    await page.locator("#m2").waitFor();
    assert.equal(await page.locator("article.member:visible").count(), 1);
    assert.equal(await page.locator("#all").isVisible(), false);
    await page.getByRole("link", { name: "All" }).click();
    await page.locator("#all").waitFor();
    assert.equal(await page.locator("article.member:visible").count(), 0);
  },
};
