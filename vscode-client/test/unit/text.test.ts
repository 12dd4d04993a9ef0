import assert from "node:assert/strict";
import { test } from "node:test";
import { clipped, counted, inert, line, visible, visibleLines } from "../../src/text";

test("escape sequences of a terminal stand there as signs", () => {
  assert.equal(visible("\u001b[31mred\u001b[0m\u0007"), "␛[31mred␛[0m␇");
  assert.equal(visible("a\u007fb\u009b"), "a␡b⟨009B⟩");
});

test("what turns the direction of text stands there by its number", () => {
  assert.equal(visible("lr\u202e50.0\u2066!\ufeff"), "lr⟨202E⟩50.0⟨2066⟩!⟨FEFF⟩");
  assert.equal(visible("a\u200bb"), "a⟨200B⟩b");
});

test("joiners of scripts and emoji stay, and so do letters of all scripts", () => {
  for (const text of ["👩\u200d🔬 run", "می\u200cخواهم", "学习率 ñ é"]) assert.equal(visible(text), text);
});

test("halves of characters are replaced, whole ones are not", () => {
  assert.equal(visible("a\ud83db😀"), "a\ufffdb😀");
});

test("a label is one line", () => {
  assert.equal(line(" a\r\n\tb\u2028c\u0085d  e "), "a b c d e");
});

test("lines stay where they are wanted, and hide nothing", () => {
  assert.equal(visibleLines("a\n\tb\r\nc\u202e\u0000"), "a\n    b\nc⟨202E⟩␀");
});

test("long text is cut, never within a character", () => {
  assert.equal(clipped("abcdef", 6), "abcdef");
  assert.equal(clipped("abcdefg", 6), "abcde…");
  assert.equal(clipped("abcd😀efg", 6), "abcd…");
  assert.equal(line("x".repeat(100_000), 200).length, 200);
});

test("a megabyte of signs costs no more than its beginning", () => {
  const started = performance.now();
  line("\u202e".repeat(1_000_000), 200);
  assert.ok(performance.now() - started < 50);
});

test("neither icons nor links are left for places that would read them", () => {
  const shown = inert("$(error) [click](command:workbench.action.quit) $(sync~spin) $$(x)");
  assert.doesNotMatch(shown, /\$\(/);
  assert.doesNotMatch(shown, /\]\(/);
  assert.equal(shown.replaceAll("\u200b", ""), "$(error) [click](command:workbench.action.quit) $(sync~spin) $$(x)");
});

test("things are counted", () => {
  assert.deepEqual([counted(0, "run"), counted(1, "run"), counted(1204, "run"), counted(2, "search", "searches")], ["0 runs", "1 run", "1,204 runs", "2 searches"]);
});
