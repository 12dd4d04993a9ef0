/** Where things lie: the repository, the server under test, what a run of the tests leaves behind. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start the tests with node test/workbench/run.mjs`);
  return value;
}

export const places = {
  client: required("TRIED_TEST_CLIENT"),
  codeServer: required("TRIED_TEST_CODE_SERVER"),
  chromium: required("TRIED_TEST_CHROMIUM"),
  vsix: required("TRIED_TEST_VSIX"),
  /** The `tried` that the tests are about. */
  server: required("TRIED_TEST_SERVER"),
  /** Screenshots and logs, kept. */
  out: required("TRIED_TEST_OUT"),
};

export const demo = path.join(places.client, "..", "fixtures", "demo");
export const fakeServer = path.join(places.client, "test", "workbench", "fake-server.mjs");

/** A new folder outside of the repository, so that nothing of the repository is found from it. Short: sockets go into it. */
export function temporaryFolder(): string {
  return fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "tried-")));
}

/** A copy of the demo project to edit and write into. */
export function copyOfDemo(parent: string, name = "ships"): string {
  const folder = path.join(parent, name);
  fs.cpSync(demo, folder, { recursive: true });
  return folder;
}

/** A program named `tried` in a folder of its own, which runs the given command; answers the folder, for PATH. */
export function programNamedTried(parent: string, command: readonly string[], name = "bin"): string {
  const folder = path.join(parent, name);
  fs.mkdirSync(folder, { recursive: true });
  const quoted = command.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(" ");
  fs.writeFileSync(path.join(folder, "tried"), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  return folder;
}
