// The controls: time, keys, panels, bodies, and which list is shown.

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
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input[type=text]")) return;
  const inTable = event.target.closest("#lists, details, .panel");
  const press = {
    ArrowLeft: () => nudge(-1, event.shiftKey),
    ArrowRight: () => nudge(1, event.shiftKey),
    Home: () => fit(),
    Escape: () => (closePanels() ? undefined : unchoose()),
    "?": () => togglePanel("help"),
    " ": play,
  }[event.key];
  if (!press || (event.key === " " && (inTable || event.target.closest("button, input[type=checkbox]")))) return;
  event.preventDefault();
  if (event.key.startsWith("Arrow")) stop();
  press();
}

// --- panels over the view

function closePanels() {
  const open = [...document.querySelectorAll(".panel")].filter((panel) => !panel.hidden);
  for (const panel of open) {
    panel.hidden = true;
    $(`${panel.id}-button`)?.setAttribute("aria-expanded", "false");
  }
  return open.length > 0;
}

function openPanel(id) {
  closePanels();
  $(id).hidden = false;
  $(`${id}-button`).setAttribute("aria-expanded", "true");
}

function togglePanel(id) {
  if ($(id).hidden) openPanel(id);
  else closePanels();
}

// A remark that goes by itself.
function say(text) {
  $("remark").textContent = text;
  $("remark").hidden = false;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { $("remark").hidden = true; }, 2500);
}

// --- bodies that are shown

function showBodies() {
  for (const box of document.querySelectorAll("#bodies-panel input")) box.checked = !state.hidden.has(Number(box.value));
  redraw();
}

function offerHiding() {
  $("bodies-panel-button").hidden = !facts.bodies.length;
  facts.bodies.forEach((name, number) => {
    const label = $("bodies-panel").appendChild(document.createElement("label"));
    const box = label.appendChild(document.createElement("input"));
    Object.assign(box, { type: "checkbox", value: number, checked: true });
    label.append(name);
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(number);
      else state.hidden.add(number);
      redraw();
    });
  });
}

// --- the two lists

function showList(name) {
  state.list = name;
  for (const each of ["incidents", "contacts"]) {
    $(each).hidden = each !== name;
    $(`tab-${each}`).setAttribute("aria-selected", String(each === name));
    $(`tab-${each}`).tabIndex = each === name ? 0 : -1;
  }
  if (!contacts) return;
  contacts.listing.draw();
  incidents.listing.draw();
  changed();
}

function listenToTabs() {
  for (const name of ["incidents", "contacts"]) {
    const tab = $(`tab-${name}`), other = name === "incidents" ? "contacts" : "incidents";
    tab.addEventListener("click", () => showList(name));
    tab.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      showList(other);
      $(`tab-${other}`).focus();
    });
  }
}

