/** Light, dark and high contrast: the same things are seen in each, and can be read. */

import assert from "node:assert/strict";
import { copyOfDemo } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import type { Window } from "./driver/window";
import { Workbench } from "./driver/workbench";

const THEMES = [
  { name: "light", theme: "Default Light Modern", className: "vs" },
  { name: "dark", theme: "Default Dark Modern", className: "vs-dark" },
  { name: "high-contrast", theme: "Default High Contrast", className: "hc-black" },
  { name: "high-contrast-light", theme: "Default High Contrast Light", className: "hc-light" },
];

const scenario = scenarios(() => Workbench.start({ name: "themes" }));

for (const { name, theme, className } of THEMES) {
  scenario(`the theme ${name}`, async (bench) => {
    const window = await bench.open({
      folder: copyOfDemo(bench.folder, name),
      file: "configs/hot_start.py",
      settings: { "workbench.colorTheme": theme, "editor.fontSize": 13 },
      viewport: { width: 1600, height: 1000 },
    });
    await window.editorShows("hot_start.py");
    await window.page.locator(`.monaco-workbench.${className}`).waitFor();
    await window.waitForSquiggle("warning", '"lr": 1e-2');
    await window.showSidebar();
    await window.row("Related", "audio transformer").click();
    await window.panel().locator("figure.plot svg.canvas").first().waitFor();
    await waitFor("rows of what differs", () => window.panel().locator("table.parameters tr.different").count(), (count) => count >= 3);
    await window.shot(name);
    for (const [what, ratio] of Object.entries(await contrasts(window))) {
      assert.ok(ratio >= 4.5, `${what} has a contrast of ${ratio.toFixed(2)} in ${theme}; 4.5 can be read`);
    }
    await window.close();
  });
}

/** The contrast (WCAG 2) of texts of the panel against the panel. */
async function contrasts(window: Window): Promise<Record<string, number>> {
  return window.panel().locator("body").evaluate((body) => {
    const parse = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (rgb: number[]): number => {
      const [r = 0, g = 0, b = 0] = rgb.slice(0, 3).map((part) => {
        const share = part / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const canvas = getComputedStyle(document.documentElement).getPropertyValue("--vscode-editor-background");
    const probe = body.appendChild(document.createElement("span"));
    probe.style.color = canvas; // the browser knows every spelling of a colour
    const ground = parse(getComputedStyle(probe).color);
    probe.remove();
    const found: Record<string, number> = {};
    for (const selector of ["h1", "header .headline", "table.parameters td.here", "table.parameters td.there", ".outcome strong"]) {
      const element = body.querySelector(selector);
      if (!element) throw new Error(`the panel has no ${selector}`);
      const [light = 0, dark = 0] = [luminance(parse(getComputedStyle(element).color)), luminance(ground)].sort((a, b) => b - a);
      found[selector] = (light + 0.05) / (dark + 0.05);
    }
    return found;
  });
}
