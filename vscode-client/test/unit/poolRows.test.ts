import assert from "node:assert/strict";
import { test } from "node:test";
import type { FolderStatus } from "../../src/protocol";
import { poolDescription, poolRows, problemsText } from "../../src/views/poolRows";
import type { Row } from "../../src/views/row";
import { folder, source } from "./viewData";

const NOW = new Date("2026-11-30T12:00:00Z");

function rows(...folders: FolderStatus[]): Row[] {
  return poolRows({ schema: "tried.status/v1", folders }, NOW);
}

function shown(given: Row[] | undefined): string[] {
  return (given ?? []).map((row) => `${row.label}|${row.description}`);
}

test("a source says how many records it has, how many are dead ends, how fresh it is", () => {
  assert.deepEqual(shown(rows(folder())), ["mlflow.db|412 records · 57 dead ends · 2 h ago"]);
});

test("below it stands how much it tells, and what else there is to know", () => {
  const [row] = rows(folder({ sources: [source({ merged: 12, amendments: 1, roles: { step: 3 }, research_line: "ship-sounds" })] }));
  assert.deepEqual(shown(row?.children?.()), [
    "\u200725 %|██ say what came of them",
    "\u2007\u20070 %|say what they come from",
    "\u200750 %|████ state an architecture",
    "100 %|████████ have a time",
    "12 runs also known from another source|",
    "1 amendment|",
    "3 pipeline steps|",
    "research line ship-sounds|",
    "mlflow|",
  ]);
});

test("an empty source has no coverage", () => {
  const [row] = rows(folder({ sources: [source({ records: 0, dead_ends: 0, newest: null })] }));
  assert.equal(row?.description, "0 records · 0 dead ends");
  assert.deepEqual(shown(row.children?.()), ["mlflow|"]);
});

test("several folders are told apart, one is not named", () => {
  const found = rows(folder(), folder({ path: "/other/night", totals: { records: 1, dead_ends: 0 } }));
  assert.deepEqual(shown(found), ["ana|412 records", "night|1 record"]);
  assert.deepEqual(shown(found[0]?.children?.()), ["mlflow.db|412 records · 57 dead ends · 2 h ago"]);
  assert.equal(poolDescription({ schema: "", folders: [folder(), folder()] }), "824 records · 114 dead ends");
});

test("one of several folders without sources offers to name one", () => {
  const [, empty] = rows(folder(), folder({ path: "/home/ana/empty", sources: [] }));
  const [row] = empty?.children?.() ?? [];
  assert.equal(row?.label, "No source was found");
  assert.deepEqual(row.command?.arguments, [{ folder: "/home/ana/empty" }]);
  assert.deepEqual(rows(folder({ sources: [] })), []);
});

test("a folder that was not read says so and can be read", () => {
  const [row] = rows(folder({ state: "unread", sources: [], totals: null }));
  assert.equal(row?.label, "Not read yet");
  assert.equal(row.command?.id, "tried.pool.rescanNow");
});

test("how far reading is", () => {
  const [row] = rows(folder({ state: "reading", progress: { done: 1200, total: 9000, what: "mlflow.db" }, sources: [source({ expected: 9000 })] }));
  assert.equal(row?.description, "1,200 of 9,000 · mlflow.db");
  const [, reading] = rows(folder({ state: "reading", progress: null, sources: [source({ expected: 9000 })] }));
  assert.equal(reading?.description, "412 records · 57 dead ends · 2 h ago · still reading, about 9,000");
});

test("what could not be read is counted, and shown up to 50 places", () => {
  const skipped = Array.from({ length: 53 }, (_, place) => ({ where: `line ${place}`, why: "no JSON" }));
  const [row] = rows(folder({ sources: [source({ skipped })] }));
  assert.match(row?.description ?? "", / · 53 problems$/);
  const problems = row?.children?.()[0];
  assert.equal(problems?.label, "Not read");
  const places = problems.children?.() ?? [];
  assert.equal(places.length, 51);
  assert.equal(places.at(-1)?.label, "+ 3 more");
  assert.equal(places.at(-1)?.command?.id, "tried.pool.showProblems");
  assert.equal(`${places[0]?.label}|${places[0]?.description}`, "no JSON|line 0");
});

test("what waits for consent, and what the search says", () => {
  const found = rows(folder({ sources: [], consents: [{ path: "/scratch/runs", named_by: "tried.toml" }], notes: [{ where: "/home/ana", why: "ended early" }] }));
  assert.deepEqual(shown(found), ["/scratch/runs|not read without your consent", "Notes about the search|1 place"]);
});

test("a server is known by its address, a path by where it lies in the folder", () => {
  const remote = source({ path: "/home/me/.cache/tried/x", address: "https://mlflow.example.org", fetched: "2026-11-30T11:00:00Z" });
  const [row, outside] = rows(folder({ sources: [remote, source({ path: "/elsewhere/mlflow.db" })] }));
  assert.equal(row?.label, "https://mlflow.example.org");
  assert.equal(row.icon?.name, "cloud");
  assert.equal(row.children?.()[0]?.label, "fetched 1 h ago");
  assert.equal(outside?.label, "/elsewhere/mlflow.db");
  assert.equal(rows(folder({ sources: [source({ name: "night/mlflow.db" })] }))[0]?.label, "night/mlflow.db");
});

test("all problems can be read as one text", () => {
  const text = problemsText({
    schema: "",
    folders: [
      folder({ sources: [source({ skipped: [{ where: "line 3\u001b[2J", why: "no JSON" }] })], notes: [{ where: "/home/ana", why: "ended early" }] }),
      folder({ path: "/other" }),
    ],
  });
  assert.equal(
    text,
    "/home/ana\n\nmlflow.db (mlflow)\n  line 3␛[2J: no JSON\n\nThe search for sources\n  /home/ana: ended early\n\n\n/other\n\nEverything that was found could be read.\n",
  );
});
