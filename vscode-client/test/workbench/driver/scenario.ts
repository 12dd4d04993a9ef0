/** A test that keeps a picture of each window when it fails. */

import { after, test } from "node:test";
import type { Workbench } from "./workbench";

/** Declares a test that runs in a workbench which `start` gives; the tests of a file share it. */
export function scenarios(start: () => Promise<Workbench>): (name: string, run: (bench: Workbench) => Promise<void>) => void {
  let starting: Promise<Workbench> | undefined;
  after(async () => {
    if (starting) await (await starting).close();
  });
  return (name, run) => {
    test(name, { timeout: 300_000 }, async () => {
      starting ??= start();
      const bench = await starting;
      try {
        await run(bench);
      } catch (error) {
        const failed = name.replaceAll(/[^\w]+/g, "-").slice(0, 60);
        for (const [i, window] of bench.windows.filter((one) => !one.page.isClosed()).entries()) {
          await window.shot(`failed-${failed}${i > 0 ? `-${i}` : ""}`).catch(() => undefined);
          await window.close().catch(() => undefined); // what runs for it would be in the way of the next test
        }
        throw error;
      }
    });
  };
}
