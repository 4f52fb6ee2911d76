// Where everything is at a moment. Places come in the units of the user, and leave in those of the picture: what moves
// fills about one unit around the origin.

const turnOf = (q) => { const size = Math.hypot(...q) || 1; return q.map((c) => c / size); };

// The shortest turn from the z axis to a direction.
function turnFromZ(d) {
  if (d[2] < -0.999999) return [0, 1, 0, 0];
  return turnOf([1 + d[2], -d[1], d[0], 0]);
}

const rotated = (q, v) => {
  const u = [q[1], q[2], q[3]];
  return add(v, scale(cross(u, add(cross(u, v), scale(v, q[0]))), 2));
};

class Moments {
  constructor(facts, data) {
    Object.assign(this, { facts, data, frame: 0, part: 0 });
    this.count = facts.times.length;
    this.tracks = facts.things.filter((thing) => thing.track !== undefined).length;
    this.frameUnit();
  }

  seek(time) {
    const { times } = this.facts;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    this.frame = low;
    const next = times[low + 1];
    this.part = next === undefined ? 0 : clamp((time - times[low]) / (next - times[low]), 0, 1);
  }

  isThere(thing) {
    return !thing.spans || thing.spans.some(([from, to]) => this.frame >= from && this.frame < to);
  }

  // A number of a packed row, in the units of the user.
  value(thing, code, axis) {
    return thing.low[axis] + (code / this.facts.steps) * thing.span[axis];
  }

  placeAt(thing, frame) {
    if (thing.still) return thing.still.slice(0, 3);
    const at = 3 * (frame * this.tracks + thing.track);
    return [0, 1, 2].map((axis) => this.value(thing, this.data.places[at + axis], axis));
  }

  turnAt(thing, frame) {
    if (thing.still) return thing.still.slice(3);
    const at = 4 * (frame * this.tracks + thing.track), { turnSteps } = this.facts;
    return [0, 1, 2, 3].map((i) => this.data.turns[at + i] / turnSteps - 1);
  }

  // Place and turn now, between the frames.
  pose(thing) {
    const { frame, part } = this;
    if (thing.still || !part) return [this.placeAt(thing, frame), turnOf(this.turnAt(thing, frame))];
    const [a, b] = [frame, frame + 1].map((k) => this.placeAt(thing, k));
    let [p, q] = [frame, frame + 1].map((k) => this.turnAt(thing, k));
    if (p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0) q = q.map((c) => -c);
    return [a.map((c, i) => mix(c, b[i], part)), turnOf(p.map((c, i) => mix(c, q[i], part)))];
  }

  // All points now of a thing whose points change, in the picture's units.
  points(thing, number) {
    const rows = this.data[`moving ${number}`], count = thing.count, result = new Float32Array(3 * count);
    const [i, part] = thing.frames > 1 ? [this.frame, this.part] : [0, 0];
    const j = part ? i + 1 : i;
    for (let axis = 0; axis < 3; axis++) {
      const from = (3 * i + axis) * count, to = (3 * j + axis) * count;
      const size = (thing.span[axis] / this.facts.steps) * this.unit, shift = (thing.low[axis] - this.origin[axis]) * this.unit;
      for (let v = 0; v < count; v++) result[3 * v + axis] = mix(rows[from + v], rows[to + v], part) * size + shift;
    }
    return result;
  }

  toUnit(p) {
    return p.map((c, axis) => (c - this.origin[axis]) * this.unit);
  }

  // Vertices of a form that does not change, in the picture's units but about the form's own origin.
  formPoints(number) {
    const { forms, steps } = this.facts, form = forms[number];
    let start = 0;
    for (let i = 0; i < number; i++) start += forms[i].vertices;
    const result = new Float32Array(3 * form.vertices);
    for (let i = 0; i < result.length; i++)
      result[i] = (form.low[i % 3] + (this.data.vertices[3 * start + i] / steps) * form.span[i % 3]) * this.unit;
    return result;
  }

  formFaces(number) {
    const { forms } = this.facts;
    let start = 0;
    for (let i = 0; i < number; i++) start += forms[i].faces;
    return this.data.corners.slice(3 * start, 3 * (start + forms[number].faces));
  }

  boxCorners(low, span) {
    return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [0, 1, 2].map((axis) => low[axis] + ((k >> axis) & 1) * span[axis]));
  }

  // Some corners of a thing at a frame, in the units of the user.
  cornersAt(thing, frame) {
    if (thing.form === undefined) return thing.low ? this.boxCorners(thing.low, thing.span) : [];
    const { low, span } = this.facts.forms[thing.form], place = this.placeAt(thing, frame), turn = turnOf(this.turnAt(thing, frame));
    return this.boxCorners(low, span).map((p) => add(place, rotated(turn, p)));
  }

  // The unit and the origin: the box of what moves, less the hundredth part that strays farthest; of still things those
  // that are not much larger belong to it.
  frameUnit() {
    const { things } = this.facts;
    const all = things.map((thing) => ({ thing, moves: thing.track !== undefined || thing.frames > 1 || Boolean(thing.starts && thing.starts.length > 2) }));
    const moving = all.filter((each) => each.moves && each.thing.kind !== "points"), chosen = moving.length ? moving : all;
    const samples = [];
    const every = Math.max(1, Math.ceil((chosen.length * Math.min(this.count, 12)) / 4000));
    chosen.forEach(({ thing }, i) => {
      if (i % every) return;
      const frames = thing.track === undefined ? [0] : [...new Set([...Array(12).keys()].map((k) => Math.round((k * (this.count - 1)) / 11)))];
      for (const frame of frames) samples.push(...this.cornersAt(thing, frame));
    });
    if (!samples.length) samples.push([0, 0, 0], [1, 1, 1]);
    const edge = moving.length && samples.length > 400 ? 0.01 : 0;
    const sorted = [0, 1, 2].map((axis) => samples.map((p) => p[axis]).sort((a, b) => a - b));
    const pick = (axis, part) => sorted[axis][Math.round(part * (samples.length - 1))];
    const low = [0, 1, 2].map((axis) => pick(axis, edge)), high = [0, 1, 2].map((axis) => pick(axis, 1 - edge));
    const size = Math.max(...low.map((c, axis) => high[axis] - c)) || 1;
    for (const { thing, moves } of all) {
      if (moves || thing.form === undefined || !moving.length) continue;
      const corners = this.cornersAt(thing, 0);
      const reach = [0, 1, 2].map((axis) => Math.max(...corners.map((p) => p[axis])) - Math.min(...corners.map((p) => p[axis])));
      if (Math.max(...reach) > 1.6 * size) continue;
      for (const p of corners) p.forEach((c, axis) => { low[axis] = Math.min(low[axis], c); high[axis] = Math.max(high[axis], c); });
    }
    this.origin = this.facts.target ?? low.map((c, axis) => (c + high[axis]) / 2);
    this.unit = 1 / (Math.max(...low.map((c, axis) => high[axis] - c)) || 1);
    this.low = this.toUnit(low);
    this.high = this.toUnit(high);
    this.radius = length(subtract(this.high, this.low)) / 2;
  }
}
