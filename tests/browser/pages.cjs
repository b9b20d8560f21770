// The pages that are looked at: of one report, of two, and of one whose every text would like to be markup.
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const zlib = require("node:zlib");

const root = path.join(__dirname, "../..");
const hostile = "<script>window.hit=1</script><img src=x onerror=window.hit=1>\"'--><!-- </style></title>\u2028";

// Every text of a report that may hold any text, replaced by the hostile one.
function spoil(report) {
  report.rows.forEach((row, index) => {
    row.variant = `${hostile}${index}`.replaceAll("/", "\u2215");
    if (row.reason) [row.reason, row.fix] = [hostile, hostile];
    for (const warning of row.execute?.warnings ?? []) [warning.text, warning.next] = [hostile, hostile];
  });
  const { environment } = report;
  environment.argv.push(hostile);
  environment.gpubench_version = hostile;
  environment.settings = { [hostile]: hostile };
  environment.warnings = [{ text: hostile, next: hostile }];
  Object.assign(environment.host, { name: hostile, os: hostile, cpu: hostile });
  for (const backend of environment.backends) backend.description.name = hostile;
  return report;
}

// The addresses of the pages, made by the program into a new folder.
exports.make = (program) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gpubench-pages-"));
  const report = (out, ...reports) => {
    const file = path.join(folder, out);
    execFileSync(program, ["report", ...reports, "-o", file], { stdio: "inherit" });
    return { file, url: `file://${file}` };
  };
  const fixture = (name) => path.join(root, "tests/fixtures", name);
  const published = path.join(root, "results/h200/article");
  const spoilt = path.join(folder, "spoilt.json");
  const article = JSON.parse(zlib.gunzipSync(fs.readFileSync(path.join(published, "report.json.gz"))));
  fs.writeFileSync(spoilt, JSON.stringify(spoil(article)));
  return {
    one: report("one.html", published),
    two: report("two.html", fixture("quick/first"), fixture("quick/second")),
    spoilt: report("spoilt.html", spoilt),
    remove: () => fs.rmSync(folder, { recursive: true }),
  };
};
