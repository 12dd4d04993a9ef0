import assert from "node:assert/strict";
import { test } from "node:test";
import { recordArguments } from "../../src/commands/arguments";
import { CrashHistory } from "../../src/server/crashes";
import { planInstall, typed } from "../../src/server/installPlan";
import { cell, code, withoutSecrets } from "../../src/server/redact";
import { statusWords } from "../../src/server/statusWords";
import { LineSplitter, parseLine } from "../../src/server/stderrLines";
import { isOlder } from "../../src/server/versions";
import type { FolderStatus, SourceStatus } from "../../src/protocol";

test("a server that ends by itself is started five times in three minutes, each time later", () => {
  const history = new CrashHistory();
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((second) => history.next(second * 1_000)),
    [500, 1_000, 2_000, 5_000, 10_000, undefined],
  );
  assert.equal(history.next(179_999), undefined);
  assert.equal(history.next(180_000), 10_000, "the first one is three minutes ago");
  history.forget();
  assert.equal(history.next(180_001), 500);
});

test("versions are compared by their numbers", () => {
  for (const older of ["0.0.9", "0.1", "0.1.9rc1", "", "nonsense"]) assert.equal(isOlder(older, "0.2.0"), true, older);
  for (const newer of ["0.2", "0.2.0", "0.2.0.dev1", "0.10.0", "1.0"]) assert.equal(isOlder(newer, "0.2.0"), false, newer);
  assert.equal(isOlder("3.9.18", "3.11"), true);
  assert.equal(isOlder("3.11.0", "3.11"), false);
});

test("lines of the log come apart with their level, however they arrive", () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), 2);
  for (const chunk of ["a", "b\r\nc", "\n\nrest"]) splitter.push(chunk);
  splitter.end();
  assert.deepEqual(lines, ["ab", "c", "", "rest"]);
  assert.deepEqual(splitter.last, ["", "rest"]);
  assert.deepEqual(parseLine("2026-01-02 03:04:05,678 WARNING tried.lsp: slow"), { level: "warn", text: "tried.lsp: slow" });
  assert.deepEqual(parseLine("ModuleNotFoundError: x"), { level: "info", text: "ModuleNotFoundError: x" });
});

test("a line without an end does not grow for ever", () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (let count = 0; count < 100; count++) splitter.push("x".repeat(1_000));
  splitter.push("\n");
  assert.deepEqual(lines.map((line) => line.length), [4_000]);
});

test("secrets are not shown, and the name of a variable is", () => {
  const settings = {
    remote: [{ address: "https://ada:hunter2@mlflow.example.org/x?api_key=abc&y=1", token_variable: "MLFLOW_TOKEN", token: "abc" }],
    password: { nested: "abc" },
    limit: 3,
  };
  assert.deepEqual(withoutSecrets(settings), {
    remote: [{ address: "https://(not shown)@mlflow.example.org/x?api_key=(not shown)&y=1", token_variable: "MLFLOW_TOKEN", token: "(not shown)" }],
    password: "(not shown)",
    limit: 3,
  });
});

test("other people's texts stay one line of text in Markdown", () => {
  assert.equal(cell("a\n# b | [c](command:x) `d` <img>"), "a # b \\| \\[c\\](command:x) \\`d\\` \\<img\\>");
  assert.equal(cell("x".repeat(400)).length, 301);
  assert.equal(code("/tmp/a`b|c"), "`/tmp/a'b\\|c`");
});

function source(counts: Partial<SourceStatus>): SourceStatus {
  return { skipped: [], records: 0, dead_ends: 0, ...counts } as SourceStatus;
}

function folder(told: Partial<FolderStatus>): FolderStatus {
  return { path: "/w", state: "ready", progress: null, sources: [], notes: [], consents: [], totals: null, ...told };
}

test("the status says what is being read, what was found, and what is wrong", () => {
  const reading = statusWords("running", [
    folder({ state: "reading", progress: { done: 1_200, total: 10_000, what: "mlflow.db" } }),
    folder({ state: "reading", progress: { done: 1, total: 2, what: "other" } }),
  ]);
  assert.deepEqual([reading.text, reading.detail, reading.isBusy], ["Tried: reading 1,201 of 10,002", "mlflow.db", true]);
  const odd = folder({ state: "reading", progress: { done: 0, total: 0, what: "$(error) [x](command:workbench.action.quit)\u202e" } });
  assert.equal(statusWords("running", [odd]).detail, "$\u200b(error) [x]\u200b(command:workbench.action.quit)⟨202E⟩", "VS Code makes links of it");
  const ready = statusWords("running", [folder({ totals: { records: 12_345, dead_ends: 1 } })]);
  assert.deepEqual([ready.text, ready.detail, ready.severity], ["Tried: 12,345 experiments", "1 dead end", "information"]);
  const faulty = statusWords("running", [
    folder({ totals: { records: 1, dead_ends: 0 }, sources: [source({ skipped: [{ where: "a", why: "b" }] })], consents: [{ path: "/x", named_by: "y" }] }),
  ]);
  assert.equal(faulty.text, "Tried: 1 experiment");
  assert.equal(faulty.detail, "0 dead ends · 1 not read · 1 waits for your consent");
  assert.equal(faulty.severity, "warning");
  assert.equal(statusWords("running", []).text, "Tried: ready");
  assert.equal(statusWords("failed", []).severity, "error");
  assert.equal(statusWords("starting", []).isBusy, true);
});

test("the first Python that is new enough is planned with", async () => {
  const versions: Record<string, string> = { "/a/python": "3.9.2", "/b/python": "3.12.0" };
  const asked: string[] = [];
  const plan = await planInstall(
    ["/none", "/a/python", "/a/python", "/b/python", "/c/python"],
    ({ path }) => {
      asked.push(path);
      return Promise.resolve(versions[path] === undefined ? {} : { python: versions[path] });
    },
    { environment: "/store/my server", pythonInside: "/store/my server/bin/python", wheel: undefined },
  );
  assert.deepEqual(asked, ["/none", "/a/python", "/b/python"]);
  assert.ok("commands" in plan);
  assert.deepEqual(plan.commands.map(typed), [
    '/b/python -m venv "/store/my server"',
    '"/store/my server/bin/python" -m pip install --disable-pip-version-check --no-input --upgrade "tried>=0.1.0"',
  ]);
});

test("where no Python will do, those that were looked at are named", async () => {
  const plan = await planInstall(["/a/python"], () => Promise.resolve({ python: "3.9.2" }), {
    environment: "/e",
    pythonInside: "/e/python",
    wheel: "/w.whl",
  });
  assert.deepEqual(plan, { tried: ["/a/python (Python 3.9.2)"] });
});

test("a command finds its record in arguments and rows, and nowhere else", () => {
  assert.deepEqual(recordArguments({ record: "mlflow:1", uri: "file:///a", label: "x" }), { record: "mlflow:1", uri: "file:///a" });
  assert.deepEqual(recordArguments({ record: "mlflow:1", uri: 3 }), { record: "mlflow:1" });
  for (const given of [undefined, null, "mlflow:1", {}, { record: "" }, { path: "/a" }]) assert.equal(recordArguments(given), undefined);
});
