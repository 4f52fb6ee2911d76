// What is shown: a step, a time in it, a chosen pair. The picture follows from these.

const $ = (id) => document.getElementById(id);
const facts = readFacts();
const NORMALS_WITHIN = 0.3, FEW = 60; // distance in sizes of the scene; markers of a step
const FILLED = 0.86; // part of the view that the mesh takes when it is fitted
const lastFrame = Math.max(facts.names.length - 1, 0);
const missing = new Set(facts.missing), skipped = new Set(facts.skipped);
const keptAt = new Map(facts.kept.map((frame, k) => [frame, k]));
const state = { step: 0, time: 0, playing: false, chosen: null, hidden: new Set(), list: "contacts", drawn: 0 };
const totals = facts.between.map((count, frame) => count + facts.cuts[frame]);

let data = null, found = null, contacts = null, incidents = null, viewer = null, camera = null, theme = null, points = null, drawPending = false, codesShown = "", pointsShown = "", pair = null;

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return {
    back: rgb(get("--stage")), outside: rgb(get("--outside")), inside: rgb(get("--inside")), line: rgb(get("--wire")),
    lineStrength: 0.5, rim: rgb(get("--paper")), inkRgb: rgb(get("--ink")),
    band: get("--chosen"), ink: get("--ink"), quiet: get("--quiet"), rule: get("--rule"), warn: get("--warn"), impact: get("--impact"),
  };
}

// --- the moment shown

// Numbers of the two kept frames to mix and the part of the second. Between frames that are not neighbours nothing is known.
function momentOf(step, time) {
  const k = keptAt.get(step);
  if (k !== undefined && keptAt.get(step + 1) === k + 1) return [k, k + 1, clamp(time - step, 0, 1)];
  if (k !== undefined) return [k, k, 0];
  let before = 0;
  for (let i = 0; i < facts.kept.length && facts.kept[i] <= step; i++) before = i;
  return [before, before, 0];
}

function sceneScale() {
  const longest = Math.max(...facts.span) || 1;
  return facts.span.map((span) => span / longest);
}

function placePoints() {
  const moment = momentOf(state.step, state.time);
  if (moment.join() === pointsShown) return;
  pointsShown = moment.join();
  const [i, j, part] = moment;
  const count = points.length / 3, extent = sceneScale(), all = data.positions;
  for (let axis = 0; axis < 3; axis++) {
    const from = (3 * i + axis) * count, to = (3 * j + axis) * count;
    const size = extent[axis] / STEPS, shift = extent[axis] / 2;
    for (let v = 0; v < count; v++) points[3 * v + axis] = mix(all[from + v], all[to + v], part) * size - shift;
  }
  viewer.setPositions(points);
}

const sceneOf = (steps) => sceneScale().map((extent, axis) => (steps[axis] / STEPS - 0.5) * extent);

// The chosen pair with its corners, while its step is shown and its frame has a picture.
function chosenRow() {
  const i = state.chosen;
  if (i === null || found.frame[i] !== state.step || !found.isDrawn(i)) return null;
  if (pair?.number !== i) {
    const [cornersA, cornersB] = found.corners(i);
    pair = { number: i, cornersA, cornersB, point: found.point(i), normal: found.normal(i), code: found.code(i), features: found.features(i) };
  }
  return pair;
}

function paintFaces() {
  const everything = $("colour").value === "all", row = chosenRow(), through = $("through").checked;
  const key = [everything ? "all" : state.step, row ? state.chosen : "", through, [...state.hidden]].join();
  if (key === codesShown) return;
  codesShown = key;
  const faces = viewer.faces, count = faces.length / 3;
  const codes = new Uint8Array(count).fill(NO_MARK), solid = new Uint8Array(count).fill(SOLID);
  const k = keptAt.get(state.step);
  if (everything) data.first.forEach((first, face) => { if (first !== STEPS) codes[face] = 1 + Math.round((253 * first) / (STEPS - 1)); });
  else if (k !== undefined)
    for (let i = facts.faceStart[k]; i < facts.faceStart[k + 1]; i++) codes[data.hitFaces[i]] = data.hitCodes[i];
  for (let face = 0; face < count; face++) {
    const has = (v) => faces[3 * face] === v || faces[3 * face + 1] === v || faces[3 * face + 2] === v;
    if (row) solid[face] = row.cornersA.every(has) || row.cornersB.every(has) ? SOLID : CLEAR; // only the pair hides what is behind it
    else if (through) solid[face] = codes[face] === NO_MARK ? CLEAR : SOLID;
    if (state.hidden.size && state.hidden.has(data.faceBody[face])) solid[face] = HIDDEN;
  }
  viewer.setCodes(codes, solid);
}

// Points of contact, a ring until the moment has come. From afar they are small; normals come with nearness, or where there are few.
function placeMarkers() {
  const k = keptAt.get(state.step);
  const marks = [], lines = [];
  const [from, to] = $("markers").checked && k !== undefined && !chosenRow() ? [facts.markerStart[k], facts.markerStart[k + 1]] : [0, 0];
  const near = camera.distance < NORMALS_WITHIN || to - from <= FEW;
  const reach = 0.045 * Math.min(camera.distance, 1.5);
  viewer.markSize = to - from > FEW ? clamp(4 / Math.sqrt(camera.distance), 4, 9) : 9;
  for (let k = from; k < to; k++) {
    const i = data.markRow[k];
    if (state.hidden.size && (state.hidden.has(found.bodyA[i]) || state.hidden.has(found.bodyB[i]))) continue;
    const at = sceneOf(found.point(i));
    const code = found.code(i), colour = colourOf(code);
    const past = code === CUT || (code - 1) / 253 <= state.time - state.step + 1e-9;
    marks.push([...at, ...colour, past ? 1 : 0]);
    if (!near) continue;
    lines.push([...at, ...add(at, scale(found.normal(i), reach)), ...colour, 0.9]);
  }
  viewer.fill(viewer.marks, marks);
  viewer.fill(viewer.lines, lines);
}

// --- the chosen pair

const pointOf = (v) => [points[3 * v], points[3 * v + 1], points[3 * v + 2]];
const middleOf = (corners) => scale(corners.map(pointOf).reduce(add), 1 / corners.length);

function placePair() {
  const marks = [], lines = [], row = chosenRow();
  if (row) {
    for (const corners of [row.cornersA, row.cornersB]) {
      if (corners.length === 1) marks.push([...pointOf(corners[0]), ...theme.inkRgb, 1]);
      const sides = corners.length === 2 ? 1 : corners.length === 3 ? 3 : 0;
      for (let i = 0; i < sides; i++)
        lines.push([...pointOf(corners[i]), ...pointOf(corners[(i + 1) % corners.length]), ...theme.inkRgb, 1]);
    }
    const at = sceneOf(row.point), colour = colourOf(row.code);
    marks.push([...at, ...colour, 1]);
    lines.push([...at, ...add(at, scale(row.normal, 0.09 * camera.distance)), ...colour, 1]);
  }
  viewer.fill(viewer.heavyMarks, marks);
  viewer.fill(viewer.heavyLines, lines);
}

function placeLabels() {
  const row = chosenRow(), box = $("labels");
  if (!row) return box.replaceChildren();
  if (box.children.length !== 2) box.replaceChildren(document.createElement("span"), document.createElement("span"));
  const width = box.clientWidth, height = box.clientHeight;
  const at = [row.cornersA, row.cornersB].map((corners) => project(viewer.matrix, middleOf(corners), width, height));
  const rightwards = at[0].x >= at[1].x; // each label stands on its own side of the pair
  at.forEach(({ x, y, seen }, i) => {
    const label = box.children[i];
    label.textContent = row.features[i];
    label.hidden = !seen;
    label.className = (i === 0) === rightwards ? "right" : "left";
    label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  });
}

function unchoose() {
  state.chosen = null;
  contacts?.listing.mark(-1);
  redraw();
}

// Show a pair alone, the rest of the mesh seen through; a second click gives the rest back.
function choose(i) {
  if (i === state.chosen) return unchoose();
  state.chosen = i;
  contacts.listing.mark(i);
  stop();
  setTime(found.time(i), found.frame[i]);
  contacts.listing.reveal(i);
  const row = chosenRow();
  if (!viewer || !row) return;
  placePoints();
  const at = sceneOf(row.point);
  const corners = [...row.cornersA, ...row.cornersB].map(pointOf);
  const size = Math.max(...corners.map((p) => length(subtract(p, at))), 1e-6);
  // Look aslant at the place: from the side of the normal that the camera is on, so that both partners are seen.
  const back = camera.back;
  const normal = scale(unit(row.normal), Math.sign(dot(row.normal, back)) || 1);
  const aside = subtract(back, scale(normal, dot(back, normal)));
  const direction = unit(add(scale(normal, 0.7), scale(length(aside) > 1e-3 ? unit(aside) : camera.axes.right, 0.7)));
  camera.fly({ target: at, distance: Math.min(camera.reach(2.4 * size, viewer.resize()), 2), ...camera.pointAt(direction) });
}

// The worst moment of an incident, and its contacts alone in the list.
function chooseIncident(k) {
  incidents.listing.mark(k);
  contacts.limit(k);
  if (state.chosen !== incidents.worst[k]) choose(incidents.worst[k]);
}

// Show all of the frame: the nearest place from which every vertex is inside the view.
function fit(atOnce = false) {
  if (!viewer) return;
  placePoints();
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const shown = viewer.faces.filter((_, i) => !state.hidden.size || !state.hidden.has(data.faceBody[Math.floor(i / 3)]));
  const corners = shown.length ? shown : viewer.faces;
  for (const v of corners)
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis], points[3 * v + axis]);
      high[axis] = Math.max(high[axis], points[3 * v + axis]);
    }
  unchoose();
  const target = scale(add(low, high), 0.5);
  const { right, up, back } = camera.axes;
  const steepY = Math.tan(FIELD / 2) * FILLED, steepX = steepY * viewer.resize();
  let distance = NEAREST;
  for (const v of corners) {
    const p = subtract(pointOf(v), target);
    distance = Math.max(distance, dot(p, back) + Math.max(Math.abs(dot(p, right)) / steepX, Math.abs(dot(p, up)) / steepY));
  }
  camera.fly({ target, distance }, atOnce);
}
