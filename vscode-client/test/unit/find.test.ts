import assert from "node:assert/strict";
import { test } from "node:test";
import { type Candidate, complaints, findServer, type Places, type Probe } from "../../src/server/find";

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

const EVERYTHING: Places = {
  ...NOTHING,
  path: { path: "/set/tried", args: [] },
  interpreter: { path: "/set/python", args: [] },
  pythonExtension: () => Promise.resolve({ path: "/env/python", args: [] }),
  onPath: "/usr/bin/tried",
  privateServer: "/private/tried",
  bundled: "/extension/tried",
};

const GOOD: Probe = { server: "0.1.0", python: "3.11.4" };
const NONE: Probe = { python: "3.12.1", problem: "it has no tried" };

/** Finds with these answers; those that are not listed are no server. Tells also what was run, in order. */
async function find(places: Partial<Places>, answers: Record<string, Probe>) {
  const asked: string[] = [];
  const found = await findServer(
    { ...NOTHING, ...places },
    (candidate: Candidate) => {
      asked.push(candidate.path);
      return Promise.resolve(answers[candidate.path] ?? NONE);
    },
    new AbortController().signal,
  );
  return { ...found, asked };
}

test("the places are looked at in their order, and the first that has a server is taken", async () => {
  const all = await find(EVERYTHING, {});
  assert.deepEqual(all.asked, ["/set/tried", "/set/python", "/usr/bin/tried", "/private/tried", "/extension/tried"]);
  assert.equal(all.candidate, undefined);
  assert.equal(all.rejected.length, 5);
  const order = [...all.asked];
  for (const path of order) {
    const found = await find(EVERYTHING, { [path]: GOOD, "/extension/tried": GOOD });
    assert.equal(found.candidate?.path, path);
    assert.deepEqual(found.asked, order.slice(0, order.indexOf(path) + 1));
  }
});

test("in a workspace that is not trusted only the bundled server is looked at", async () => {
  let wasAsked = false;
  const pythonExtension = () => {
    wasAsked = true;
    return Promise.resolve({ path: "/workspace/.venv/bin/python", args: [] });
  };
  const untrusted = { ...EVERYTHING, isTrusted: false, pythonExtension };
  const found = await find(untrusted, { "/extension/tried": GOOD });
  assert.deepEqual(found.asked, ["/extension/tried"]);
  assert.match(found.reason, /Restricted Mode/);
  const none = await find({ ...untrusted, bundled: undefined }, { "/set/tried": GOOD });
  assert.deepEqual(none.asked, []);
  assert.equal(none.candidate, undefined);
  assert.equal(wasAsked, false);
});

test("the Python extension is asked only where no interpreter is set and no path does", async () => {
  const extension = { ...EVERYTHING, interpreter: undefined };
  const found = await find({ ...extension, path: undefined }, { "/env/python": GOOD });
  assert.deepEqual([found.candidate?.path, found.candidate?.isInterpreter], ["/env/python", true]);
  let wasAsked = false;
  const pythonExtension = () => {
    wasAsked = true;
    return Promise.resolve({ problem: "never" });
  };
  await find({ ...extension, pythonExtension }, { "/set/tried": GOOD });
  assert.equal(wasAsked, false);
});

test("useBundled takes the bundled one before all but tried.path", async () => {
  const answers = { "/extension/tried": GOOD, "/set/python": GOOD };
  const found = await find({ ...EVERYTHING, prefersBundled: true }, answers);
  assert.equal(found.candidate?.path, "/extension/tried");
  const set = await find({ ...EVERYTHING, prefersBundled: true }, { ...answers, "/set/tried": GOOD });
  assert.equal(set.candidate?.path, "/set/tried");
});

test("a server and a Python that are too old are passed over, with what is needed and what was found", async () => {
  const found = await find(
    { path: { path: "/old/tried", args: [] }, interpreter: { path: "/old/python", args: [] }, onPath: "/usr/bin/tried" },
    { "/old/tried": { server: "0.0.9" }, "/old/python": { python: "3.9.18", server: "0.1.0" }, "/usr/bin/tried": GOOD },
  );
  assert.equal(found.candidate?.path, "/usr/bin/tried");
  assert.deepEqual(
    found.rejected.map((one) => one.why),
    ["it is tried 0.0.9; 0.1.0 or newer is needed", "it is Python 3.9.18; 3.11 or newer is needed"],
  );
  assert.equal(complaints(found).length, 2);
});

test("nobody is told of an interpreter that was only looked at, but of a setting that will not do", async () => {
  const looked = await find({ ...EVERYTHING, path: undefined, interpreter: undefined }, { "/usr/bin/tried": GOOD });
  assert.equal(looked.rejected.length, 1);
  assert.deepEqual(complaints(looked), []);
  const set = await find({ path: { problem: "${workspaceFolder} stands for nothing here" }, onPath: "/usr/bin/tried" }, { "/usr/bin/tried": GOOD });
  assert.deepEqual(
    complaints(set).map(({ what, why }) => [what, why]),
    [["tried.path", "${workspaceFolder} stands for nothing here"]],
  );
});

test("arguments of a setting stay with the command", async () => {
  const found = await find({ path: { path: "/usr/bin/uvx", args: ["tried"] } }, { "/usr/bin/uvx": GOOD });
  assert.deepEqual(found.candidate?.args, ["tried"]);
});

test("a search that was given up ends", async () => {
  const given = new AbortController();
  const search = findServer(
    EVERYTHING,
    () => {
      given.abort();
      return Promise.resolve(GOOD);
    },
    given.signal,
  );
  await assert.rejects(search, { name: "AbortError" });
});
