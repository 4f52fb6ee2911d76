// The words and the controls of the page, and its start.

// --- the moment, in words

// The page of `abut view`, which says nothing of contacts.
function isUnchecked() {
  return document.body.dataset.state === "view";
}

function sayMoment() {
  const { step, time } = state;
  const between = time > step && step < lastFrame;
  $("slider").value = time;
  $("clock-time").textContent = Number.isInteger(time) ? `Frame ${time}` : `Frame ${time.toFixed(3)}`;
  $("clock-name").textContent = between ? `${facts.names[step]} → ${facts.names[step + 1]}` : facts.names[step + (time > step)] ?? "";
  const cuts = facts.cuts[step] ?? 0, impacts = facts.between[step] ?? 0;
  const parts = [], unknown = missing.has(step + 1) || skipped.has(step);
  if (cuts) parts.push(`${whole(cuts)} at the frame`);
  if (impacts) parts.push(`${whole(impacts)} in the step`);
  $("clock-count").textContent = isUnchecked() ? (missing.has(step) ? "missing" : "")
    : missing.has(step) ? "not checked"
    : parts.join(", ") || (unknown ? "step not checked" : "no contact");
  $("clock-count").classList.toggle("none", !parts.length);
  $("slider").setAttribute("aria-valuetext", [$("clock-time"), $("clock-count")].map((e) => e.textContent).filter(Boolean).join(", "));
  const everything = $("colour").value === "all";
  $("scale-low").textContent = everything ? "frame 0" : `frame ${step}`;
  $("scale-high").textContent = everything ? `frame ${lastFrame}` : step < lastFrame ? `${step + 1}` : "";
  $("now").style.left = `${100 * clamp(everything ? time / (lastFrame || 1) : time - step, 0, 1)}%`;
  $("cut-key").hidden = everything || !facts.cuts.some((count) => count);
  const note = missing.has(step)
    ? `Frame ${step} could not be checked; the last one before it is shown.`
    : !keptAt.has(step) ? `Frame ${step} is not kept in this page; the last one before it is shown.`
    : unknown ? `The step to frame ${step + 1} could not be checked.` : "";
  $("note").hidden = !note || !viewer;
  if ($("note").textContent !== note) $("note").textContent = note;
}

function draw() {
  drawPending = false;
  theme ??= readTheme();
  sayMoment();
  timeline.draw(state.time, theme);
  if (!viewer) return;
  placePoints();
  paintFaces();
  placeMarkers();
  placePair();
  viewer.edges = $("edges").checked;
  viewer.draw(camera, theme);
  placeLabels();
  state.drawn++;
}

function redraw() {
  if (!drawPending) requestAnimationFrame(draw);
  drawPending = true;
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
    Escape: unchoose,
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
  for (const id of ["edges", "markers", "through", "colour"]) $(id).addEventListener("change", redraw);
  document.addEventListener("keydown", onKey);
  const restyle = () => { theme = null; redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  new ResizeObserver(redraw).observe($("view"));
}

function sayLimits() {
  if (!facts.kept.length) return;
  const shown = facts.kept.length, usable = facts.names.length - missing.size;
  const chosen = isUnchecked() ? "evenly spread" : "those of the worst contacts, and others evenly spread";
  const remarks = [`Positions are rounded to ±${figure(facts.precision)} for the picture${isUnchecked() ? "" : "; the check itself used them as they are"}.`];
  if (shown < usable) remarks.push(`${whole(shown)} of ${whole(usable)} frames are kept: ${chosen}.`);
  if (facts.markersLeftOut) remarks.push(`${whole(facts.markersLeftOut)} less deep contacts have no marker.`);
  $("limits").textContent = remarks.join(" ");
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
  try {
    data = await unpack(facts);
  } catch (error) {
    return sayInstead(`This browser cannot unpack the animation (${error.message}). Figures and table are complete.`);
  }
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
