// Takes the compression out of the wheel in bundled/: the .vsix compresses it once more, and finds in one long stream what
// the hundreds of modules have in common. A wheel is a zip archive, and one without compression is a wheel, too.
// `node scripts/store-wheel.mjs [FOLDER]`; vsce runs it before it packages.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const [STORED, DEFLATED] = [0, 8];
const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const [LOCAL_SIZE, CENTRAL_SIZE, END_SIZE] = [30, 46, 22];

const folder = process.argv[2] ?? path.join(import.meta.dirname, "..", "bundled");
const wheels = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".whl")) : [];
for (const name of wheels) {
  const file = path.join(folder, name);
  const wheel = fs.readFileSync(file);
  try {
    fs.writeFileSync(file, stored(wheel));
  } catch (error) {
    console.error(`${file} is no wheel that can be written anew: ${error.message}`);
    process.exit(1);
  }
}

/** The same archive, each entry as it is. Small ones only: no zip64. */
function stored(archive) {
  const end = archive.lastIndexOf(bytes(END));
  if (end < 0) throw new Error("it is no zip archive");
  const count = archive.readUInt16LE(end + 10);
  if (count === 0xffff) throw new Error("it has too many entries");
  const locals = [];
  const centrals = [];
  let from = archive.readUInt32LE(end + 16);
  let offset = 0;
  for (let i = 0; i < count; i++) {
    if (archive.readUInt32LE(from) !== CENTRAL) throw new Error("its directory is broken");
    const lengths = [28, 30, 32].map((at) => archive.readUInt16LE(from + at));
    const central = Buffer.from(archive.subarray(from, from + CENTRAL_SIZE + lengths[0] + lengths[1] + lengths[2]));
    from += central.length;
    const data = content(archive, central);
    if (zlib.crc32 !== undefined && zlib.crc32(data) !== central.readUInt32LE(16)) throw new Error("an entry is broken");
    central.writeUInt16LE(central.readUInt16LE(8) & ~8, 8); // sizes stand before the data, not behind it
    central.writeUInt16LE(STORED, 10);
    central.writeUInt32LE(data.length, 20);
    central.writeUInt32LE(data.length, 24);
    central.writeUInt32LE(offset, 42);
    const local = Buffer.alloc(LOCAL_SIZE);
    local.writeUInt32LE(LOCAL, 0);
    central.copy(local, 4, 6, 28); // version, flags, method, time, checksum, sizes
    local.writeUInt16LE(lengths[0], 26);
    const name = central.subarray(CENTRAL_SIZE, CENTRAL_SIZE + lengths[0]);
    locals.push(local, name, data);
    centrals.push(central);
    offset += local.length + name.length + data.length;
  }
  const directory = Buffer.concat(centrals);
  const last = Buffer.from(archive.subarray(end, end + END_SIZE));
  last.writeUInt32LE(directory.length, 12);
  last.writeUInt32LE(offset, 16);
  last.writeUInt16LE(0, 20);
  return Buffer.concat([...locals, directory, last]);
}

function content(archive, central) {
  const method = central.readUInt16LE(10);
  const size = central.readUInt32LE(20);
  const local = central.readUInt32LE(42);
  const begin = local + LOCAL_SIZE + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const data = archive.subarray(begin, begin + size);
  if (method === STORED) return data;
  if (method !== DEFLATED) throw new Error(`an entry is compressed by method ${method}`);
  return zlib.inflateRawSync(data);
}

function bytes(signature) {
  const four = Buffer.alloc(4);
  four.writeUInt32LE(signature);
  return four;
}
