// Looks at pages in a real browser: node run.cjs GPUBENCH CHROMIUM, with playwright-core where Node finds it.
// Any error, any line on the console and any request but for the page itself fails a check.
const { chromium } = require("playwright-core");
const { make } = require("./pages.cjs");
const { checks } = require("./checks.cjs");

const FLAGS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
  "--no-sandbox",
];

// Opens a page in a new window and notes what it should not do; `expected` excuses lines on the console.
const opener = (browser, wrong) => async (target, options, expected) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(5000);
  const page = await context.newPage();
  page.on("pageerror", (error) => wrong.push(`error: ${error}`));
  page.on("console", (line) => {
    if (!expected?.test(line.text())) wrong.push(`console: ${line.text()}`);
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== target.url && !request.url().startsWith("data:")) wrong.push(`request: ${request.url()}`);
  });
  await page.goto(target.url);
  return page;
};

async function main([program, executablePath]) {
  const pages = make(program);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    const wrong = [];
    await check({ open: opener(browser, wrong), pages }).catch((error) => wrong.push(error.stack));
    await Promise.all(browser.contexts().map((context) => context.close()));
    console.log(`${wrong.length ? "FAILED" : "ok"}: ${name}`);
    wrong.forEach((line) => console.log(`  ${line}`));
    failed += wrong.length > 0;
  }
  await browser.close();
  pages.remove();
  process.exitCode = failed ? 1 : 0;
}

main(process.argv.slice(2));
