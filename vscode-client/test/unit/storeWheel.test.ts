import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import zlib from "node:zlib";
import { CLIENT } from "./manifest";

const ENTRIES = { "tried/__init__.py": '__version__ = "1"\n'.repeat(20), "tried/empty.py": "", "tried-1.dist-info/RECORD": "tried/empty.py,,0\n" };
/** The CRC-32 of each text. */
const CHECKSUMS: Record<string, number> = { "tried/__init__.py": 0x81858613, "tried/empty.py": 0, "tried-1.dist-info/RECORD": 0xc645d4f8 };

/** A zip archive as the format has it. */
function zip(compressed: boolean): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(ENTRIES)) {
    const data = compressed ? zlib.deflateRawSync(text) : Buffer.from(text);
    const common = Buffer.alloc(22);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(compressed ? 8 : 0, 4);
    common.writeUInt16LE(0x5021, 8); // 1 January 2020
    common.writeUInt32LE(CHECKSUMS[name] ?? 0, 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(text.length, 18);
    const sizes = Buffer.alloc(4);
    sizes.writeUInt16LE(name.length, 0);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, sizes, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(0o100644 << 16 >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, sizes, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(centrals.length, 8);
  end.writeUInt16LE(centrals.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

function run(content: Buffer): { status: number | null; said: string; written: Buffer } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tried-wheel-"));
  try {
    const file = path.join(folder, "tried-1-py3-none-any.whl");
    fs.writeFileSync(file, content);
    const done = spawnSync(process.execPath, [path.join(CLIENT, "scripts", "store-wheel.mjs"), folder], { encoding: "utf8" });
    return { status: done.status, said: done.stderr, written: fs.readFileSync(file) };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test("the wheel in the .vsix is the same archive without compression, however often it is packaged", () => {
  for (const given of [zip(true), zip(false)]) {
    const { status, said, written } = run(given);
    assert.deepEqual([status, said], [0, ""]);
    assert.deepEqual(written, zip(false));
  }
});

test("what is no wheel stays as it is, and packaging ends", () => {
  const broken = zip(true);
  broken.writeUInt8(broken.readUInt8(60) ^ 0xff, 60);
  for (const given of [Buffer.from("no archive"), zip(true).subarray(0, 100), broken]) {
    const { status, said, written } = run(given);
    assert.equal(status, 1);
    assert.match(said, /is no wheel that can be written anew: /);
    assert.deepEqual(written, given);
  }
});
