// The TypeScript SDK's client: it checks each structured result with ajv.
// node mcp_client.mjs NODE_MODULES COMMAND... ; prints one JSON line.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, command, ...args] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const told = { tools: tools.map((tool) => tool.name) };
for (const name of ["lines", "rows"]) {
  for (const n of [3, 50000]) {
    const result = await client.callTool({ name, arguments: { n } });
    told[`${name} ${n}`] = result.structuredContent;
  }
}
console.log(JSON.stringify(told));
await client.close();
