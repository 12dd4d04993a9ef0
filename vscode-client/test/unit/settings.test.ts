import assert from "node:assert/strict";
import { test } from "node:test";
import { type Inspected, settingsToSend, snakeCase } from "../../src/server/settings";

function sent(settings: Record<string, Inspected>, restricted: string[] = []) {
  return settingsToSend(new Map(Object.entries(settings)), new Set(restricted));
}

test("only what was set is sent, under the server's names", () => {
  const settings = {
    "findings.minimumCompared": { globalValue: 4 },
    "findings.enable": {},
    "editor.debounceMs": { globalValue: 100, workspaceValue: 50 },
    "config.include": { globalValue: ["a/*.yaml"], workspaceFolderValue: ["b/*.yaml"] },
    researchLine: { workspaceValue: "ships" },
    "pool.discover": { globalValue: false },
    "ranking.limit": { globalValue: 0 },
  };
  assert.deepEqual(sent(settings), {
    findings: { minimum_compared: 4 },
    editor: { debounce_ms: 50 },
    config: { include: ["b/*.yaml"] },
    research_line: "ships",
    pool: { discover: false },
    ranking: { limit: 0 },
  });
});

test("tables merge over the places, and their keys stay as they were written", () => {
  const severity = { globalValue: { "dead-end": "hover", nearMiss: "off" }, workspaceValue: { "dead-end": "warning" } };
  const directions = { workspaceFolderValue: { valLoss: "min" } };
  assert.deepEqual(sent({ "findings.severity": severity, "metrics.directions": directions }), {
    findings: { severity: { "dead-end": "warning", nearMiss: "off" } },
    metrics: { directions: { valLoss: "min" } },
  });
});

test("servers and sources come from the user alone", () => {
  const remote = { globalValue: [{ kind: "mlflow", intervalSeconds: 30 }], workspaceValue: [{ kind: "mlflow", address: "http://evil" }] };
  const sources = { workspaceValue: ["/etc"], workspaceFolderValue: ["/root"] };
  assert.deepEqual(sent({ remote, "pool.sources": sources }), { remote: [{ kind: "mlflow", interval_seconds: 30 }] });
});

test("what says which server is started is not sent", () => {
  const names = ["path", "interpreter", "importStrategy", "logLevel", "trace.server"];
  assert.deepEqual(sent(Object.fromEntries(names.map((name) => [name, { globalValue: "x", workspaceValue: "y" }]))), {});
});

test("a workspace that is not trusted does not set what is restricted", () => {
  const settings = { "pool.discover": { globalValue: true, workspaceValue: false }, researchLine: { workspaceValue: "ships" } };
  assert.deepEqual(sent(settings, ["pool.discover"]), { pool: { discover: true }, research_line: "ships" });
});

test("null takes a setting back", () => {
  assert.deepEqual(sent({ researchLine: { globalValue: "ships", workspaceValue: null } }), {});
});

test("names with digits and several words", () => {
  assert.equal(snakeCase("halfLifeDays"), "half_life_days");
  assert.equal(snakeCase("max2Files"), "max2_files");
});
