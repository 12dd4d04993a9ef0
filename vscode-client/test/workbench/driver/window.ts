/** One window of the workbench, used as a person uses it: keys, mouse, and what can be seen. */

import path from "node:path";
import type { FrameLocator, Locator, Page } from "playwright-core";
import { waitFor } from "./waiting";

/** A place on the screen. */
interface Spot {
  left: number;
  right: number;
  middle: number;
}

export class Window {
  /** What a page must not do of itself: dialogs, requests that leave the machine, errors nobody caught. */
  readonly dialogs: string[] = [];
  readonly foreignRequests: string[] = [];

  constructor(
    readonly page: Page,
    private readonly out: string,
    port: number,
    readonly folder: string | undefined,
  ) {
    page.on("dialog", (dialog) => {
      if (dialog.type() === "beforeunload") return void dialog.accept(); // the window is being closed with unsaved text
      this.dialogs.push(`${dialog.type()}: ${dialog.message()}`);
      return void dialog.dismiss();
    });
    page.context().on("request", (request) => {
      const url = new URL(request.url());
      const isPage = ["127.0.0.1", "localhost"].includes(url.hostname) && url.port === String(port);
      const isPanel = /^vscode-remote\+.*\.vscode-cdn\.net$/.test(url.hostname); // answered by the page's own service worker
      const isOwn = isPage || (isPanel && /^\/.*\/tried\.tried-[^/]+\/(media|dist)\/[\w-]+\.(css|js)$/.test(url.pathname));
      if (!isOwn && !["data:", "blob:"].includes(url.protocol)) this.foreignRequests.push(request.url());
    });
    page.setDefaultTimeout(30_000);
  }

  // -- files and text

  /** Opens a file of the folder by its path. */
  async openFile(relative: string): Promise<void> {
    await this.page.keyboard.press("Control+P");
    await this.quickInput().fill(relative);
    await this.quickRows().filter({ hasText: path.basename(relative) }).first().click();
    await this.editorShows(path.basename(relative));
  }

  async editorShows(name: string, seconds = 30): Promise<void> {
    const active = this.page.locator(".editor-group-container .tab.active");
    await waitFor(`the editor to show ${name}`, () => active.allInnerTexts(), (tabs) => tabs.some((tab) => tab.includes(name)), seconds);
    await this.editor().locator(".view-line").first().waitFor();
  }

  /** The text editor, also while another part, such as the record panel, has the focus. */
  editor(): Locator {
    return this.page.locator(".editor-group-container .editor-instance .monaco-editor:visible").first();
  }

  /** The text that the editor shows, as lines from top to bottom. */
  async text(): Promise<string[]> {
    return (await this.lines()).map((line) => line.text);
  }

  private async lines(): Promise<{ text: string; top: number; height: number }[]> {
    const lines = await this.editor()
      .locator(".view-line")
      .evaluateAll((elements) =>
        elements.map((element) => {
          const box = element.getBoundingClientRect();
          return { text: element.textContent.replaceAll("\u00a0", " "), top: box.top, height: box.height };
        }),
      );
    return lines.sort((a, b) => a.top - b.top);
  }

  /** Where `text` stands on the first line that contains `line`. */
  private async spot(line: string, text: string): Promise<Spot> {
    const find = async (): Promise<Spot | null> =>
      this.editor().evaluate(
        (editor, wanted) => {
          for (const element of Array.from(editor.querySelectorAll(".view-line"))) {
            const whole = element.textContent.replaceAll("\u00a0", " ");
            if (!whole.includes(wanted.line)) continue;
            const start = whole.indexOf(wanted.text);
            if (start < 0) continue;
            const range = document.createRange();
            const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
            let offset = 0;
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
              const length = (node.textContent ?? "").length;
              if (start >= offset && start < offset + length) range.setStart(node, start - offset);
              const end = start + wanted.text.length;
              if (end > offset && end <= offset + length) range.setEnd(node, end - offset);
              offset += length;
            }
            const box = range.getBoundingClientRect();
            return { left: box.left, right: box.right, middle: (box.top + box.bottom) / 2 };
          }
          return null;
        },
        { line, text },
      );
    const found = await waitFor(`${JSON.stringify(text)} on the line ${JSON.stringify(line)}`, find, (spot) => spot !== null, 15);
    if (!found) throw new Error("unreachable");
    return found;
  }

  /** Puts the cursor behind `text`. */
  async cursorAfter(line: string, text: string): Promise<void> {
    const spot = await this.spot(line, text);
    await this.page.mouse.click(spot.right - 1, spot.middle);
    await this.page.locator(".monaco-editor.focused").first().waitFor();
  }

  /** Types `fresh` over `old`, as a person would: behind it, backspace, type. */
  async retype(line: string, old: string, fresh: string): Promise<void> {
    await this.cursorAfter(line, old);
    for (let left = old.length; left > 0; left--) await this.page.keyboard.press("Backspace");
    await this.page.keyboard.type(fresh);
    await this.page.keyboard.press("Escape"); // a list of suggestions may have opened
    await waitFor(`the editor to read ${JSON.stringify(fresh)}`, () => this.text(), (lines) => lines.some((text) => text.includes(fresh)));
  }

  async save(): Promise<void> {
    await this.page.keyboard.press("Control+S");
    const dirty = this.page.locator(".editor-group-container .tab.active.dirty");
    await waitFor("the file to be saved", () => dirty.count(), (count) => count === 0);
  }

  // -- what the server says in the editor

  /** The lines that squiggles stand under, with the severity of each. */
  async squiggles(): Promise<{ severity: string; line: string }[]> {
    const marks = await this.editor()
      .locator(".squiggly-error, .squiggly-warning, .squiggly-info, .squiggly-hint")
      .evaluateAll((elements) =>
        elements.map((element) => {
          const box = element.getBoundingClientRect();
          const severity = /squiggly-(\w+)/.exec(element.getAttribute("class") ?? "")?.[1] ?? "";
          return { severity, middle: box.top + box.height / 2 };
        }),
      );
    const lines = await this.lines();
    return marks.map(({ severity, middle }) => {
      const under = lines.find((line) => middle >= line.top && middle < line.top + line.height);
      return { severity, line: under?.text.trim() ?? "" };
    });
  }

  async waitForSquiggle(severity: "error" | "warning" | "info", line: string, seconds = 30): Promise<void> {
    await waitFor(
      `a ${severity} squiggle under the line ${JSON.stringify(line)}`,
      () => this.squiggles(),
      (marks) => marks.some((mark) => mark.severity === severity && mark.line.includes(line)),
      seconds,
    );
  }

  async waitForNoSquiggle(seconds = 30): Promise<void> {
    await waitFor("no squiggle", () => this.squiggles(), (marks) => marks.length === 0, seconds);
  }

  /** What the hover over a word says, once it says `expected`. */
  async hover(line: string, text: string, expected: string | RegExp): Promise<string> {
    const content = this.page.locator(".monaco-hover:not(.hidden) .hover-contents");
    const show = async (): Promise<string> => {
      if ((await content.count()) === 0) {
        const spot = await this.spot(line, text);
        await this.page.mouse.move(spot.left - 40, spot.middle + 60);
        await this.page.mouse.move((spot.left + spot.right) / 2, spot.middle, { steps: 3 });
        await content.first().waitFor({ timeout: 3000 }).catch(() => undefined);
      }
      return (await content.allInnerTexts()).join("\n");
    };
    const says = (shown: string): boolean => (typeof expected === "string" ? shown.includes(expected) : expected.test(shown));
    return waitFor(`a hover over ${JSON.stringify(text)} that says ${String(expected)}`, show, says);
  }

  async closeHover(): Promise<void> {
    await this.page.mouse.move(640, 790);
    await this.page.keyboard.press("Escape");
  }

  /** The rows of the Problems panel. */
  async problems(): Promise<string[]> {
    const panel = this.page.locator(".markers-panel");
    if (!(await panel.isVisible())) await this.command("Problems: Focus on Problems View");
    await panel.waitFor();
    return (await panel.locator(".monaco-list-row").allInnerTexts()).map(oneLine);
  }

  /** The texts of the code lenses that are in sight. */
  async codeLenses(): Promise<string[]> {
    return (await this.editor().locator(".codelens-decoration").allInnerTexts()).map(oneLine);
  }

  /** The texts of the inlay hints that are in sight: what stands in the lines that the file does not hold. */
  async inlayHints(): Promise<string[]> {
    const texts = await this.editor().locator(".view-line span[class*='dyn-rule']").allInnerTexts();
    return texts.map(oneLine).filter((text) => text !== "");
  }

  /** The labels in the list of suggestions, which is opened at the cursor. */
  async suggestions(expected: (labels: string[]) => boolean, what: string): Promise<string[]> {
    const rows = this.page.locator(".suggest-widget.visible .monaco-list-row");
    const ask = async (): Promise<string[]> => {
      if ((await rows.count()) === 0) {
        await this.page.keyboard.press("Control+Space");
        await rows.first().waitFor({ timeout: 2000 }).catch(() => undefined);
      }
      return rows.evaluateAll((elements) => elements.map((element) => element.getAttribute("aria-label") ?? ""));
    };
    return waitFor(`${what} among the suggestions`, ask, expected);
  }

  /** Opens the quick fixes at the cursor and chooses the one whose title matches. */
  async quickFix(title: RegExp): Promise<void> {
    const menu = this.page.locator(".action-widget");
    const open = async (): Promise<string[]> => {
      if (!(await menu.isVisible())) {
        await this.page.keyboard.press("Control+.");
        await menu.waitFor({ timeout: 3000 }).catch(() => undefined);
      }
      const titles = await menu.locator(".monaco-list-row.action .title").allInnerTexts();
      if (!titles.some((text) => title.test(text))) await this.page.keyboard.press("Escape");
      return titles;
    };
    const offered = await waitFor(`a quick fix ${String(title)}`, open, (titles) => titles.some((text) => title.test(text)));
    // By keys: the widget moves under the mouse while lenses come and go above it.
    for (let steps = offered.findIndex((text) => title.test(text)); steps > 0; steps--) await this.page.keyboard.press("ArrowDown");
    const focused = menu.locator(".monaco-list-row.focused .title");
    await waitFor(`the quick fix ${String(title)} to be chosen`, () => focused.allInnerTexts(), (texts) => texts.some((text) => title.test(text)));
    await this.page.keyboard.press("Enter");
    await menu.waitFor({ state: "hidden" });
  }

  // -- commands, inputs, messages

  /** Runs a command by the title that the palette shows. */
  async command(title: string): Promise<void> {
    await this.page.keyboard.press("F1");
    await this.quickInput().fill(`>${title}`);
    const row = this.quickRows().filter({ hasText: title }).first();
    await waitFor(`the command ${title}`, () => this.quickRows().allInnerTexts(), (rows) => rows.some((text) => oneLine(text).includes(title)), 20);
    await row.click();
  }

  /** Whether the palette offers a command. */
  async offersCommand(title: string): Promise<boolean> {
    await this.page.keyboard.press("F1");
    await this.quickInput().fill(`>${title}`);
    const rows = await waitFor("the palette to answer", () => this.quickRows().allInnerTexts(), (texts) => texts.length > 0, 20);
    await this.page.keyboard.press("Escape");
    return rows.some((text) => oneLine(text).includes(title));
  }

  quickInput(): Locator {
    return this.page.locator(".quick-input-widget:not([style*='display: none']) .quick-input-box input").first();
  }

  quickRows(): Locator {
    return this.page.locator(".quick-input-widget:not([style*='display: none']) .monaco-list-row");
  }

  /** Chooses a row of a quick pick. */
  async pick(label: string | RegExp): Promise<void> {
    const row = this.quickRows().filter({ hasText: label }).first();
    await waitFor(`a choice ${String(label)}`, () => this.quickRows().allInnerTexts(), (rows) => rows.some((text) => new RegExp(label).test(text)));
    await row.click();
  }

  /** The messages in the corner. */
  async notifications(): Promise<string[]> {
    const toasts = this.page.locator(".notification-toast, .notifications-center .notification-list-item");
    return (await toasts.allInnerTexts()).map(oneLine);
  }

  // -- the sidebar

  async showSidebar(): Promise<void> {
    await this.page.locator(".activitybar .action-item a.action-label[aria-label^='Tried']").first().waitFor();
    if (!(await this.pane("Related").isVisible())) await this.command("Tried: Focus on Related View");
    await this.pane("Related").waitFor();
  }

  pane(title: string): Locator {
    return this.page.locator(".sidebar .pane").filter({ has: this.page.locator(`.pane-header[aria-label^="${title}"]`) });
  }

  rows(title: string): Locator {
    return this.pane(title).locator(".monaco-list-row");
  }

  /** What the rows of a view say, from top to bottom: label, " · ", description. */
  async rowTexts(title: string): Promise<string[]> {
    const rows = await this.rows(title).evaluateAll((elements) =>
      elements.map((element) => {
        const part = (name: string): string => element.querySelector(name)?.textContent ?? "";
        return { texts: [part(".label-name"), part(".label-description")], top: element.getBoundingClientRect().top };
      }),
    );
    return rows.sort((a, b) => a.top - b.top).map(({ texts }) => texts.map(oneLine).filter((text) => text !== "").join(" · "));
  }

  /** The row whose label begins so. */
  row(title: string, label: string | RegExp): Locator {
    const exactly = typeof label === "string" ? new RegExp(`^${label.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}`) : label;
    return this.rows(title).filter({ has: this.page.locator(".label-name").filter({ hasText: exactly }) }).first();
  }

  /** What a screen reader is told of each row. */
  async spokenRows(title: string): Promise<string[]> {
    return this.rows(title).evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
  }

  async waitForRows(title: string, what: string, passes: (rows: string[]) => boolean, seconds = 30): Promise<string[]> {
    return waitFor(`${what} in the view ${title}`, () => this.rowTexts(title), passes, seconds);
  }

  /** Unfolds a row of a view. */
  async expand(title: string, label: string | RegExp): Promise<void> {
    const row = this.row(title, label);
    await row.waitFor();
    if ((await row.getAttribute("aria-expanded")) !== "true") await row.locator(".monaco-tl-twistie").click();
    await waitFor(`the row ${String(label)} to unfold`, () => row.getAttribute("aria-expanded"), (state) => state === "true");
  }

  // -- the record panel

  /** The document inside the record panel. */
  panel(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
  }

  // -- pictures

  async shot(name: string): Promise<void> {
    await this.page.screenshot({ path: path.join(this.out, `${name}.png`) });
  }

  /** Leaves the page first, so that the workbench ends what ran for it. */
  async close(): Promise<void> {
    if (this.page.isClosed()) return;
    await this.page.goto("about:blank");
    await this.page.context().close();
  }
}

/** Text as it reads, without line ends, no-break spaces and marks of direction that the workbench adds. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f]/g, "")
    .replaceAll(/[\s\u00a0]+/g, " ")
    .trim();
}
