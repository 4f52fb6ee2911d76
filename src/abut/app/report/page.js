// What is shown and when: a step, a time in it, a chosen pair. Everything on the page follows from these.

const $ = (id) => document.getElementById(id);
const facts = readFacts();
const NORMALS_WITHIN = 1, FEW = 40;
const FILLED = 0.86; // part of the view that the mesh takes when it is fitted
const lastFrame = Math.max(facts.names.length - 1, 0);
const missing = new Set(facts.missing);
const keptAt = new Map(facts.kept.map((frame, k) => [frame, k]));
const state = { step: 0, time: 0, playing: false, chosen: null, drawn: 0 };
const totals = facts.between.map((count, frame) => count + facts.cuts[frame]);

let data = null, viewer = null, camera = null, theme = null, points = null, asked = false, codesShown = "";

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return {
    back: rgb(get("--stage")), outside: rgb(get("--outside")), inside: rgb(get("--inside")), line: rgb(get("--wire")),
    lineStrength: 0.5, rim: rgb(get("--paper")), inkRgb: rgb(get("--ink")),
    ink: get("--ink"), quiet: get("--quiet"), rule: get("--rule"), warn: get("--warn"), impact: get("--impact"),
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
  const [i, j, part] = momentOf(state.step, state.time);
  const count = points.length / 3, extent = sceneScale(), all = data.positions;
  for (let axis = 0; axis < 3; axis++) {
    const from = (3 * i + axis) * count, to = (3 * j + axis) * count;
    const size = extent[axis] / STEPS, shift = extent[axis] / 2;
    for (let v = 0; v < count; v++) points[3 * v + axis] = mix(all[from + v], all[to + v], part) * size - shift;
  }
}

const sceneOf = (steps) => sceneScale().map((extent, axis) => (steps[axis] / STEPS - 0.5) * extent);

function paintFaces() {
  const everything = $("colour").value === "all";
  const key = everything ? "all" : String(state.step);
  if (key === codesShown) return;
  codesShown = key;
  const codes = new Uint8Array(viewer.faces.length / 3).fill(NO_MARK);
  const k = keptAt.get(state.step);
  if (everything) data.first.forEach((first, face) => { if (first !== STEPS) codes[face] = 1 + Math.round((253 * first) / (STEPS - 1)); });
  else if (k !== undefined)
    for (let i = facts.faceStart[k]; i < facts.faceStart[k + 1]; i++) codes[data.hitFaces[i]] = data.hitCodes[i];
  viewer.setCodes(codes);
}

// Points of contact, a ring until the moment has come. From afar they are small; normals come with nearness, or where there are few.
function placeMarkers() {
  const k = keptAt.get(state.step);
  const marks = [], lines = [];
  const [from, to] = $("markers").checked && k !== undefined ? [facts.markerStart[k], facts.markerStart[k + 1]] : [0, 0];
  const near = camera.distance < NORMALS_WITHIN || to - from <= FEW;
  const reach = 0.045 * Math.min(camera.distance, 1.5);
  viewer.markSize = clamp(5.5 / Math.sqrt(camera.distance), 5, 10);
  for (let i = from; i < to; i++) {
    const at = sceneOf(data.points.subarray(3 * i, 3 * i + 3));
    const code = data.codes[i], colour = colourOf(code);
    const past = code === CUT || (code - 1) / 253 <= state.time - state.step + 1e-9;
    marks.push([...at, ...colour, past ? 1 : 0]);
    if (!near) continue;
    const normal = [0, 1, 2].map((axis) => (data.normals[3 * i + axis] - 127) / 127);
    lines.push([...at, ...add(at, scale(normal, reach)), ...colour, 0.9]);
  }
  viewer.fill(viewer.marks, marks);
  viewer.fill(viewer.lines, lines);
}

// --- the chosen pair

const pointOf = (v) => [points[3 * v], points[3 * v + 1], points[3 * v + 2]];
const middleOf = (corners) => scale(corners.map(pointOf).reduce(add), 1 / corners.length);

function placePair() {
  const marks = [], lines = [];
  const row = state.chosen === null ? null : facts.rows[state.chosen];
  if (row && row.frame === state.step)
    for (const corners of [row.cornersA, row.cornersB]) {
      if (corners.length === 1) marks.push([...pointOf(corners[0]), ...theme.inkRgb, 1]);
      const sides = corners.length === 2 ? 1 : corners.length === 3 ? 3 : 0;
      for (let i = 0; i < sides; i++)
        lines.push([...pointOf(corners[i]), ...pointOf(corners[(i + 1) % corners.length]), ...theme.inkRgb, 1]);
    }
  viewer.fill(viewer.heavyMarks, marks);
  viewer.fill(viewer.heavyLines, lines);
}

function placeLabels() {
  const row = state.chosen === null ? null : facts.rows[state.chosen];
  const box = $("labels");
  if (!row || row.frame !== state.step) return box.replaceChildren();
  if (box.children.length !== 2) box.replaceChildren(document.createElement("span"), document.createElement("span"));
  const [, a, b] = KINDS[row.kind];
  const width = box.clientWidth, height = box.clientHeight;
  const at = [row.cornersA, row.cornersB].map((corners) => project(viewer.matrix, middleOf(corners), width, height));
  const rightwards = at[0].x >= at[1].x; // each label stands on its own side of the pair
  at.forEach(({ x, y, seen }, i) => {
    const label = box.children[i];
    label.textContent = i ? `${b} ${row.b}` : `${a} ${row.a}`;
    label.hidden = !seen;
    label.className = (i === 0) === rightwards ? "right" : "left";
    label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  });
}

function choose(index) {
  const row = facts.rows[index];
  state.chosen = index;
  table.mark(index);
  stop();
  setTime(row.time ?? row.frame, row.frame);
  if (!viewer) return;
  placePoints();
  const at = sceneOf(row.point);
  const corners = [...row.cornersA, ...row.cornersB].map(pointOf);
  const size = Math.max(...corners.map((p) => length(subtract(p, at))), 1e-6);
  // Look aslant at the place: from the side of the normal that the camera is on, so that both partners are seen.
  const back = camera.back;
  const normal = scale(unit(row.normal), Math.sign(dot(row.normal, back)) || 1);
  const aside = subtract(back, scale(normal, dot(back, normal)));
  const direction = unit(add(scale(normal, 0.7), scale(length(aside) > 1e-3 ? unit(aside) : camera.axes.right, 0.7)));
  camera.fly({ target: at, distance: Math.min(camera.reach(4.5 * size, viewer.resize()), 2), ...camera.pointAt(direction) });
}

// Show all of the frame: the nearest place from which every vertex is inside the view.
function fit(atOnce = false) {
  if (!viewer) return;
  placePoints();
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const v of viewer.faces)
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis], points[3 * v + axis]);
      high[axis] = Math.max(high[axis], points[3 * v + axis]);
    }
  const target = scale(add(low, high), 0.5);
  const { right, up, back } = camera.axes;
  const steepY = Math.tan(FIELD / 2) * FILLED, steepX = steepY * viewer.resize();
  let distance = NEAREST;
  for (const v of viewer.faces) {
    const p = subtract(pointOf(v), target);
    distance = Math.max(distance, dot(p, back) + Math.max(Math.abs(dot(p, right)) / steepX, Math.abs(dot(p, up)) / steepY));
  }
  camera.fly({ target, distance }, atOnce);
}

// --- what is said about the moment

function sayMoment() {
  const { step, time } = state;
  const between = time > step && step < lastFrame;
  $("slider").value = time;
  $("clock-time").textContent = Number.isInteger(time) ? `Frame ${time}` : `Frame ${time.toFixed(3)}`;
  $("clock-name").textContent = between ? `${facts.names[step]} → ${facts.names[step + 1]}` : facts.names[step + (time > step)] ?? "";
  const cuts = facts.cuts[step] ?? 0, impacts = facts.between[step] ?? 0;
  const parts = [];
  if (cuts) parts.push(`${whole(cuts)} cut${cuts === 1 ? "" : "s"}`);
  if (impacts) parts.push(`${whole(impacts)} in the step`);
  $("clock-count").textContent = missing.has(step) ? "not checked" : parts.join(", ") || "no contact";
  $("clock-count").classList.toggle("none", !parts.length);
  $("slider").setAttribute("aria-valuetext", `${$("clock-time").textContent}, ${$("clock-count").textContent}`);
  const everything = $("colour").value === "all";
  $("scale-low").textContent = everything ? "frame 0" : `frame ${step}`;
  $("scale-high").textContent = everything ? `frame ${lastFrame}` : step < lastFrame ? `${step + 1}` : "";
  $("now").style.left = `${100 * clamp(everything ? time / (lastFrame || 1) : time - step, 0, 1)}%`;
  $("cut-key").hidden = everything || !facts.cuts.some((count) => count);
  const note = missing.has(step)
    ? `Frame ${step} could not be checked; the last one before it is shown.`
    : !keptAt.has(step) ? `Frame ${step} is not kept in this page; the last one before it is shown.`
    : missing.has(step + 1) ? `The step to frame ${step + 1} could not be checked.` : "";
  $("note").hidden = !note || !viewer;
  if ($("note").textContent !== note) $("note").textContent = note;
}

function draw() {
  asked = false;
  theme ??= readTheme();
  sayMoment();
  timeline.draw(state.time, theme);
  if (!viewer) return;
  placePoints();
  viewer.setPositions(points);
  paintFaces();
  placeMarkers();
  placePair();
  viewer.edges = $("edges").checked;
  viewer.draw(camera, theme);
  placeLabels();
  state.drawn++;
}

function redraw() {
  if (!asked) requestAnimationFrame(draw);
  asked = true;
}

// --- time

function setTime(time, step = Math.floor(time)) {
  state.time = clamp(time, 0, lastFrame);
  state.step = clamp(step, 0, lastFrame);
  redraw();
}

function stop() {
  state.playing = false;
  $("play").setAttribute("aria-pressed", "false");
  $("play").setAttribute("aria-label", "Play");
}

function play() {
  if (state.playing) return stop();
  if (state.time >= lastFrame) setTime(0);
  state.playing = true;
  $("play").setAttribute("aria-pressed", "true");
  $("play").setAttribute("aria-label", "Pause");
  let before = null;
  const tick = (now) => {
    if (!state.playing) return;
    if (before !== null) setTime(state.time + ((now - before) / 1000) * Number($("speed").value));
    before = now;
    if (state.time >= lastFrame) stop();
    else requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

// The neighbouring frame, or a tenth of a step on.
function nudge(sign, fine) {
  const unit = fine ? 10 : 1;
  const at = state.time * unit, near = Math.round(at);
  const onIt = Math.abs(at - near) < 1e-6;
  setTime((onIt ? near + sign : sign > 0 ? Math.ceil(at) : Math.floor(at)) / unit);
}

function jump(sign) {
  for (let frame = state.step + sign; frame >= 0 && frame <= lastFrame; frame += sign)
    if (totals[frame]) return setTime(frame);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
  const inTable = event.target.closest("#pairs, details");
  const press = {
    ArrowLeft: () => nudge(-1, event.shiftKey),
    ArrowRight: () => nudge(1, event.shiftKey),
    Home: () => fit(),
    " ": play,
  }[event.key];
  if (!press || (event.key === " " && (inTable || event.target.closest("button, input[type=checkbox]")))) return;
  event.preventDefault();
  if (event.key.startsWith("Arrow")) stop();
  press();
}

// --- start

const timeline = new Timeline($("histogram"), facts, (time) => { stop(); setTime(time); });
const table = new Table(facts, choose);

function listen() {
  $("slider").max = lastFrame;
  $("slider").disabled = lastFrame === 0;
  $("slider").addEventListener("input", () => { stop(); setTime(Number($("slider").value)); });
  $("play").addEventListener("click", play);
  $("back").addEventListener("click", () => { stop(); jump(-1); });
  $("next").addEventListener("click", () => { stop(); jump(1); });
  $("back").disabled = $("next").disabled = !totals.some((count) => count);
  $("play").disabled = lastFrame === 0;
  $("fit").addEventListener("click", () => fit());
  $("up").addEventListener("click", () => {
    if (!camera) return;
    camera.up = camera.up === 2 ? 1 : 2;
    $("up").textContent = camera.up === 2 ? "Z up" : "Y up";
    redraw();
  });
  for (const id of ["edges", "markers", "colour"]) $(id).addEventListener("change", redraw);
  document.addEventListener("keydown", onKey);
  const restyle = () => { theme = null; redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  new ResizeObserver(redraw).observe($("view"));
}

function sayLimits() {
  if (!facts.kept.length) return;
  const shown = facts.kept.length, usable = facts.names.length - missing.size;
  const said = [`Positions are rounded to ±${figure(facts.precision)} for the picture; the check itself used them as they are.`];
  if (shown < usable) said.push(`${whole(shown)} of ${whole(usable)} frames are kept: those of the worst contacts, and others evenly spread.`);
  if (facts.markersLeftOut) said.push(`${whole(facts.markersLeftOut)} less deep contacts have no marker.`);
  $("limits").textContent = said.join(" ");
}

function sayInstead(text) {
  $("message").textContent = text;
  document.body.classList.add("without-view");
}

async function start() {
  listen();
  sayLimits();
  $("ramp").style.backgroundImage = `linear-gradient(to right, ${RAMP.join(", ")})`;
  $("cut-key").firstElementChild.style.background = CUT_COLOUR;
  const busiest = totals.reduce((best, count, frame) => (count > totals[best] ? frame : best), 0);
  setTime(totals[busiest] ? busiest : facts.kept[0] ?? 0);
  if (!facts.kept.length) return sayInstead("There is no frame to show.");
  try {
    viewer = new Viewer($("canvas"));
  } catch (error) {
    return sayInstead(`The 3D view needs WebGL2, which this browser does not offer (${error.message}). Figures and table are complete.`);
  }
  const made = viewer;
  viewer = null; // nothing is drawn before the data is there
  data = await unpack(facts);
  points = new Float32Array(data.positions.length / facts.kept.length);
  made.setMesh(data.faces, points.length / 3);
  camera = new Camera(redraw);
  camera.listen($("canvas"));
  $("canvas").addEventListener("webglcontextlost", () => sayInstead("The graphics driver gave up; reload the page."));
  viewer = made;
  fit(true);
  $("message").hidden = true;
  redraw();
}

// For tests and the curious.
window.abutReport = { state, facts, get camera() { return camera; }, pixels: () => { draw(); return viewer.pixels(camera, theme); } };
window.abutReport.ready = start();
