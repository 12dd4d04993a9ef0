import assert from "node:assert/strict";
import { test } from "node:test";
import { addSource, quoted } from "../../src/views/tomlSource";

function after(text: string, path = "x.db"): string {
  const edit = addSource(text, path);
  if (edit.kind !== "insert") assert.fail(JSON.stringify(edit));
  return text.slice(0, edit.offset) + edit.text + text.slice(edit.offset);
}

function check(text: string, expected: string): void {
  assert.equal(after(text), expected);
}

test("an empty file gets a table", () => {
  check("", '[pool]\nsources = ["x.db"]\n');
});

test("other settings stay as they are", () => {
  check('# mine\nresearch_line = "a"  # why\n', '# mine\nresearch_line = "a"  # why\n\n[pool]\nsources = ["x.db"]\n');
  check('[editor]\ndebounce_ms = 3', '[editor]\ndebounce_ms = 3\n\n[pool]\nsources = ["x.db"]\n');
});

test("a pool without sources gets some, right below its name", () => {
  check('[pool]  # here\ndiscover = false\n\n[editor]\n', '[pool]  # here\nsources = ["x.db"]\ndiscover = false\n\n[editor]\n');
  check("[ pool ]", '[ pool ]\nsources = ["x.db"]\n');
});

test("a list on one line is made longer", () => {
  check('[pool]\nsources = ["a"]\n', '[pool]\nsources = ["a", "x.db"]\n');
  check('[pool]\nsources = ["a", ]  # these\n', '[pool]\nsources = ["a", "x.db" ]  # these\n');
  check("[pool]\nsources = [ ]\n", '[pool]\nsources = ["x.db" ]\n');
});

test("a list on several lines gets a line, and comments stay beside what they are about", () => {
  check('[pool]\nsources = [\n  "a",  # first ] "\n  "b",  # second\n]\n', '[pool]\nsources = [\n  "a",  # first ] "\n  "b",  # second\n  "x.db",\n]\n');
  check('[pool]\nsources = [\n  "a",\n  "b"\n]\n', '[pool]\nsources = [\n  "a",\n  "b",\n  "x.db"\n]\n');
  check('[pool]\nsources = [\n  "a",\n  "b"  # last\n]\n', '[pool]\nsources = [\n  "a",\n  "x.db",\n  "b"  # last\n]\n');
  check('[pool]\nsources = [\n  "a",\n  "b", ]\n', '[pool]\nsources = [\n  "a",\n  "b", "x.db" ]\n');
});

test("a list of tables gets a table", () => {
  check('[pool]\nsources = [{ path = "a", tags = ["b"] }]\n', '[pool]\nsources = [{ path = "a", tags = ["b"] }, { path = "x.db" }]\n');
  check('[[pool.sources]]\npath = "a"\n[editor]\n', '[[pool.sources]]\npath = "a"\n[editor]\n\n[[pool.sources]]\npath = "x.db"\n');
});

test("lines end as they do in the file", () => {
  check('[pool]\r\nsources = [\r\n  "a",\r\n]\r\n', '[pool]\r\nsources = [\r\n  "a",\r\n  "x.db",\r\n]\r\n');
});

test("sources of other tables are none of ours", () => {
  check('[tool]\nsources = ["a"]\n', '[tool]\nsources = ["a"]\n\n[pool]\nsources = ["x.db"]\n');
  check('note = """\n[pool]\nsources = ["a"]\n"""\n', 'note = """\n[pool]\nsources = ["a"]\n"""\n\n[pool]\nsources = ["x.db"]\n');
});

test("what is there already is not written again", () => {
  for (const text of ['[pool]\nsources = ["a", \'x.db\']\n', '[[pool.sources]]\npath = "x.db"\n', '[pool]\nsources = [\n "x\\u002Edb"\n]\n']) {
    assert.deepEqual(addSource(text, "x.db"), { kind: "present" });
  }
});

test("what is written in another way, or wrongly, is left to the user, who is told what to write", () => {
  const texts = [
    'pool = { sources = ["a"] }\n',
    'pool.sources = ["a"]\n',
    '[pool]\nsources = "a"\n',
    '[pool]\nsources = ["a"\n',
    "[pool\nsources = []\n",
    '[pool.sources]\npath = "a"\n',
    '[pool]\nsources = ["""\na""",\n]\n',
    "this is no TOML\n",
  ];
  for (const text of texts) {
    const edit = addSource(text, "x.db");
    assert.ok(edit.kind === "by hand" && edit.advice.includes('"x.db"'), text);
  }
});

test("a path is written so that TOML reads it back", () => {
  assert.equal(quoted('a "b" \\ c\n\u0001\u007f'), '"a \\"b\\" \\\\ c\\n\\u0001\\u007F"');
});
