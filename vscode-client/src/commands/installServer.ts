/** "Install the Server": into an environment of the extension's own, after showing the very commands. */

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { neutralFolder, privateEnvironment, programIn, surroundings } from "../server/choose";
import { type InstallPlan, planInstall, PYTHONS, typed } from "../server/installPlan";
import { pythonInterpreter } from "../server/interpreter";
import { expandCommand, findOnPath } from "../server/paths";
import { probe, serverEnvironment } from "../server/probe";
import { HAS_GROUPS, signalGroup } from "../server/processGroup";
import { LineSplitter } from "../server/stderrLines";
import { MINIMUM_PYTHON } from "../server/versions";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { Tried } from "../tried";

const INSTALL = "Install";
const END_MS = 2_000;

export async function installServer(tried: Tried): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage("In Restricted Mode nothing is installed. Trust the workspace first.");
    return;
  }
  const { context } = tried;
  const cwd = await neutralFolder(context);
  const environment = privateEnvironment(context);
  const plan = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "Looking for Python" }, async () =>
    planInstall(await pythons(), (candidate) => probe(candidate, cwd, new AbortController().signal), {
      environment,
      pythonInside: programIn(environment, "python"),
      wheel: bundledWheel(context),
    }),
  );
  if (!("commands" in plan)) {
    const looked = plan.tried.length > 0 ? ` Looked at ${plan.tried.join(", ")}.` : "";
    const message = `Tried needs Python ${MINIMUM_PYTHON} or newer, and found none.${looked}`;
    const button = await vscode.window.showErrorMessage(inert(line(message, 600)), "Open the Guide");
    if (button !== undefined) await vscode.commands.executeCommand("tried.openGuide");
    return;
  }
  const detail = `These commands are run, and nothing else:\n\n${plan.commands.map(typed).join("\n\n")}\n\nThe second one may download packages.`;
  const button = await vscode.window.showInformationMessage("Install the server of Tried?", { modal: true, detail }, INSTALL);
  if (button !== INSTALL) return;
  await run(tried, plan, environment, cwd);
}

async function run(tried: Tried, plan: InstallPlan, environment: string, cwd: string): Promise<void> {
  const wasThere = fs.existsSync(environment);
  const options = { location: vscode.ProgressLocation.Notification, title: "Installing the server of Tried", cancellable: true };
  try {
    const isDone = await vscode.window.withProgress(options, async (progress, token) => {
      for (const command of plan.commands) {
        progress.report({ message: inert(line(typed(command), 120)) });
        await execute(command, cwd, tried.log, token, (message) => {
          progress.report({ message: inert(line(message, 120)) });
        });
        if (token.isCancellationRequested) return false;
      }
      return true;
    });
    if (isDone) {
      tried.log.info("the server was installed");
      await tried.restart(true);
      return;
    }
    tried.log.info("the installation was cancelled");
  } catch (error) {
    const message = `The server could not be installed: ${reasonOf(error)}`;
    tried.log.error(message);
    void vscode.window.showErrorMessage(inert(line(message, 600)), "Show Logs").then((button) => {
      if (button !== undefined) tried.log.show(true);
    });
  }
  if (!wasThere) await fs.promises.rm(environment, { recursive: true, force: true }); // half an environment is none
}

/** Throws with the last words of a command that fails; a cancelled one is ended, and that is no failure. */
function execute(
  command: readonly string[],
  cwd: string,
  log: vscode.LogOutputChannel,
  token: vscode.CancellationToken,
  tell: (line: string) => void,
): Promise<void> {
  log.info(`running ${typed(command)}`);
  return new Promise((resolve, reject) => {
    const lines = new LineSplitter((line) => {
      log.info(`[install] ${line}`);
      if (line.trim() !== "") tell(line);
    });
    const [program = "", ...args] = command;
    const child = spawn(program, args, {
      cwd,
      env: { ...serverEnvironment(), PIP_PROGRESS_BAR: "off" },
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      detached: HAS_GROUPS,
    });
    let stubborn: NodeJS.Timeout | undefined;
    const cancelled = token.onCancellationRequested(() => {
      signalGroup(child, "SIGTERM");
      stubborn = setTimeout(() => {
        signalGroup(child, "SIGKILL");
      }, END_MS);
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        lines.push(chunk);
      });
    }
    child.once("error", reject);
    child.once("close", (code) => {
      cancelled.dispose();
      clearTimeout(stubborn);
      lines.end();
      if (code === 0 || token.isCancellationRequested) resolve();
      else reject(new Error(lastWords(lines.last) || `${typed(command)} failed with exit status ${code ?? "unknown"}`));
    });
  });
}

function lastWords(lines: readonly string[]): string {
  const errors = lines.filter((line) => /error/i.test(line));
  return (errors.at(-1) ?? lines.at(-1) ?? "").trim().slice(0, 300);
}

/** The interpreter of the settings, then the Python extension's, then those on PATH. */
async function pythons(): Promise<string[]> {
  const around = surroundings();
  const set = expandCommand(vscode.workspace.getConfiguration("tried").get<unknown>("interpreter"), around);
  const chosen = await pythonInterpreter(vscode.workspace.workspaceFolders?.[0]?.uri);
  const named = [set, chosen].flatMap((one) => (one !== undefined && "path" in one && one.args.length === 0 ? [one.path] : []));
  return [...named, ...PYTHONS.flatMap((name) => findOnPath(name, around) ?? [])];
}

/** A wheel inside the extension is what fits it best. */
function bundledWheel(context: vscode.ExtensionContext): string | undefined {
  const folder = path.join(context.extensionPath, "bundled");
  if (!fs.existsSync(folder)) return undefined;
  const wheel = fs.readdirSync(folder).find((name) => /^tried-.*\.whl$/.test(name));
  return wheel === undefined ? undefined : path.join(folder, wheel);
}
