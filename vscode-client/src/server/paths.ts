/** Paths in settings, and programs by their names. */

import path from "node:path";

export interface Surroundings {
  home: string;
  folders: readonly { name: string; path: string }[];
  env: Readonly<Record<string, string | undefined>>;
  isWindows: boolean;
  isProgram: (path: string) => boolean;
}

/** `problem` says why there is none; one that is late may still come. */
export interface Problem {
  problem: string;
  isLate?: true;
}
export type Expanded = { path: string } | Problem;
export type Command = { path: string; args: readonly string[] } | Problem;

/** A program and its arguments, as a setting gives them; undefined: it is not set. */
export function expandCommand(value: unknown, around: Surroundings): Command | undefined {
  const words = typeof value === "string" ? [value] : Array.isArray(value) ? (value as unknown[]) : [];
  const [program, ...args] = words.filter((word) => typeof word === "string").map((word) => word.trim());
  if (program === undefined || program === "") return undefined;
  const expanded = expandPath(program, around);
  if ("problem" in expanded) return expanded;
  const filled = args.map((argument) => fill(argument, around));
  const problem = filled.find((one) => "problem" in one);
  return problem ?? { path: expanded.path, args: filled.map((one) => ("path" in one ? one.path : "")) };
}

/**
 * The path that a setting names: `~`, `${userHome}`, `${workspaceFolder}`, `${workspaceFolder:NAME}` and `${env:NAME}`
 * are filled in; what is relative lies in the first folder; a bare name is looked for on PATH.
 */
export function expandPath(value: string, around: Surroundings): Expanded {
  const inserted = fill(value.trim(), around);
  if ("problem" in inserted) return inserted;
  const filled = inserted.path;
  const paths = around.isWindows ? path.win32 : path.posix;
  if (paths.isAbsolute(filled)) return { path: paths.normalize(filled) };
  if (!/[/\\]/.test(filled)) {
    const found = findOnPath(filled, around);
    return found === undefined ? { problem: `no program of the name ${filled} is on PATH` } : { path: found };
  }
  const folder = around.folders[0];
  if (folder === undefined) return { problem: "it is a relative path, and no folder is open" };
  return { path: paths.join(folder.path, filled) };
}

function fill(text: string, around: Surroundings): Expanded {
  let problem: string | undefined;
  const path = text
    .replace(/^~(?=$|[/\\])/, () => around.home)
    .replace(/\$\{([^}]*)\}/g, (whole, name: string) => {
      const inserted = variable(name, around);
      if (inserted === undefined) problem ??= `${whole} stands for nothing here`;
      return inserted ?? "";
    });
  return problem === undefined ? { path } : { problem };
}

function variable(name: string, around: Surroundings): string | undefined {
  const [kind, argument] = name.split(/:(.*)/s);
  if (kind === "userHome") return around.home;
  if (kind === "env") return argument === undefined ? undefined : around.env[argument];
  if (kind !== "workspaceFolder") return undefined;
  const folder = argument === undefined ? around.folders[0] : around.folders.find((one) => one.name === argument);
  return folder?.path;
}

export function findOnPath(name: string, around: Surroundings): string | undefined {
  const paths = around.isWindows ? path.win32 : path.posix;
  const names = around.isWindows && !/\.\w+$/.test(name) ? [`${name}.exe`] : [name];
  for (const folder of foldersOnPath(around)) {
    const found = names.map((one) => paths.join(folder, one)).find(around.isProgram);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Relative places on PATH (such as `.`) are passed over: what they hold depends on where one is. */
export function foldersOnPath({ env, isWindows }: Pick<Surroundings, "env" | "isWindows">): string[] {
  const paths = isWindows ? path.win32 : path.posix;
  const variable = isWindows ? (env.Path ?? env.PATH) : env.PATH;
  return [...new Set((variable ?? "").split(paths.delimiter))].filter((folder) => paths.isAbsolute(folder));
}
