// The words of the page, and its start.

const MANY_CONTACTS = 60; // of more, incidents are shown first

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
    : missing.has(step) && !parts.length && !facts.other.includes(step) ? "not checked"
    : parts.join(", ") || (unknown ? "step not checked" : "no contact");
  $("clock-count").classList.toggle("none", !parts.length);
  $("slider").setAttribute("aria-valuetext", [$("clock-time"), $("clock-count")].map((e) => e.textContent).filter(Boolean).join(", "));
  const everything = $("colour").value === "all";
  const [first, last] = facts.contactSpan, short = (x) => (Number.isInteger(x) ? whole(x) : x.toFixed(2));
  $("scale-low").textContent = everything ? `frame ${short(first)}` : `frame ${step}`;
  $("scale-high").textContent = everything ? short(last) : step < lastFrame ? `${step + 1}` : "";
  $("now").style.left = `${100 * clamp(everything ? (time - first) / (last - first || 1) : time - step, 0, 1)}%`;
  $("cut-key").hidden = everything || !facts.cuts.some((count) => count);
  const note = missing.has(step)
    ? facts.other.includes(step) ? `Frame ${step} has another connectivity and is not drawn; its contacts are in the list.`
      : `Frame ${step} could not be checked; the last one before it is shown.`
    : !keptAt.has(step) ? `Frame ${step} is not kept in this page; the last one before it is shown.`
    : unknown ? `The step to frame ${step + 1} could not be checked.` : "";
  $("note").hidden = !note || !viewer;
  if ($("note").textContent !== note) $("note").textContent = note;
}

function draw() {
  drawPending = false;
  theme ??= readTheme();
  sayMoment();
  if (camera) $("up").textContent = camera.up === 2 ? "Z up" : "Y up";
  timeline.draw(state.time, theme, contacts?.incident >= 0 ? [incidents.start[contacts.incident], incidents.end[contacts.incident]] : null);
  contacts?.follow(state.step);
  if (!viewer) return;
  placePoints();
  paintFaces();
  placeMarkers();
  placePair();
  viewer.edges = $("edges").checked;
  viewer.draw(camera, theme);
  placeLabels();
  state.drawn++;
  changed();
}

function redraw() {
  if (!drawPending) requestAnimationFrame(draw);
  drawPending = true;
}

// --- start

const timeline = new Timeline($("histogram"), facts, (time) => { stop(); setTime(time); });

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
    redraw();
  });
  for (const id of ["help", "bodies-panel"]) $(`${id}-button`).addEventListener("click", () => togglePanel(id));
  $("link").addEventListener("click", copyLink);
  listenToTabs();
  listenForPicks();
  offerHiding();
  window.addEventListener("hashchange", () => readShare(location.hash));
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
  try {
    data = await unpack(facts);
  } catch (error) {
    return sayInstead(`This browser cannot unpack the animation (${error.message}). The figures are complete.`);
  }
  found = new Findings(facts, data);
  const address = location.hash;
  if (found.count) {
    contacts = new Contacts(found, choose);
    incidents = new Incidents(found, chooseIncident);
    contacts.arrange();
    incidents.arrange();
    showList(found.count > MANY_CONTACTS ? "incidents" : "contacts");
  }
  showView();
  if (address) readShare(address);
  redraw();
}

function showView() {
  if (!facts.hasView) return sayInstead("There is no frame to show.");
  let made = null;
  try {
    made = new Viewer($("canvas"));
  } catch (error) {
    return sayInstead(`The 3D view needs WebGL2, which this browser does not offer (${error.message}). Figures and lists are complete.`);
  }
  points = new Float32Array(data.positions.length / facts.kept.length);
  made.setMesh(data.faces, points.length / 3);
  camera = new Camera(redraw);
  camera.listen($("canvas"));
  $("canvas").addEventListener("webglcontextlost", () => sayInstead("The graphics driver gave up; reload the page."));
  viewer = made;
  fit(true);
  $("message").hidden = true;
}

// For tests and the curious.
window.abutReport = { state, facts, get camera() { return camera; }, get found() { return found; },
  placeOf: (v) => { const box = $("canvas"), at = project(viewer.matrix, pointOf(v), box.clientWidth, box.clientHeight); return [at.x, at.y]; }, pixels: () => { draw(); return viewer.pixels(camera, theme); } };
window.abutReport.ready = start();
