// The page of `abut.show`: what is shown, the controls, and its start.

const $ = (id) => document.getElementById(id);
const facts = readFacts();
const MANY_FACES = 400000; // as many are not made anew in each frame of a phone
const COLOURS = {
  blue: ["#4a7cb5", "#6f9fd8"], red: ["#c25342", "#df7360"], green: ["#5a9a63", "#7dbd84"], violet: ["#7e63b0", "#a48bd6"],
  yellow: ["#dfa938", "#ecc15c"], teal: ["#2f958f", "#51bdb5"], orange: ["#dd7d3c", "#f0985c"], pink: ["#c9658f", "#e389b0"],
  grey: ["#c6cbd2", "#5a626e"], wood: ["#c79d6d", "#b98f60"], brick: ["#b4614c", "#b76a56"], stone: ["#b9ad9a", "#a2988a"],
  ink: ["#2a3038", "#d9dde3"],
};
const TURNS = Object.keys(COLOURS).slice(0, 8);
const DIRECTIONS = { 1: [0, -1, 0], 2: [1, 0, 0], 3: [0, -0.04, 1] };
const STANDING_IN_THE_WAY = 0.25;

const firstTime = facts.times[0], lastTime = facts.times[facts.times.length - 1], isStill = facts.times.length === 1;
const state = { time: firstTime, playing: false, loop: true, chosen: -1, drawn: 0, hidden: new Set(facts.groups.flatMap((group, number) => (group.hidden ? [number] : []))), through: false };
let picture = null, camera = null, moments = null, theme = null, drawPending = false, placed = "";
let batches = [], lights = null;

// --- colours

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme = null;
  placed = "";
  showGroups();
  redraw();
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => rgb(style.getPropertyValue(name).trim());
  return {
    back: get("--stage"), line: get("--wire"), rim: get("--paper"), ink: get("--ink"),
    lineStrength: isDark() ? 0.75 : 0.5, shadow: isDark() ? 0.9 : 0.8, dim: isDark() ? 0.9 : 1,
  };
}

function hexOf(name, turn) {
  if (name.startsWith("#")) return name;
  return COLOURS[name || TURNS[turn % TURNS.length]][isDark() ? 1 : 0];
}

// The turn in the palette counts groups without a colour alone.
const turns = [];
for (const group of facts.groups) turns.push(group.colour ? -1 : turns.filter((turn) => turn >= 0).length);
const groupHex = (number) => hexOf(facts.groups[number].colour, Math.max(turns[number], 0));
const groupSizes = facts.groups.map((_, number) => facts.things.filter((thing) => thing.group === number).length);

// Things of one group differ a little, as bricks do.
function tintOf(thing, number) {
  const base = rgb(thing.colour ? hexOf(thing.colour, 0) : groupHex(thing.group));
  const noise = groupSizes[thing.group] > 3 ? (((number * 2654435761) >>> 8) % 1000) / 1000 - 0.5 : 0;
  return base.map((c) => clamp(c * (1 + 0.13 * noise), 0, 1));
}

// --- what stands in the way

// Some places of what moves; a still box between them and the eye is seen through.
function isInTheWay(thing, number, places) {
  if (!thing.still || thing.form === undefined || facts.forms[thing.form].faces > 12 || !places.length) return false;
  const { low, span } = facts.forms[thing.form], place = thing.still.slice(0, 3), q = turnOf(thing.still.slice(3));
  const inside = (p) => rotated([q[0], -q[1], -q[2], -q[3]], subtract(p, place));
  const eye = inside(scale(camera.eye, 1 / moments.unit).map((c, i) => c + moments.origin[i]));
  let count = 0;
  for (const p of places) {
    const d = subtract(inside(p), eye);
    let enter = 0, leave = 0.999;
    for (let k = 0; k < 3; k++) {
      const s = (low[k] - eye[k]) / d[k], t = (low[k] + span[k] - eye[k]) / d[k];
      enter = Math.max(enter, Math.min(s, t));
      leave = Math.min(leave, Math.max(s, t));
    }
    if (enter < leave) count++;
  }
  return count > STANDING_IN_THE_WAY * places.length;
}

function placesNow() {
  const moving = facts.things.filter((thing) => thing.track !== undefined), every = Math.ceil(moving.length / 64) || 1;
  return moving.filter((_, i) => i % every === 0).map((thing) => moments.placeAt(thing, moments.frame));
}

// --- the moment shown

const IDENTITY_TURN = [1, 0, 0, 0];

function isShown(thing) {
  return !state.hidden.has(thing.group) && moments.isThere(thing);
}

function opacityOf(thing, number, places) {
  if (thing.still && thing.kind === "faces" && moments.tracks && (state.through || isInTheWay(thing, number, places))) return Math.min(thing.opacity, 0.16);
  return thing.opacity;
}

// A still thing much larger than what moves fades out far away, and casts no shadow.
function isGround(thing) {
  return thing.still && moments.tracks > 0 && thing.form !== undefined && length(facts.forms[thing.form].span) * moments.unit > 6 * moments.radius;
}

function fillBatch({ batch, members }, places) {
  const rows = [];
  for (const member of members) {
    if (!isShown(member.thing)) continue;
    const opacity = opacityOf(member.thing, member.number, places);
    const colour = tintOf(member.thing, member.number);
    const fades = isGround(member.thing) ? 1 : 0;
    for (const [place, turn, size] of member.where())
      rows.push([...place, ...turn, ...size, ...colour, opacity, member.number, fades]);
  }
  const solid = rows.filter((row) => row[13] >= 1), clear = rows.filter((row) => row[13] < 1);
  if (rows.length * INSTANCE > batch.values.length) batch.values = new Float32Array(rows.length * INSTANCE);
  [...solid, ...clear].forEach((row, i) => batch.values.set(row, i * INSTANCE));
  picture.place(batch, solid.length, rows.length);
}

function placeThings() {
  moments.seek(state.time);
  const places = placesNow();
  const key = [state.time, state.through, [...state.hidden].join(), camera.yaw.toFixed(2), camera.pitch.toFixed(2), camera.distance.toFixed(2)].join("|");
  if (key === placed) return;
  placed = key;
  for (const each of batches) {
    if (each.moving !== undefined && isShown(each.members[0].thing)) {
      const at = [moments.frame, moments.part].join();
      if (each.shownAt !== at) picture.reshape(each.batch, moments.points(each.members[0].thing, each.moving));
      each.shownAt = at;
    }
    fillBatch(each, places);
  }
  placeLines();
}

function placeLines() {
  const lines = [], marks = [];
  facts.things.forEach((thing, number) => {
    if (thing.kind === "faces" || !isShown(thing)) return;
    const colour = tintOf(thing, number);
    if (thing.kind === "lines") {
      const pairs = moments.data[`corners ${number}`];
      if (!thing.radius.some((r) => r === 0)) return;
      const points = moments.points(thing, number), at = (v) => [points[3 * v], points[3 * v + 1], points[3 * v + 2]];
      for (let i = 0; i < pairs.length; i += 2) if (!thing.radius[i / 2]) lines.push([...at(pairs[i]), ...at(pairs[i + 1]), ...colour, thing.opacity]);
      return;
    }
    const frame = thing.starts.length > 2 ? moments.frame : 0, rows = moments.data[`points ${number}`];
    for (let i = thing.starts[frame]; i < thing.starts[frame + 1]; i++) {
      const at = moments.toUnit([0, 1, 2].map((axis) => moments.value(thing, rows[3 * i + axis], axis)));
      marks.push([...at, ...colour, 1]);
      if (!thing.normals) continue;
      const normal = [0, 1, 2].map((axis) => (moments.data[`normals ${number}`][3 * i + axis] - 127) / 127);
      lines.push([...at, ...add(at, scale(normal, 0.04 * camera.distance)), ...colour, 0.9]);
    }
  });
  picture.fill(picture.lines, lines);
  picture.fill(picture.marks, marks);
}

// The instances of a line with a radius: a rod for each segment, a ball at each end.
function rodsOf(thing, number, isBall) {
  return () => {
    const points = moments.points(thing, number), pairs = moments.data[`corners ${number}`], rows = [];
    const at = (v) => [points[3 * v], points[3 * v + 1], points[3 * v + 2]];
    for (let i = 0; i < pairs.length; i += 2) {
      const r = thing.radius[i / 2] * moments.unit;
      if (!r) continue;
      const a = at(pairs[i]), b = at(pairs[i + 1]), along = subtract(b, a), size = length(along) || 1e-9;
      if (isBall) rows.push([a, IDENTITY_TURN, [r, r, r]], [b, IDENTITY_TURN, [r, r, r]]);
      else rows.push([a, turnFromZ(scale(along, 1 / size)), [r, r, size]]);
    }
    return rows;
  };
}

function makeBatches() {
  const shared = new Map();
  facts.things.forEach((thing, number) => {
    if (thing.kind === "lines" && thing.radius.some((r) => r > 0))
      for (const isBall of [false, true]) {
        const key = isBall ? "ball" : "rod";
        if (!shared.has(key)) shared.set(key, { form: isBall ? makeBall() : makeRod(), members: [] });
        shared.get(key).members.push({ thing, number, where: rodsOf(thing, number, isBall) });
      }
    if (thing.kind !== "faces") return;
    const isForm = thing.form !== undefined, key = isForm && !thing.painted ? thing.form : `own ${number}`;
    if (!shared.has(key))
      shared.set(key, {
        form: isForm ? new Form(moments.formPoints(thing.form), moments.formFaces(thing.form))
          : new Form(moments.points(thing, number), moments.data[`corners ${number}`]),
        members: [], moving: isForm ? undefined : number,
        paint: thing.painted ? moments.data[`colours ${number}`] : null,
      });
    const where = isForm ? () => { const [place, turn] = moments.pose(thing); return [[moments.toUnit(place), turn, [1, 1, 1]]]; }
      : () => [[[0, 0, 0], IDENTITY_TURN, [1, 1, 1]]];
    shared.get(key).members.push({ thing, number, where });
  });
  batches = [...shared.values()].map((each) => {
    let paint = null;
    if (each.paint) {
      paint = new Float32Array(3 * each.form.count);
      for (let i = 0; i < each.form.count; i++) for (let c = 0; c < 3; c++) paint[3 * i + c] = each.paint[3 * Math.floor(i / 3) + c] / 255;
    }
    return { ...each, batch: picture.addBatch(each.form, each.members.length, paint) };
  });
}

// --- drawing

function sayMoment() {
  $("slider").value = state.time;
  const digits = lastTime - firstTime < 1 ? 3 : 2;
  $("clock").innerHTML = `${state.time.toFixed(digits)} <span>/ ${lastTime.toFixed(digits)} s</span>`;
  $("slider").setAttribute("aria-valuetext", `${state.time.toFixed(digits)} seconds`);
  const past = facts.marks.filter((mark) => mark.time <= state.time + 1e-9).pop();
  $("event").textContent = past ? past.text : "";
}

function draw() {
  drawPending = false;
  sayMoment();
  if (!picture) return;
  theme ??= readTheme();
  placeThings();
  placeCut();
  picture.draw(camera, theme, lights);
  state.drawn++;
}

function redraw() {
  if (!drawPending) requestAnimationFrame(draw);
  drawPending = true;
}

function placeCut() {
  const axis = $("cut-axis").value;
  $("cut-at").disabled = $("cut-side").disabled = axis === "";
  if (axis === "") { picture.clip = [0, 0, 0, 1]; return; }
  const sign = $("cut-side").dataset.side === "other" ? -1 : 1, normal = [0, 0, 0];
  normal[axis] = sign;
  const at = mix(moments.low[axis] - 0.001, moments.high[axis] + 0.001, Number($("cut-at").value));
  picture.clip = [...normal, sign * at];
}

// --- camera

function fit(atOnce = false, direction = null) {
  if (!picture) return;
  const aspect = picture.resize(), to = direction ? camera.pointAt(direction) : {};
  const was = { yaw: camera.yaw, pitch: camera.pitch };
  Object.assign(camera, to);
  const { right, up, back } = camera.axes;
  Object.assign(camera, was);
  const target = scale(add(moments.low, moments.high), 0.5);
  const steepY = Math.tan(FIELD / 2) * 0.82, steepX = steepY * aspect;
  let distance = 0.05;
  for (const corner of moments.boxCorners(moments.low, subtract(moments.high, moments.low))) {
    const p = subtract(corner, target);
    distance = Math.max(distance, dot(p, back) + Math.max(Math.abs(dot(p, right)) / steepX, Math.abs(dot(p, up)) / steepY));
  }
  camera.fly({ target, distance, ...to }, atOnce);
}

// --- time

function setTime(time) {
  state.time = clamp(time, firstTime, lastTime);
  redraw();
}

function sayPlaying(playing) {
  state.playing = playing;
  $("play").setAttribute("aria-pressed", String(playing));
  $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
}

function play() {
  if (state.playing || isStill) return sayPlaying(false);
  if (state.time >= lastTime) setTime(firstTime);
  sayPlaying(true);
  let before = null, waited = 0;
  const tick = (now) => {
    if (!state.playing) return;
    const spent = before === null ? 0 : Math.min((now - before) / 1000, 0.25);
    before = now;
    if (state.time >= lastTime) {
      if (!state.loop) return sayPlaying(false);
      waited += spent;
      if (waited > 1) { setTime(firstTime); waited = 0; }
    } else setTime(state.time + spent * Number($("speed").value));
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

function step(count) {
  moments?.seek(state.time);
  const at = (moments ? moments.frame : 0) + (count < 0 && moments?.part > 0 ? 1 : 0) + count;
  setTime(facts.times[clamp(at, 0, facts.times.length - 1)]);
}

// --- what is under the pointer

function tellWho(event) {
  const box = $("canvas").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const number = picture ? picture.whoIsAt(x, y) : -1, tip = $("tip");
  if (number !== state.chosen) { state.chosen = picture.chosen = number; redraw(); }
  tip.hidden = number < 0;
  if (number < 0) return;
  const thing = facts.things[number];
  tip.replaceChildren(thing.name);
  if (thing.note) tip.append(Object.assign(document.createElement("small"), { textContent: thing.note }));
  const left = Math.min(x + 14, box.width - tip.offsetWidth - 4), top = y + 18 + tip.offsetHeight > box.height ? y - tip.offsetHeight - 10 : y + 18;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

function forgetWho() {
  $("tip").hidden = true;
  if (state.chosen < 0) return;
  state.chosen = -1;
  if (picture) picture.chosen = -1;
  redraw();
}

// --- the list

function showGroups() {
  $("groups").replaceChildren(...facts.groups.map((group, number) => {
    const row = document.createElement("li"), label = document.createElement("label"), box = document.createElement("input");
    const swatch = document.createElement("i"), name = document.createElement("span"), size = document.createElement("b");
    Object.assign(box, { type: "checkbox", checked: !state.hidden.has(number) });
    box.dataset.group = number;
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(number);
      else state.hidden.add(number);
      redraw();
    });
    swatch.style.background = groupHex(number);
    name.textContent = group.name;
    size.textContent = groupSizes[number] > 1 ? groupSizes[number].toLocaleString("en") : "";
    label.append(box, swatch, name, size);
    row.append(label);
    return row;
  }));
}

function showMarks() {
  $("marks").replaceChildren(...facts.marks.map((mark) => {
    const tick = document.createElement("button");
    tick.type = "button";
    tick.title = tick.ariaLabel = `${mark.text} (${mark.time.toFixed(2)} s)`;
    tick.style.left = `${(100 * (mark.time - firstTime)) / (lastTime - firstTime || 1)}%`;
    tick.addEventListener("click", () => {
      sayPlaying(false);
      setTime(mark.time);
      if (mark.point && camera) camera.fly({ target: moments.toUnit(mark.point) });
    });
    return tick;
  }));
}

// --- start

function toggle(id, change) {
  const button = $(id), on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  change(on);
  placed = "";
  redraw();
}

function openPanel(id) {
  const open = $(id).hidden;
  for (const each of ["list", "help"]) {
    $(each).hidden = each !== id || !open;
    $(`${each}-button`).setAttribute("aria-expanded", String(!$(each).hidden));
  }
}

const PRESS = {
  edges: () => toggle("edges", (on) => { if (picture) picture.wire = on; }),
  through: () => toggle("through", (on) => { state.through = on; }),
  loop: () => toggle("loop", (on) => { state.loop = on; }),
  theme: () => setTheme(!isDark()),
  fit: () => fit(),
  play,
  "list-button": () => openPanel("list"),
  "help-button": () => openPanel("help"),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
  const turn = (x, y) => () => camera?.turn(x, y), to = (direction) => () => fit(false, inScene(direction));
  const go = (count) => () => { sayPlaying(false); step(event.shiftKey ? 10 * count : count); };
  const press = {
    ArrowLeft: go(-1), ArrowRight: go(1), Home: () => fit(), " ": play,
    a: turn(-40, 0), d: turn(40, 0), w: turn(0, 25), s: turn(0, -25),
    "+": () => camera?.zoom(0.85), "=": () => camera?.zoom(0.85), "-": () => camera?.zoom(1 / 0.85),
    1: to(DIRECTIONS[1]), 2: to(DIRECTIONS[2]), 3: to(DIRECTIONS[3]),
    e: PRESS.edges, x: PRESS.through, l: PRESS.loop, t: PRESS.theme, "?": PRESS["help-button"],
    Escape: () => { for (const id of ["list", "help"]) if (!$(id).hidden) openPanel(id); forgetWho(); },
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!press || (event.key === " " && event.target.closest("button, input[type=checkbox]"))) return;
  event.preventDefault();
  press();
}

const inScene = ([x, y, z]) => (facts.up === "z" ? [x, y, z] : [x, z, -y]);

function listen() {
  for (const [id, press] of Object.entries(PRESS)) $(id).addEventListener("click", press);
  Object.assign($("slider"), { min: firstTime, max: lastTime });
  $("slider").addEventListener("input", () => { sayPlaying(false); setTime(Number($("slider").value)); });
  document.addEventListener("keydown", onKey);
  const canvas = $("canvas");
  let down = null, waiting = null;
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) return forgetWho();
    if (event.pointerType === "touch") return;
    if (!waiting) requestAnimationFrame(() => { const latest = waiting; waiting = null; tellWho(latest); });
    waiting = event;
  });
  canvas.addEventListener("pointerdown", (event) => { down = event; });
  canvas.addEventListener("pointerup", (event) => {
    if (down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 6) tellWho(event);
  });
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") forgetWho(); });
  $("cut-axis").addEventListener("change", redraw);
  $("cut-at").addEventListener("input", redraw);
  $("cut-side").addEventListener("click", () => {
    $("cut-side").dataset.side = $("cut-side").dataset.side === "other" ? "" : "other";
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches));
  new ResizeObserver(redraw).observe($("view"));
}

const figure = (x) => (x === 0 ? "0" : Number(x.toPrecision(2)).toString());

function sayLimits() {
  const remarks = [`Places are rounded to ±${figure(facts.precision)}`];
  if (facts.things.some((thing) => thing.track !== undefined)) remarks[0] += `, turns to ±${figure(1 / facts.turnSteps)} rad`;
  remarks[0] += ", for the picture.";
  if (facts.times.length < facts.frameCount) remarks.push(`Of ${facts.frameCount.toLocaleString("en")} frames ${facts.times.length.toLocaleString("en")} are kept; between them it goes straight.`);
  $("limits").textContent = remarks.join(" ");
}

function sayInstead(text) {
  $("message").textContent = text;
  $("message").hidden = false;
  document.body.classList.add("without-view");
}

async function start() {
  document.body.classList.toggle("still", isStill);
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  listen();
  sayLimits();
  showMarks();
  sayMoment();
  if (!facts.things.length) return sayInstead("There is nothing to show.");
  let made;
  try {
    made = new Picture($("canvas"));
  } catch (error) {
    return sayInstead(`The 3D view needs WebGL2, which this browser does not offer (${error.message}).`);
  }
  try {
    moments = new Moments(facts, await unpack(facts));
  } catch (error) {
    return sayInstead(`This browser cannot unpack the scene (${error.message}).`);
  }
  picture = made;
  makeBatches();
  camera = new Camera(redraw);
  camera.cutaway = 0.02;
  camera.extent = 40;
  camera.up = facts.up === "z" ? 2 : 1;
  camera.listen($("canvas"));
  Object.assign(camera, camera.pointAt(facts.view ?? inScene([0.62, -0.72, 0.36])));
  lights = { up: inScene([0, 0, 1]), key: unit(inScene([0.42, -0.5, 0.86])), middle: scale(add(moments.low, moments.high), 0.5), radius: moments.radius };
  $("canvas").addEventListener("webglcontextlost", () => sayInstead("The graphics driver gave up; reload the page."));
  fit(true);
  $("message").hidden = true;
  redraw();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!isStill && !still) play();
}

// For tests and the curious.
window.abutPlayer = { state, facts, get camera() { return camera; }, get moments() { return moments; }, whoIsAt: (x, y) => facts.things[picture.whoIsAt(x, y)]?.name ?? "", pixels: () => { draw(); return picture.pixels(camera, theme, lights); } };
window.abutPlayer.ready = start();
