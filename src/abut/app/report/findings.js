// What was found: one entry a row, in order of frame, as report/rows.py packs it.

const KINDS = { 0: ["vertex–face", "vertex", "face"], 1: ["edge–edge", "edge", "edge"], 3: ["faces cut", "face", "face"], 4: ["piece inside", "face", "face"] };
const MEASURES = { 0: "depth", 1: "depth", 3: "length of the cut", 4: "how far inside" };

const whole = (x) => x.toLocaleString("en");
const figure = (x) => (Number.isNaN(x) ? "–" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? x.toPrecision(3) : x === 0 ? "0" : x.toExponential(2));
const cssColour = (code) => `rgb(${colourOf(code).map((c) => Math.round(255 * c)).join(" ")})`;

class Findings {
  constructor(facts, data) {
    const floats = (values) => new Float32Array(values.buffer, values.byteOffset, values.length);
    Object.assign(this, {
      facts, faces: data.faces, frame: data.rowFrame, kind: data.rowKind, a: data.rowA, b: data.rowB,
      within: floats(data.rowTime), depth: floats(data.rowDepth), points: data.rowPoint, normals: data.rowNormal, incident: data.rowIncident,
      bodyA: data.rowBodyA, bodyB: data.rowBodyB, ownA: data.rowOwnA, ownB: data.rowOwnB,
    });
    this.count = this.frame.length;
    this.start = new Uint32Array(facts.names.length + 1); // the first row of each frame
    for (const frame of this.frame) this.start[frame + 1]++;
    for (let i = 0; i < facts.names.length; i++) this.start[i + 1] += this.start[i];
  }

  time(i) {
    return this.frame[i] + this.within[i];
  }

  code(i) {
    return this.kind[i] >= 3 ? CUT : 1 + Math.round(253 * clamp(this.within[i], 0, 1));
  }

  // Depths, lengths of cuts and distances inside are different things, and never in one order.
  measure(i) {
    return Math.max(this.kind[i] - 2, 0);
  }

  point(i) {
    return this.points.subarray(3 * i, 3 * i + 3);
  }

  normal(i) {
    return [0, 1, 2].map((axis) => (this.normals[3 * i + axis] - 127) / 127);
  }

  // "vertex 12", or "cloth vertex 12" where there are several bodies.
  features(i) {
    const [, ...names] = KINDS[this.kind[i]], { bodies } = this.facts;
    if (!bodies.length) return [`${names[0]} ${this.a[i]}`, `${names[1]} ${this.b[i]}`];
    return [`${bodies[this.bodyA[i]]} ${names[0]} ${this.ownA[i]}`, `${bodies[this.bodyB[i]]} ${names[1]} ${this.ownB[i]}`];
  }

  pairOf(i) {
    const [low, high] = [this.bodyA[i], this.bodyB[i]].sort((x, y) => x - y);
    return `${low}-${high}`;
  }

  // Whether the picture has what this row is about: frames of another connectivity, or missing ones, are not drawn.
  isDrawn(i) {
    return Boolean(this.faces) && !missing.has(this.frame[i]);
  }

  // The ends of edges, numbered as abut does: by the larger vertex, then by the smaller.
  ends(edge) {
    if (!this.edges) {
      const { faces } = this, most = faces.reduce((high, v) => Math.max(high, v), 0) + 1;
      const keys = new Float64Array(faces.length);
      for (let i = 0; i < faces.length; i++) {
        const v = faces[i], w = faces[i % 3 === 2 ? i - 2 : i + 1];
        keys[i] = Math.max(v, w) * most + Math.min(v, w);
      }
      keys.sort();
      this.edges = keys.filter((key, i) => i === 0 || key !== keys[i - 1]);
      this.most = most;
    }
    const key = this.edges[edge];
    return [key % this.most, Math.floor(key / this.most)];
  }

  // The vertices of both features: one, two or three each.
  corners(i) {
    if (!this.isDrawn(i)) return [[], []];
    const face = (f) => [...this.faces.subarray(3 * f, 3 * f + 3)];
    if (this.kind[i] === 0) return [[this.a[i]], face(this.b[i])];
    return this.kind[i] === 1 ? [this.ends(this.a[i]), this.ends(this.b[i])] : [face(this.a[i]), face(this.b[i])];
  }

  // The worst row of a frame that a face takes part in; -1 where there is none.
  at(face, frame) {
    const own = this.faces.subarray(3 * face, 3 * face + 3);
    const holds = (edge) => this.ends(edge).every((v) => own.includes(v));
    let best = -1;
    for (let i = this.start[frame]; i < this.start[frame + 1]; i++) {
      const { kind, a, b } = this;
      const hit = kind[i] === 0 ? b[i] === face || own.includes(a[i]) : kind[i] === 1 ? holds(a[i]) || holds(b[i]) : a[i] === face || b[i] === face;
      if (!hit) continue;
      const better = best < 0 || this.measure(i) < this.measure(best) || (this.measure(i) === this.measure(best) && this.depth[i] > this.depth[best]);
      if (better) best = i;
    }
    return best;
  }

  // The first row at all that a face takes part in.
  firstOf(face) {
    let best = -1;
    for (let frame = 0; frame < this.start.length - 1; frame++) {
      if (best >= 0 && frame > this.time(best)) break;
      if (this.start[frame] === this.start[frame + 1] || missing.has(frame)) continue;
      const i = this.at(face, frame);
      if (i >= 0 && (best < 0 || this.time(i) < this.time(best))) best = i;
    }
    return best;
  }
}
