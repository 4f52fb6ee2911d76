// The data of the page: facts as JSON, arrays packed as abut/viewer/packing.py writes them.

const ARRAYS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

function readFacts() {
  return JSON.parse(document.getElementById("facts").textContent);
}

async function inflate(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Join the byte planes, then sum up along the rows; typed arrays wrap around as the differences did.
function unpackSection(bytes, offset, { bytes: size, rows, columns }) {
  const count = rows * columns;
  const values = new ARRAYS[size](count);
  for (let plane = 0; plane < size; plane++) {
    const start = offset + plane * count;
    for (let i = 0; i < count; i++) values[i] |= bytes[start + i] << (8 * plane);
  }
  for (let i = columns; i < count; i++) values[i] += values[i - columns];
  return values;
}

async function unpack(facts) {
  const holder = document.getElementById("packed");
  const bytes = await inflate(holder.textContent);
  holder.remove();
  const data = {};
  let offset = 0;
  for (const section of facts.sections) {
    data[section.name] = unpackSection(bytes, offset, section);
    offset += section.bytes * section.rows * section.columns;
  }
  return data;
}
