// A program that answers as `tried` does on the command line, and as a server is told to behave:
//   node fake-server.mjs silent …   speaks the protocol and reports nothing
//   node fake-server.mjs hang …     never answers
//   node fake-server.mjs old …      says that it is of a version long gone
//   node fake-server.mjs mark FILE …  leaves a mark in FILE: it was run
import fs from "node:fs";

const [kind, ...rest] = process.argv.slice(2);
if (kind === "mark") fs.appendFileSync(rest.shift(), `${process.pid} ${rest.join(" ")}\n`);
if (rest.includes("--version")) {
  console.log(kind === "old" ? "tried 0.0.1" : "tried 99.0.0");
  process.exit(0);
}
let received = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  received = Buffer.concat([received, chunk]);
  for (;;) {
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: *(\d+)/i.exec(received.subarray(0, end).toString())?.[1]);
    if (received.length < end + 4 + length) return;
    const message = JSON.parse(received.subarray(end + 4, end + 4 + length).toString());
    received = received.subarray(end + 4 + length);
    if (kind !== "hang") answer(message);
  }
});
process.stdin.on("end", () => process.exit(0));

function answer({ id, method }) {
  if (method === "exit") process.exit(0);
  if (id === undefined || method === undefined) return;
  if (method === "initialize") {
    const provider = { identifier: "tried", interFileDependencies: false, workspaceDiagnostics: false };
    const capabilities = { textDocumentSync: 2, hoverProvider: true, diagnosticProvider: provider };
    reply(id, { capabilities, serverInfo: { name: "tried", version: "99.0.0" } });
  } else if (method === "textDocument/diagnostic") reply(id, { kind: "full", items: [] });
  else reply(id, null);
}

function reply(id, result) {
  const body = JSON.stringify({ jsonrpc: "2.0", id, result });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
