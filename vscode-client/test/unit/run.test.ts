import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import os from "node:os";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type * as vscode from "vscode";
import { ServerRun } from "../../src/server/run";

const LOG = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined } as unknown as vscode.LogOutputChannel;

const runs: ServerRun[] = [];

test.after(() => Promise.all(runs.map((run) => run.end())));

function started(script: string): ServerRun {
  const env = { PATH: process.env.PATH ?? "" };
  const run = new ServerRun({ command: process.execPath, args: ["-e", script], cwd: os.tmpdir(), env }, {}, LOG);
  runs.push(run);
  return run;
}

/** One that nobody has fetched yet (Z) is dead. */
function isAlive(pid: number): boolean {
  return /^[^Z]/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim());
}

/** A launcher, the server that it starts, and neither answers nor goes when it is asked to. */
const HANGING = `
const child = require("node:child_process").spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: "ignore" });
process.on("SIGTERM", () => {});
console.error("child " + child.pid);
setInterval(() => {}, 1000);
`;

test("of a server that hangs at start nothing is left, nor of what it had started", { skip: process.platform === "win32" && "no process groups" }, async () => {
  const run = started(HANGING);
  const { pid = 0 } = run;
  for (let round = 0; round < 100 && !run.lastWords.includes("child"); round++) await pause(50);
  const child = Number(/child (\d+)/.exec(run.lastWords)?.[1]);
  assert.ok(isAlive(pid) && isAlive(child));
  const began = performance.now();
  await assert.rejects(run.start(300), /did not answer within 0.3 seconds/);
  assert.ok(performance.now() - began < 3_300);
  for (let round = 0; round < 20 && isAlive(child); round++) await pause(50);
  assert.deepEqual([isAlive(pid), isAlive(child)], [false, false]);
  assert.equal(run.endedByItself, false);
});

test("a server that ends at once is told of with its last words", async () => {
  const run = started("console.error('no module named x'); process.exit(3)");
  await assert.rejects(run.start(5_000), /ended before it answered \(exit status 3\)/);
  assert.equal(run.lastWords, "no module named x");
});

test("a program that is not there is told of, too", async () => {
  const run = new ServerRun({ command: "/nonexistent/tried", args: [], cwd: os.tmpdir(), env: {} }, {}, LOG);
  assert.match(await run.gone, /ENOENT/);
  await run.end();
});
