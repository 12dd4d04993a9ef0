import * as vscode from "vscode";

/** One line of text; undefined if it is not to be done after all. */
export async function askReason(prompt: string, mayBeEmpty: boolean, value = ""): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title: "Tried",
    prompt: mayBeEmpty ? `${prompt} May be left empty.` : prompt,
    value,
    ignoreFocusOut: true,
    validateInput: (text) => (!mayBeEmpty && text.trim() === "" ? "Say it in a few words, or press Escape." : undefined),
  });
  return answer?.trim();
}
