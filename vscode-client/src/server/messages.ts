/** What a person is told about the choice of the server. */

import * as vscode from "vscode";
import { inert, line } from "../text";
import type { Tried } from "../tried";
import type { Chosen } from "./choose";
import { complaints } from "./find";
import { MINIMUM_PYTHON, MINIMUM_SERVER } from "./versions";

const LONGEST = 600;
/** So long a Python extension that is slow to start is given before anything is said. */
const LATE_MS = 15_000;
const INSTALL = "Install the Server…";
const GUIDE = "Open the Guide";
const INFORMATION = "Debug Information";

/** Each is said once, until the window is loaded anew: restarts do not repeat it, but for those that a person asks for. */
const said = new Set<string>();

/** Somebody wants to know: what was said before is said again. */
export function forgetWhatWasSaid(): void {
  said.clear();
}

/** Writes down what was passed over, and says what needs doing. Waits for no answer. */
export function tell(chosen: Chosen, tried: Tried): void {
  for (const { what, why } of chosen.rejected) tried.log.info(`passed over ${what}: ${why}`);
  const faults = complaints(chosen).map(({ what, why }) => `${what}: ${why}.`);
  if (chosen.candidate !== undefined) {
    if (faults.length > 0) {
      const message = `Tried uses the server at ${chosen.candidate.path}. Passed over ${faults.join(" ")}`;
      say("warning", message, [INFORMATION, "Open Settings"]);
    }
  } else if (!vscode.workspace.isTrusted) {
    tried.log.warn(chosen.reason);
    say("information", `Tried does nothing in Restricted Mode: ${chosen.reason}.`, ["Manage Workspace Trust", GUIDE]);
  } else {
    tried.log.warn(`no server was found; needed: tried ${MINIMUM_SERVER} in Python ${MINIMUM_PYTHON}, or newer`);
    const needed = `Tried needs its server, tried ${MINIMUM_SERVER} or newer in Python ${MINIMUM_PYTHON} or newer, and found none.`;
    const looked = chosen.rejected.map(({ what, why }) => `${what}: ${why}`).join("; ");
    const isLate = chosen.asked !== undefined && "isLate" in chosen.asked; // the extension's choice may still come
    setTimeout(
      () => {
        if (tried.state === "missing") say("warning", `${needed} Looked at ${looked}.`, [INSTALL, INFORMATION, GUIDE]);
      },
      isLate ? LATE_MS : 0,
    );
  }
}

function say(kind: "warning" | "information", message: string, buttons: string[]): void {
  if (said.has(message)) return;
  said.add(message);
  const show = kind === "warning" ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  // In a message VS Code makes links of Markdown, and these can run commands; paths come from anywhere.
  void show(inert(line(message, LONGEST)), ...buttons).then((button) => {
    if (button !== undefined) void vscode.commands.executeCommand(COMMANDS[button] ?? "tried.showLogs");
  });
}

const COMMANDS: Record<string, string> = {
  [INSTALL]: "tried.installServer",
  [GUIDE]: "tried.openGuide",
  [INFORMATION]: "tried.debugInformation",
  "Open Settings": "tried.openSettings",
  "Manage Workspace Trust": "workbench.trust.manage",
};
