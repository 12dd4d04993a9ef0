import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { parseAnswer, probe } from "../../src/server/probe";

let folder = "";
before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "tried-probe-"));
});
after(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

function script(name: string, text: string): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

function ask(file: string, isInterpreter = false) {
  return probe({ origin: "onPath", path: file, args: [], isInterpreter }, folder, new AbortController().signal);
}

test("answers are taken line by line", () => {
  assert.deepEqual(parseAnswer("warning: x\npython 3.12.1\r\ntried 0.4.0\n"), { python: "3.12.1", server: "0.4.0" });
  assert.deepEqual(parseAnswer("python 3.12.1\nproblem ModuleNotFoundError No module named 'tried'"), {
    python: "3.12.1",
    problem: "it has no tried",
  });
  assert.deepEqual(parseAnswer("problem ModuleNotFoundError No module named 'numpy'"), {
    problem: "tried cannot be imported: ModuleNotFoundError No module named 'numpy'",
  });
  assert.deepEqual(parseAnswer("tried hard, and failed"), {});
});

test("programs that are no server say why", { skip: process.platform === "win32" && "shell scripts" }, async () => {
  assert.deepEqual(await ask(script("good", "echo tried 0.2.0")), { server: "0.2.0" });
  assert.deepEqual(await ask(script("silent", "exit 0")), {});
  assert.deepEqual(await ask(script("fails", "echo boom >&2; exit 3")), { problem: "it failed: boom" });
  assert.deepEqual(await ask(script("status", "exit 3")), { problem: "it failed with exit status 3" });
  assert.deepEqual(await ask(path.join(folder, "none")), { problem: "there is no such file" });
  assert.deepEqual(await ask("/a\0b"), { problem: "that is no path" });
  const plain = path.join(folder, "plain");
  fs.writeFileSync(plain, "", { mode: 0o644 });
  assert.deepEqual(await ask(plain), { problem: "it cannot be executed" });
});

test("an interpreter imports nothing that lies in the current folder", { skip: !hasPython() && "no python3" }, async () => {
  const mark = path.join(folder, "imported");
  for (const name of ["tried.py", "sitecustomize.py", "encodings.py"]) {
    fs.writeFileSync(path.join(folder, name), `open(${JSON.stringify(mark)}, "w").close()\n__version__ = "9.9.9"\n`);
  }
  const told = await ask("python3", true);
  assert.match(told.python ?? "", /^3\.\d+\.\d+$/);
  assert.notEqual(told.server, "9.9.9");
  assert.equal(fs.existsSync(mark), false);
});

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"]);
    return true;
  } catch {
    return false;
  }
}
