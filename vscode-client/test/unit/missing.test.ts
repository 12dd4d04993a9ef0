import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chosen } from "../../src/server/choose";
import { debugInformation } from "../../src/server/debugInformation";
import { findServer, type Places } from "../../src/server/find";
import { forgetWhatWasSaid, tell } from "../../src/server/messages";
import type { Tried } from "../../src/tried";
import { noted } from "../fake/vscode";
import { MANIFEST } from "./manifest";

const NOTHING: Places = {
  isTrusted: true,
  prefersBundled: false,
  path: undefined,
  interpreter: undefined,
  pythonExtension: () => Promise.resolve({ problem: "the Python extension is not installed" }),
  onPath: undefined,
  privateServer: undefined,
  bundled: undefined,
};

const tried = {
  state: "missing",
  log: { info: () => undefined, warn: () => undefined },
  context: { extension: { packageJSON: MANIFEST } },
  sendRequest: () => Promise.resolve(undefined),
} as unknown as Tried;

async function chosen(): Promise<Chosen> {
  const found = await findServer(NOTHING, () => Promise.reject(new Error("nothing is run")), new AbortController().signal);
  return { ...found, launch: undefined, asked: undefined };
}

/** What is said when a search has ended. */
async function said(): Promise<string[]> {
  noted.messages.length = 0;
  tell(await chosen(), tried);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return [...noted.messages];
}

test("each place that was passed over is told, with why", async () => {
  assert.deepEqual(
    (await chosen()).rejected.map(({ origin, why }) => `${origin}: ${why}`),
    [
      "pythonExtension: the Python extension is not installed",
      "onPath: there is no program tried in the folders of PATH",
      "private: nothing is installed there",
      "bundled: this extension came without one",
    ],
  );
});

test("the message that none was found says where it looked", async () => {
  const [message = "", ...others] = await said();
  assert.deepEqual(others, []);
  assert.match(message, /and found none\. Looked at /);
  for (const { why } of (await chosen()).rejected) assert.ok(message.includes(why), why);
  assert.ok(message.length < 600, "nothing is cut");
});

test("it is said once, and again when a person asks for a restart", async () => {
  forgetWhatWasSaid();
  assert.equal((await said()).length, 1);
  assert.equal((await said()).length, 0);
  forgetWhatWasSaid();
  assert.equal((await said()).length, 1);
});

test("debug information names the folders of PATH where tried is in none of them", async () => {
  const before = process.env.PATH;
  process.env.PATH = "/opt/tools/bin:.:/opt/tools/bin:/usr/bin";
  try {
    const text = await debugInformation(tried, { chosen: await chosen(), pid: undefined, failure: undefined });
    assert.match(text, /- tried on PATH: there is no program tried in the folders of PATH/);
    assert.match(text, /another than that of a terminal:\n\n- `\/opt\/tools\/bin`\n- `\/usr\/bin`\n\n/);
  } finally {
    process.env.PATH = before;
  }
});
