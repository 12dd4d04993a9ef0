import assert from "node:assert/strict";
import { test } from "node:test";
import { expandCommand, expandPath, findOnPath, type Surroundings } from "../../src/server/paths";

const FILES = new Set(["/usr/bin/tried", "/opt/tools/tried", "./tried", "C:\\tools\\tried.exe"]);

const HERE: Surroundings = {
  home: "/home/ada",
  folders: [
    { name: "speech", path: "/home/ana/speech" },
    { name: "ships", path: "/home/ana/ships" },
  ],
  env: { PATH: ".:relative:/opt/tools:/usr/bin", TOOLS: "/opt/tools", VENV: "" },
  isWindows: false,
  isProgram: (path) => FILES.has(path),
};

test("variables and the home folder are filled in", () => {
  const expected: [string, string][] = [
    ["~/bin/tried", "/home/ada/bin/tried"],
    ["${userHome}/bin/tried", "/home/ada/bin/tried"],
    ["${workspaceFolder}/.venv/bin/python", "/home/ana/speech/.venv/bin/python"],
    ["${workspaceFolder:ships}/.venv/bin/python", "/home/ana/ships/.venv/bin/python"],
    ["${env:TOOLS}/tried", "/opt/tools/tried"],
    [".venv/bin/../bin/tried", "/home/ana/speech/.venv/bin/tried"],
    ["  /usr/bin/tried ", "/usr/bin/tried"],
    ["/home/~/tried", "/home/~/tried"],
  ];
  for (const [value, path] of expected) assert.deepEqual(expandPath(value, HERE), { path }, value);
});

test("what stands for nothing is said", () => {
  for (const value of ["${env:NO_SUCH}/tried", "${workspaceFolder:none}/tried", "${command:x}", "${env}"]) {
    const expanded = expandPath(value, HERE);
    assert.ok("problem" in expanded && expanded.problem.includes("stands for nothing here"), value);
  }
  assert.deepEqual(expandPath("bin/tried", { ...HERE, folders: [] }), {
    problem: "it is a relative path, and no folder is open",
  });
});

test("a bare name is looked for on PATH, and never in a place that is relative", () => {
  assert.deepEqual(expandPath("tried", HERE), { path: "/opt/tools/tried" });
  assert.deepEqual(expandPath("none", HERE), { problem: "no program of the name none is on PATH" });
  assert.equal(findOnPath("tried", { ...HERE, env: { PATH: ".:" } }), undefined);
  assert.equal(findOnPath("tried", { ...HERE, env: {} }), undefined);
});

test("Windows has suffixes, backslashes and another separator", () => {
  const windows = { ...HERE, isWindows: true, home: "C:\\Users\\ada", env: { Path: "tools;C:\\tools" } };
  assert.equal(findOnPath("tried", windows), "C:\\tools\\tried.exe");
  assert.deepEqual(expandPath("~\\bin\\tried.exe", windows), { path: "C:\\Users\\ada\\bin\\tried.exe" });
});

test("a command has arguments, and none is set where there is no program", () => {
  assert.deepEqual(expandCommand(["${env:TOOLS}/uvx", "--from", "${workspaceFolder}/server", "tried"], HERE), {
    path: "/opt/tools/uvx",
    args: ["--from", "/home/ana/speech/server", "tried"],
  });
  assert.deepEqual(expandCommand("/usr/bin/tried", HERE), { path: "/usr/bin/tried", args: [] });
  for (const value of [undefined, null, [], "", [""], 3, {}, [3]]) assert.equal(expandCommand(value, HERE), undefined);
  assert.deepEqual(expandCommand(["/usr/bin/tried", "${env:NO_SUCH}"], HERE), {
    problem: "${env:NO_SUCH} stands for nothing here",
  });
});
