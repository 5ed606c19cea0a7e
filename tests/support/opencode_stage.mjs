// Plays a scene to our plugin in the runtime that OpenCode brings: BUN_BE_BUN=1 opencode run THIS PLUGIN.
// Standard input is {steps, copies, delays}. A step is {before} or {after} (a call's hook), {prompt}, {event},
// {together: [steps]}, or {until: N}, which waits for N answers to OpenCode. What came of each is printed.
import { pathToFileURL } from "node:url";

const [plugin] = process.argv.slice(2);
const scene = JSON.parse(await Bun.stdin.text());
const answers = [];
const late = () => new Promise((done) => setTimeout(done, 5));

const client = {
  session: { get: async ({ path }) => ({ data: { id: path.id, parentID: scene.parents?.[path.id] } }) },
  _client: {
    post: async ({ url, body, query }) => {
      answers.push({ url, body, query });
      return { response: { status: scene.taken ?? 200 } };
    },
  },
};
const module = await import(pathToFileURL(plugin));
const context = { client, directory: "/home/dev/project", serverUrl: new URL("http://127.0.0.1:9/") };
const hooks = [];
for (let copy = 0; copy < (scene.copies ?? 1); copy += 1) hooks.push(await module.Crabhook(context));
const [first] = hooks;

async function play(step) {
  if (step.together) return Promise.all(step.together.map(play));
  if (step.event) {
    for (const copy of hooks) await copy.event({ event: step.event });
    return "told";
  }
  if (step.until !== undefined) {
    for (let turn = 0; answers.length < step.until && turn < 2000; turn += 1) await late();
    return answers.length;
  }
  if (step.pause) return new Promise((done) => setTimeout(() => done("paused"), step.pause));
  if (step.prompt) return first["chat.message"]({ sessionID: step.session }, { parts: [{ type: "text", text: step.prompt }] });
  if (step.after) {
    await first["tool.execute.after"](step.after.input, step.after.output);
    return step.after.output;
  }
  const output = { args: step.before.args };
  try {
    await first["tool.execute.before"](step.before.input, output);
  } catch (error) {
    return { threw: error.message };
  }
  return { ran: output.args };
}

const results = [];
for (const step of scene.steps) results.push((await play(step)) ?? "done");
console.log(JSON.stringify({ results, answers }));
process.exit(0);
