/** The box in which a person says what came of a run. What was begun is kept until it is sent. */

import { VERDICTS, type PanelModel } from "../record/model";
import type { Verdict } from "../protocol";
import { element } from "./dom";
import { outcomeIcon } from "./marks";
import { forget, keep, kept, send } from "./page";

export interface ConclusionBox {
  node: HTMLElement;
  update(model: PanelModel): void;
  finished(state: "saved" | "failed", text: string, record: string): void;
}

export function conclusionBox(): ConclusionBox {
  let record = "";
  let isSending = false;
  /** Just recorded: the box is empty, and is not filled again with what was proposed before. */
  let isDone = false;
  /** The verdict that was recorded with it; that of the record, once it has been read anew. */
  let recorded: Verdict | null = null;
  let standing: Verdict | null = null;
  const text = element("textarea", { id: "conclusion", rows: 1, maxlength: 20_000, dir: "auto", "data-focus": "conclusion" });
  const said = element("p", { class: "said", role: "status" });
  const save = element("button", { type: "button", class: "primary", "data-focus": "conclude" }, "Record");
  const choices = VERDICTS.map(({ value, word }) => {
    const input = element("input", { type: "radio", name: "verdict", value: value ?? "none", "data-focus": `verdict:${value ?? "none"}` });
    return { value, input, label: element("label", {}, input, value !== null && outcomeIcon(value), word) };
  });
  const hint = element("span", { class: "quiet" }, navigator.userAgent.includes('Mac') ? "⌘ Enter" : "Ctrl+Enter");
  const node = element(
    "div",
    { class: "conclusion" },
    element("label", { for: "conclusion", class: "quiet" }, "What came of it, in a line. It warns whoever is about to try it again."),
    text,
    element(
      "div",
      { class: "bar" },
      element("fieldset", { class: "verdicts" }, element("legend", { class: "unseen" }, "Verdict"), ...choices.map(({ label }) => label)),
      element("span", { class: "send" }, hint, save),
    ),
    said,
  );

  const verdict = (): Verdict | null => choices.find(({ input }) => input.checked)?.value ?? null;
  const fill = (content: string, chosen: Verdict | null): void => {
    text.value = content;
    for (const { value, input } of choices) input.checked = value === chosen;
  };
  const say = (state: string, words: string): void => {
    said.className = `said ${state}`;
    said.textContent = words;
  };
  const begun = (): void => {
    keep({ begun: { record, text: text.value, verdict: verdict() } });
    if (said.classList.contains("saved")) say("", "");
  };
  const submit = (): void => {
    if (isSending) return;
    const content = text.value.trim();
    const isRecorded = isDone && verdict() === recorded;
    if (content === "" && (verdict() === null || isRecorded)) {
      say("failed", isRecorded && recorded !== null ? "That is recorded. Write a line, or choose another verdict." : "Write a line, or choose a verdict.");
      text.focus();
      return;
    }
    isSending = true;
    save.disabled = true;
    say("", "Recording …");
    send({ type: "conclude", record, text: content, verdict: verdict() });
  };

  text.addEventListener("input", begun);
  for (const { input } of choices) input.addEventListener("change", begun);
  save.addEventListener("click", submit);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submit();
  });

  return {
    node,
    update(model) {
      const isOther = record !== model.id;
      record = model.id;
      standing = model.conclusion.standing;
      if (isOther) {
        say("", "");
        isSending = isDone = false;
        recorded = null;
        save.disabled = false;
      }
      const mine = kept().begun;
      if (mine?.record === record) {
        if (isOther) fill(mine.text, mine.verdict);
      } else if (isOther || !(isSending || isDone)) {
        fill(model.conclusion.prefill, model.conclusion.verdict);
      } else if (isDone && !isSending) {
        recorded = model.conclusion.standing ?? recorded;
        fill("", recorded);
      }
    },
    finished(state, words, of) {
      if (of !== record) return;
      isSending = false;
      save.disabled = false;
      say(state, words);
      if (state === "failed") return;
      forget("begun");
      isDone = true;
      recorded = verdict() ?? standing;
      fill("", recorded); // it stands from now on
    },
  };
}
