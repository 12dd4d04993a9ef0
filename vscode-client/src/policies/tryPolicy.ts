/** "Try Another Policy": how the experiments would be ranked by another policy, beside how they are. Nothing is kept. */

import * as vscode from "vscode";
import { registerCommand } from "../commands/register";
import { POLICIES, RELATED, type NamedPolicy, type Policies, type PolicyChoice, type Ranking, type RelatedParams } from "../protocol";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { Tried } from "../tried";
import { changedKnobs, defaultOf, flatKnobs, knobText, readChanges } from "./knobs";
import { RankingDocuments } from "./rankingDocuments";
import { texts } from "./rankingText";

/** More than a list shows at first: what moves in or out is seen. */
const LIMIT = 50;
const METHOD_NOT_FOUND = -32601;

const NO_SERVER = "The server of Tried does not run.";
const NO_CONFIG = "Open an experiment config first: experiments are ranked for the config in the editor.";
const TOO_OLD = "This server of Tried knows no policies: it is older than the extension. Update it, then run “Tried: Restart Server”.";
const NOTHING_RELATED = "No past experiment is related to this config, whatever the policy: there is nothing to rank.";

/** undefined in `policy`: knobs are to be changed. */
export interface PolicyItem extends vscode.QuickPickItem {
  policy?: NamedPolicy;
}

/** What was chosen, and how the server ranks by it. */
interface TriedOnce {
  chosen: NamedPolicy | undefined;
  after: Ranking;
}

export function registerTryPolicy(tried: Tried): vscode.Disposable {
  const documents = new RankingDocuments();
  return vscode.Disposable.from(
    documents,
    registerCommand("tried.tryPolicy", () => tryPolicy(tried, documents)),
  );
}

async function tryPolicy(tried: Tried, documents: RankingDocuments): Promise<void> {
  const document = tried.activeConfig.document;
  if (document === undefined) {
    void vscode.window.showInformationMessage(NO_CONFIG);
    return;
  }
  const uri = document.uri.toString();
  const policies = await policiesOf(tried, uri);
  const active = policies.policies.find(({ is_active: isActive }) => isActive) ?? policies.policies.find(({ name }) => name === policies.active);
  if (active === undefined) throw new Error("The server of Tried does not say which policy is in force.");
  const picked = await vscode.window.showQuickPick(policyItems(policies), {
    title: "Try another policy",
    placeHolder: "Both rankings are shown side by side; nothing is changed or kept",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked === undefined) return;
  const asked = picked.policy === undefined ? await askKnobs(tried, uri, active) : await rankedBy(tried, uri, picked.policy);
  if (asked === undefined) return;
  const { chosen, after } = asked;
  const before = await ranking(tried, uri, {});
  if (before.results.length === 0 && after.results.length === 0) {
    void vscode.window.showInformationMessage(NOTHING_RELATED);
    return;
  }
  await documents.show(
    texts({
      file: vscode.workspace.asRelativePath(document.uri, false),
      limit: LIMIT,
      active,
      standard: defaultOf(policies.policies)?.policy,
      chosen,
      used: after.policy ?? chosen?.policy ?? active.policy,
      usedId: after.policy_id ?? chosen?.policy_id ?? "",
      before,
      after,
    }),
  );
}

async function policiesOf(tried: Tried, uri: string): Promise<Policies> {
  let answer: Policies | null | undefined;
  try {
    answer = await tried.sendRequest<Policies | null>(POLICIES, { textDocument: { uri } });
  } catch (error) {
    throw (error as { code?: unknown }).code === METHOD_NOT_FOUND ? new Error(TOO_OLD, { cause: error }) : error;
  }
  if (answer === undefined) throw new Error(NO_SERVER);
  if (answer === null) throw new Error(NO_CONFIG);
  return answer;
}

async function ranking(tried: Tried, uri: string, choice: PolicyChoice): Promise<Ranking> {
  const params: RelatedParams = { textDocument: { uri }, limit: LIMIT, ...choice };
  const answer = await tried.sendRequest<Ranking | null>(RELATED, params);
  if (answer === undefined) throw new Error(NO_SERVER);
  if (answer === null) throw new Error(NO_CONFIG);
  return answer;
}

async function rankedBy(tried: Tried, uri: string, chosen: NamedPolicy): Promise<TriedOnce> {
  return { chosen, after: await ranking(tried, uri, { policy: chosen.name }) };
}

/** Each policy with what it changes, and behind them that single knobs can be changed. */
export function policyItems({ policies }: Pick<Policies, "policies">): PolicyItem[] {
  const standard = defaultOf(policies)?.policy;
  const named = policies.map((policy): PolicyItem => {
    const changes = changedKnobs(policy.policy, standard).map(knobText);
    const kind = policy.is_active ? "in force" : policy.is_preset ? "" : "of your own";
    return {
      label: inert(line(policy.name, 60)),
      description: inert([line(policy.policy_id, 20), kind].filter((part) => part !== "").join(" · ")),
      detail: inert(line(changes.length === 0 ? "the default" : changes.join(", "), 300)),
      policy,
    };
  });
  return [
    ...named,
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: "Change one knob…", description: "of the policy in force, for this once", alwaysShow: true, iconPath: new vscode.ThemeIcon("settings") },
  ];
}

/** Which knobs there are, with the values that they have. */
export function knobsPrompt(active: NamedPolicy): string {
  const knobs = [...flatKnobs(active.policy)].map(([knob, value]) => knobText({ knob, value }));
  return inert(line(`Several are separated by spaces. Now in force: ${knobs.join(", ")}`, 900));
}

/** Asks until the server knows what was written, or somebody leaves it. */
function askKnobs(tried: Tried, uri: string, active: NamedPolicy): Promise<TriedOnce | undefined> {
  return new Promise((resolve, reject) => {
    const box = vscode.window.createInputBox();
    box.title = "Change one knob";
    box.placeholder = "half_life_days=90 weights.lexical=0.5";
    box.prompt = knobsPrompt(active);
    box.ignoreFocusOut = true;
    let isAsking = false;

    async function accept(): Promise<void> {
      const read = readChanges(box.value);
      if ("problem" in read) {
        box.validationMessage = inert(read.problem);
        return;
      }
      isAsking = box.busy = true;
      try {
        resolve({ chosen: undefined, after: await ranking(tried, uri, { set: read.set }) });
        box.hide();
      } catch (error) {
        box.validationMessage = inert(line(reasonOf(error), 500));
      } finally {
        isAsking = box.busy = false;
      }
    }

    box.onDidChangeValue(() => {
      box.validationMessage = undefined;
    });
    box.onDidAccept(() => {
      if (!isAsking) accept().catch(reject);
    });
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
}
