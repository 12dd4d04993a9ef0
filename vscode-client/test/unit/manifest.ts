/** package.json and its neighbours, read once for the tests that hold them to the code. */

import fs from "node:fs";
import path from "node:path";

/** The tests run there. */
export const CLIENT = process.cwd();
export const REPOSITORY = path.join(CLIENT, "..");

interface MenuItem {
  command?: string;
  submenu?: string;
  when?: string;
}

export interface Manifest {
  version: string;
  main: string;
  activationEvents: string[];
  extensionKind: string[];
  capabilities: { untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
  contributes: Record<string, unknown> & {
    commands: { command: string; title: string; category?: string; enablement?: string; icon?: string }[];
    configuration: { properties: Record<string, { scope?: string }> }[];
    menus: Record<string, MenuItem[]>;
    submenus: { id: string }[];
    views: Record<string, { id: string }[]>;
    viewsContainers: Record<string, { id: string }[]>;
    viewsWelcome: { view: string; contents: string; when: string }[];
    walkthroughs: { steps: { description: string; media: { markdown: string }; completionEvents?: string[] }[] }[];
  };
}

export function read(...parts: string[]): string {
  return fs.readFileSync(path.join(...parts), "utf8");
}

export const MANIFEST = JSON.parse(read(CLIENT, "package.json")) as Manifest;
