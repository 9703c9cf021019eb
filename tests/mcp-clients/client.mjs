// A client in Node: reads in lines of JSON what to do, and writes results, progress and questions as such lines.
//
// Usage: client.mjs NODE_MODULES {"package": "client" | "sdk", "mode", "asks", "words" and "env" | "url"}
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, text] = process.argv.slice(2);
const about = JSON.parse(text);
const { resolve } = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(resolve(`@modelcontextprotocol/${name}`)));
const isNew = about.package === "client";
const { Client } = await load(isNew ? "client" : "sdk/client/index.js");
const { StdioClientTransport } = await load(isNew ? "client/stdio" : "sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = await load(isNew ? "client" : "sdk/client/streamableHttp.js");

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const capabilities = about.asks ? { elicitation: {} } : {};
const mode = ["legacy", "auto"].includes(about.mode) ? about.mode : { pin: about.mode };
const client = new Client({ name: "client.mjs", version: "1" }, { capabilities, versionNegotiation: { mode } });

const answers = new Map();
if (about.asks) {
    const ask = ({ params }) =>
        new Promise((resolve) => {
            answers.set(answers.size, resolve);
            say({ question: answers.size - 1, params });
        });
    const method = "elicitation/create";
    const what = isNew ? method : (await load("sdk/types.js")).ElicitRequestSchema;
    client.setRequestHandler(what, ask);
}

const [command, ...args] = about.words ?? [];
const transport = about.url
    ? new StreamableHTTPClientTransport(new URL(about.url))
    : new StdioClientTransport({ command, args, env: about.env });
await client.connect(transport);
// The older SDK does not keep the version over pipes, and knows only one.
const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? "2025-11-25";
say({ ready: { version, instructions: client.getInstructions() } });

const stops = new Map();
async function work({ id, method, params }) {
    const stop = new AbortController();
    stops.set(id, stop);
    const options = { signal: stop.signal, timeout: 60_000, onprogress: (progress) => say({ id, progress }) };
    // The older SDK takes the form of the result as the second argument of this one.
    const more = method === "callTool" && !isNew ? [undefined, options] : [options];
    if (method !== "callTool") delete options.onprogress;
    try {
        say({ id, result: await client[method](params ?? undefined, ...more) });
    } catch (error) {
        say({ id, error: { code: error.code, message: String(error) } });
    }
    stops.delete(id);
}

for await (const line of createInterface({ input: process.stdin })) {
    const said = JSON.parse(line);
    if ("cancel" in said) stops.get(said.cancel)?.abort("cancelled");
    else if ("answer" in said) answers.get(said.answer)(said.result);
    else work(said);
}
await client.close();
process.exit(0);
