// A hook forwarder in Node: standard input to a Unix socket as one line, the answer printed.
// It reads at once instead of by events, and requires nothing but node:net: the quickest such one.
"use strict";
const { readFileSync } = require("node:fs");
const { connect } = require("node:net");

const payload = JSON.parse(readFileSync(0, "utf8"));
const requestId = `${Date.now()}-${process.pid}`;
const line = connect(process.argv[2]);
let heard = "";

line.setEncoding("utf8");
line.write(`${JSON.stringify({ request_id: requestId, payload })}\n`);
line.on("error", (error) => {
  process.stderr.write(`forwarder: ${error.message}\n`);
});
line.on("data", (text) => {
  heard += text;
  if (!heard.endsWith("\n")) return;
  line.destroy();
  const { action, stdout_json: output, stderr } = JSON.parse(heard).payload;
  if (action === "json_output") process.stdout.write(JSON.stringify(output));
  if (action === "block_with_stderr") {
    process.stderr.write(stderr);
    process.exitCode = 2;
  }
});
