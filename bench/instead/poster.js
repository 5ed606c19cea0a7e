// One warm Node process that posts hook inputs, as an agent made with Node does for hooks of type
// "http".  Told `agent BODY` or `fetch BODY`, it says `took NANOSECONDS MICROSECONDS-OF-CPU ANSWER`,
// the answer in base64; http.Agent and fetch both keep their connection.
"use strict";
const { Agent, request } = require("node:http");
const { createInterface } = require("node:readline");

const [, , url, authorization] = process.argv;
const headers = { "Content-Type": "application/json", Authorization: authorization };
const agent = new Agent({ keepAlive: true });

const posts = {
  agent: (body) =>
    new Promise((resolve, reject) => {
      const length = Buffer.byteLength(body);
      const asked = request(
        url,
        { method: "POST", agent, headers: { ...headers, "Content-Length": length } },
        (response) => {
          let heard = "";
          response.setEncoding("utf8");
          response.on("data", (text) => (heard += text));
          response.on("end", () => resolve(heard));
        },
      );
      asked.on("error", reject);
      asked.end(body);
    }),
  fetch: async (body) => (await fetch(url, { method: "POST", headers, body })).text(),
};

createInterface({ input: process.stdin }).on("line", async (told) => {
  const space = told.indexOf(" ");
  const post = posts[told.slice(0, space)];
  const body = told.slice(space + 1);
  const cpu = process.cpuUsage();
  const started = process.hrtime.bigint();
  const answer = await post(body);
  const nanoseconds = process.hrtime.bigint() - started;
  const { user, system } = process.cpuUsage(cpu);
  console.log(`took ${nanoseconds} ${user + system} ${Buffer.from(answer).toString("base64")}`);
}).on("close", () => process.exit());
