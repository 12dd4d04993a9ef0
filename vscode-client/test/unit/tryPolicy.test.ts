import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import * as vscode from "vscode";
import { knobsPrompt, policyItems, type PolicyItem, registerTryPolicy } from "../../src/policies/tryPolicy";
import type { Policies, Ranking, RelatedParams } from "../../src/protocol";
import type { Tried } from "../../src/tried";
import { noted } from "../fake/vscode";
import { DEFAULT, named, POLICIES, ranked, ranking, STEADY } from "./policyData";
import { URI } from "./viewData";

const METHOD_NOT_FOUND = Object.assign(new Error("Method Not Found: tried/policies"), { code: -32601 });

type Fake = Record<string, unknown>;

interface Box {
  value: string;
  prompt: string;
  validationMessage: string | undefined;
}

/** A server that answers so, and a person who chooses so. */
interface Given {
  policies?: () => Policies | null | undefined;
  related?: (params: RelatedParams) => Ranking | null | undefined;
  document?: boolean;
  pick?: (items: PolicyItem[]) => PolicyItem | undefined;
  /** What is written into the input box, one after the other; then it is left. */
  written?: string[];
}

const asked: RelatedParams[] = [];
const diffs: { title: string; before: string; after: string }[] = [];
const complaints: string[] = [];
let provide: (uri: unknown) => string = () => "";

beforeEach(() => {
  for (const list of [asked, diffs, complaints, noted.messages]) list.length = 0;
});

(vscode.Uri as unknown as Fake).from = (parts: unknown) => parts;
(vscode.workspace as unknown as Fake).asRelativePath = () => "configs/base.yaml";
(vscode.workspace as unknown as Fake).registerTextDocumentContentProvider = (_: string, provider: { provideTextDocumentContent: (uri: unknown) => string }) => {
  provide = (uri) => provider.provideTextDocumentContent(uri);
  return new vscode.Disposable(() => undefined);
};

async function run(given: Given = {}): Promise<void> {
  (vscode.commands as unknown as Fake).executeCommand = (id: string, left: unknown, right: unknown, title: string) => {
    if (id === "vscode.diff") diffs.push({ title, before: provide(left), after: provide(right) });
    return Promise.resolve(undefined);
  };
  (vscode.window as unknown as Fake).showQuickPick = (items: PolicyItem[]) => Promise.resolve(given.pick?.(items));
  (vscode.window as unknown as Fake).createInputBox = () => inputBox(given.written ?? []);
  const tried = {
    activeConfig: { document: given.document === false ? undefined : { uri: { toString: () => URI } } },
    sendRequest: (method: string, params: RelatedParams): Promise<unknown> => {
      if (method === "tried/policies") return answered(() => (given.policies === undefined ? POLICIES : given.policies()));
      asked.push(params);
      return answered(() => (given.related ?? related)(params));
    },
  } as unknown as Tried;
  const registered = registerTryPolicy(tried);
  try {
    await noted.run.get("tried.tryPolicy")?.();
  } finally {
    registered.dispose();
  }
}

function answered(answer: () => unknown): Promise<unknown> {
  return new Promise((resolve) => {
    resolve(answer());
  });
}

/** The policy in force has EXP-1 first, any other EXP-2. */
function related({ policy, set }: RelatedParams): Ranking {
  const [first, second] = [ranked("EXP-1", 0.9), ranked("EXP-2", 0.8)];
  if (policy === undefined && set === undefined) return ranking([first, second]);
  const knobs = policy === "steady" ? STEADY : { ...DEFAULT, half_life_days: 90 };
  return ranking([second, first], { policy_id: "0123", policy: { name: policy ?? "default", policy_id: "0123", ...knobs } });
}

function inputBox(written: string[]): unknown {
  const left = [...written];
  let accept: (() => void) | undefined;
  let changed: (() => void) | undefined;
  let hidden: (() => void) | undefined;
  let message: string | undefined;
  const next = (): void => {
    const text = left.shift();
    if (text === undefined) hidden?.();
    else {
      changed?.();
      box.value = text;
      accept?.();
    }
  };
  const box: Box & Fake = {
    value: "",
    prompt: "",
    get validationMessage() {
      return message;
    },
    set validationMessage(text: string | undefined) {
      message = text;
      if (text === undefined) return;
      complaints.push(text);
      setImmediate(next);
    },
    onDidChangeValue: (listener: () => void) => (changed = listener),
    onDidAccept: (listener: () => void) => (accept = listener),
    onDidHide: (listener: () => void) => (hidden = listener),
    show: () => setImmediate(next),
    hide: () => hidden?.(),
    dispose: () => undefined,
  };
  return box;
}

const choose = (name: string) => (items: PolicyItem[]) => items.find(({ label }) => label === name);

test("the policies are offered with their ids, which one is in force, and what they change", () => {
  const items = policyItems(POLICIES).map(({ label, description, detail }) => [label, description, detail]);
  assert.deepEqual(items, [
    ["default", "id-of-default · in force", "the default"],
    ["steady", "id-of-steady", "lexical_bonus.enabled = true, hit_boost.enabled = true, decay_penalty.enabled = true"],
    ["fresh", "id-of-fresh · of your own", "half_life_days = 3, ttl_days = 365"],
    ["", undefined, undefined],
    ["Change one knob…", "of the policy in force, for this once", undefined],
  ]);
});

test("names of policies draw no icons in the list, and their knobs none in the prompt", () => {
  const [item] = policyItems({ policies: [named("$(zap)\n", { "$(x)": 1 })] });
  assert.equal(item?.label, "$\u200b(zap)");
  assert.equal(item.detail, "$\u200b(x) = 1");
  assert.match(knobsPrompt(named("x", DEFAULT)), /half_life_days = 30, .*hit_boost\.tau_days = 14, .*ttl_days = none$/);
});

test("the rankings by the policy in force and by the chosen one are shown side by side", async () => {
  await run({ pick: choose("steady") });
  assert.deepEqual(asked, [
    { textDocument: { uri: URI }, limit: 50, policy: "steady" },
    { textDocument: { uri: URI }, limit: 50 },
  ]);
  assert.equal(diffs.length, 1);
  const [{ title, before, after } = { title: "", before: "", after: "" }] = diffs;
  assert.equal(title, "default ↔ steady: configs/base.yaml");
  assert.match(before, /^Ranked by the policy in force: default \(id-of-default\)\n[\s\S]*\n1\. EXP-1 {2}run EXP-1 {2}\(goes to 2\)\n/);
  assert.match(after, /^Ranked for once by: steady \(0123\)\n[\s\S]*\n1\. EXP-2 {2}run EXP-2 {2}\(came from 2\)\n/);
  assert.deepEqual(noted.messages, []);
});

test("a knob that the server refuses is told in the box, until it is one that it knows", async () => {
  const refused = "half_life: unknown knob; did you mean half_life_days?";
  await run({
    pick: choose("Change one knob…"),
    written: ["half_life", "half_life=90", "half_life_days=90"],
    related: (params) => {
      if (params.set !== undefined && "half_life" in params.set) throw Object.assign(new Error(`${refused}\n$(zap)`), { code: -32602 });
      return related(params);
    },
  });
  assert.deepEqual(complaints, ["“half_life” is no knob with a value: write knob=value, such as half_life_days=90.", `${refused} $\u200b(zap)`]);
  assert.deepEqual(asked.map(({ set }) => set), [{ half_life: "90" }, { half_life_days: "90" }, undefined]);
  assert.equal(diffs[0]?.title, "default ↔ default with half_life_days = 90: configs/base.yaml");
  assert.deepEqual(noted.messages, []);
});

test("Escape in either step leaves everything as it was", async () => {
  await run({ pick: () => undefined });
  await run({ pick: choose("Change one knob…"), written: [] });
  assert.deepEqual([asked, diffs, noted.messages], [[], [], []]);
});

test("an older server, none at all, and no config are told in one message each", async () => {
  await run({
    policies: () => {
      throw METHOD_NOT_FOUND;
    },
  });
  await run({ policies: () => undefined });
  await run({ policies: () => null });
  await run({ document: false });
  assert.equal(noted.messages.length, 4);
  const [old = "", none = "", noConfig = "", nothingOpen = ""] = noted.messages;
  assert.match(old, /^This server of Tried knows no policies: it is older than the extension\./);
  assert.equal(none, "The server of Tried does not run.");
  assert.match(noConfig, /^Open an experiment config first/);
  assert.equal(nothingOpen, noConfig);
  assert.deepEqual(diffs, []);
});

test("a mistake that the server reports is told, whichever request it is about", async () => {
  await run({
    policies: () => {
      throw new Error("the pool\nis away");
    },
  });
  await run({
    pick: choose("steady"),
    related: () => {
      throw new Error("no policy steady");
    },
  });
  await run({ pick: choose("steady"), related: () => null });
  await run({ policies: () => ({ ...POLICIES, active: "gone", policies: [] }) });
  assert.deepEqual(noted.messages, [
    "the pool is away",
    "no policy steady",
    "Open an experiment config first: experiments are ranked for the config in the editor.",
    "The server of Tried does not say which policy is in force.",
  ]);
  assert.deepEqual(diffs, []);
});

test("where nothing is related there is nothing to compare", async () => {
  await run({ pick: choose("steady"), related: () => ranking([]) });
  assert.deepEqual(noted.messages, ["No past experiment is related to this config, whatever the policy: there is nothing to rank."]);
  assert.deepEqual(diffs, []);
});

test("a text that is no longer kept says so", () => {
  registerTryPolicy({} as Tried).dispose();
  assert.match(provide({ path: "/7/tried.txt" }), /no longer kept/);
});
