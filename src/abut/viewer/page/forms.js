// From vertices and triangles to what is drawn: three corners a triangle, each with a normal that is smooth across flat
// edges and sharp across creases, and for each triangle which of its sides are creases or borders.

const SMOOTH = Math.cos((40 * Math.PI) / 180);
const CREASE = SMOOTH;
const FLOATS = 6; // a corner: place and normal

// Numbers of vertices, equal places having one number.
function weld(points) {
  const count = points.length / 3, first = new Map(), same = new Uint32Array(count);
  for (let v = 0; v < count; v++) {
    const key = `${points[3 * v]},${points[3 * v + 1]},${points[3 * v + 2]}`;
    if (!first.has(key)) first.set(key, v);
    same[v] = first.get(key);
  }
  return same;
}

// Which triangles lie around each vertex: those of v are list[start[v]] … list[start[v + 1] - 1].
function facesAround(faces, same, count) {
  const start = new Uint32Array(count + 1);
  for (const v of faces) start[same[v] + 1]++;
  for (let v = 0; v < count; v++) start[v + 1] += start[v];
  const next = start.slice(), list = new Uint32Array(faces.length);
  for (let i = 0; i < faces.length; i++) list[next[same[faces[i]]]++] = Math.floor(i / 3);
  return { start, list };
}

class Form {
  constructor(points, faces) {
    this.faces = faces;
    this.count = faces.length;
    this.vertexCount = points.length / 3;
    this.same = weld(points);
    this.around = facesAround(faces, this.same, this.vertexCount);
    this.corners = new Float32Array(this.count * FLOATS);
    this.flat = new Float32Array(this.count); // normals of triangles, as long as twice their areas
    this.update(points);
    this.hidden = this.sidesWithoutCrease();
    this.low = [Infinity, Infinity, Infinity];
    this.high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < points.length; i++) {
      this.low[i % 3] = Math.min(this.low[i % 3], points[i]);
      this.high[i % 3] = Math.max(this.high[i % 3], points[i]);
    }
  }

  // The same triangles with their vertices elsewhere.
  update(points) {
    const { faces, flat, corners, same } = this, { start, list } = this.around;
    for (let i = 0; i < faces.length; i += 3) {
      const a = 3 * faces[i], b = 3 * faces[i + 1], c = 3 * faces[i + 2];
      const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
      const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
      flat[i] = uy * vz - uz * vy;
      flat[i + 1] = uz * vx - ux * vz;
      flat[i + 2] = ux * vy - uy * vx;
    }
    const sizes = this.sizes ??= new Float32Array(faces.length / 3);
    for (let f = 0; f < sizes.length; f++) sizes[f] = Math.hypot(flat[3 * f], flat[3 * f + 1], flat[3 * f + 2]);
    for (let i = 0; i < faces.length; i++) {
      const own = 3 * Math.floor(i / 3), mine = sizes[own / 3], v = faces[i], w = same[v];
      let x = 0, y = 0, z = 0;
      for (let k = start[w]; k < start[w + 1]; k++) {
        const other = 3 * list[k];
        const d = flat[own] * flat[other] + flat[own + 1] * flat[other + 1] + flat[own + 2] * flat[other + 2];
        if (d < SMOOTH * mine * sizes[list[k]]) continue;
        x += flat[other]; y += flat[other + 1]; z += flat[other + 2];
      }
      const size = Math.hypot(x, y, z) || 1, at = FLOATS * i;
      corners[at] = points[3 * v]; corners[at + 1] = points[3 * v + 1]; corners[at + 2] = points[3 * v + 2];
      corners[at + 3] = x / size; corners[at + 4] = y / size; corners[at + 5] = z / size;
    }
  }

  // For each corner the sum of 1, 2, 4 for the sides of its triangle (opposite corner 0, 1, 2) that are nearly flat.
  sidesWithoutCrease() {
    const { faces, flat, sizes, same, vertexCount } = this, known = new Map();
    const hidden = new Float32Array(faces.length), bits = new Uint8Array(sizes.length);
    for (let f = 0; f < sizes.length; f++)
      for (let side = 0; side < 3; side++) {
        const a = same[faces[3 * f + ((side + 1) % 3)]], b = same[faces[3 * f + ((side + 2) % 3)]];
        const key = Math.min(a, b) * vertexCount + Math.max(a, b), other = known.get(key);
        if (other === undefined) { known.set(key, [f, side]); continue; }
        const [g, there] = other;
        const d = flat[3 * f] * flat[3 * g] + flat[3 * f + 1] * flat[3 * g + 1] + flat[3 * f + 2] * flat[3 * g + 2];
        if (d < CREASE * sizes[f] * sizes[g]) continue;
        bits[f] |= 1 << side;
        bits[g] |= 1 << there;
      }
    for (let i = 0; i < hidden.length; i++) hidden[i] = bits[Math.floor(i / 3)];
    return hidden;
  }
}

// A rod along z from 0 to 1, of radius 1, and a ball of radius 1: bones and thick lines.
function makeRod(sides = 14) {
  const points = [], faces = [];
  for (const z of [0, 1])
    for (let k = 0; k < sides; k++) points.push(Math.cos((2 * Math.PI * k) / sides), Math.sin((2 * Math.PI * k) / sides), z);
  for (let k = 0; k < sides; k++) {
    const next = (k + 1) % sides;
    faces.push(k, next, next + sides, k, next + sides, k + sides);
  }
  return new Form(new Float32Array(points), new Uint32Array(faces));
}

function makeBall(sides = 14, rings = 8) {
  const points = [], faces = [];
  for (let r = 0; r <= rings; r++)
    for (let k = 0; k < sides; k++) {
      const polar = (Math.PI * r) / rings, angle = (2 * Math.PI * k) / sides;
      points.push(Math.sin(polar) * Math.cos(angle), Math.sin(polar) * Math.sin(angle), Math.cos(polar));
    }
  for (let r = 0; r < rings; r++)
    for (let k = 0; k < sides; k++) {
      const a = r * sides + k, b = r * sides + ((k + 1) % sides);
      faces.push(a, a + sides, b + sides, a, b + sides, b);
    }
  return new Form(new Float32Array(points), new Uint32Array(faces));
}
