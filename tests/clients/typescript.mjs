// The TypeScript SDK's client behind lines of JSON: a request {method, params} a line on stdin,
// its {result} or {error: {code, message}} a line on stdout.
//
// With ASKS it declares that it can ask its user: willAnswer says what the user answers to every
// question, and questions gives those that came since.
//
//   node typescript.mjs DIRECTORY_OF_THE_SDK MODE SERVER [ASKS]

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [sdk, mode, command, asks] = process.argv.slice(2);
const require = createRequire(`${sdk}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load("@modelcontextprotocol/client");
const { StdioClientTransport, getDefaultEnvironment } = await load("@modelcontextprotocol/client/stdio");

const client = new Client(
  { name: "govforge-client-tests", version: "1" },
  {
    versionNegotiation: { mode },
    capabilities: asks ? { elicitation: { form: {} } } : {},
  },
);
let answer;
const questions = [];
if (asks) {
  client.setRequestHandler("elicitation/create", (request) => {
    questions.push(request.params);
    return answer;
  });
}
const env = { ...getDefaultEnvironment(), GOVFORGE_DB: process.env.GOVFORGE_DB };
await client.connect(new StdioClientTransport({ command, env, stderr: "inherit" }));

const methods = {
  about: () => ({
    protocolVersion: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
  }),
  willAnswer: (params) => ((answer = params), {}),
  questions: () => questions.splice(0),
  listTools: () => client.listTools(),
  callTool: (params) => client.callTool(params),
  listResources: (params) => client.listResources(params),
  listResourceTemplates: () => client.listResourceTemplates(),
  readResource: (params) => client.readResource(params),
  listPrompts: () => client.listPrompts(),
  getPrompt: (params) => client.getPrompt(params),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line);
  let reply;
  try {
    reply = { result: await methods[method](params) };
  } catch (error) {
    reply = { error: { code: error.code ?? null, message: String(error.message) } };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
await client.close();
