// What is shown as the end of the address, so that a link leads to the same view: #time=3.25&row=17&kind=3 …

const SETTLED = 250; // milliseconds
let writing = 0;

// Something of it has changed: say so in the address when it has come to rest.
function changed() {
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", `#${writeShare()}`), SETTLED);
}

function writeShare() {
  const round = (x) => Number(x.toPrecision(6));
  const words = { time: round(state.time), frame: state.step };
  if (state.chosen !== null) words.row = state.chosen;
  if (contacts) {
    words.list = state.list;
    if (contacts.incident >= 0) words.incident = contacts.incident;
    if (contacts.kind.value) words.kind = contacts.kind.value;
    if (contacts.bodies.value) words.bodies = contacts.bodies.value;
    if (contacts.only.checked) words.only = 1;
  }
  if ($("colour").value !== "step") words.colour = $("colour").value;
  for (const id of ["edges", "through"]) if ($(id).checked) words[id] = 1;
  if (!$("markers").checked) words.markers = 0;
  if (state.hidden.size) words.hidden = [...state.hidden].join(".");
  if (camera) words.view = [...camera.target, camera.yaw, camera.pitch, camera.distance].map(round).join(",") + (camera.up === 2 ? "" : ",y");
  return Object.entries(words).map(([name, value]) => `${name}=${value}`).join("&");
}

// Take up what the address says; what it does not name stays as it is.
function readShare(text) {
  const words = new URLSearchParams(text.replace(/^#/, ""));
  const number = (name, most) => {
    const value = Number(words.get(name));
    return words.has(name) && words.get(name) !== "" && Number.isFinite(value) && value >= 0 && value <= most ? value : null;
  };
  for (const id of ["edges", "through", "markers"]) if (words.has(id)) $(id).checked = words.get(id) === "1";
  if (["step", "all"].includes(words.get("colour"))) $("colour").value = words.get("colour");
  if (words.has("hidden")) {
    state.hidden = new Set(words.get("hidden").split(".").filter(Boolean).map(Number).filter((body) => body < facts.bodies.length));
    showBodies();
  }
  if (contacts) {
    if (words.has("kind")) contacts.kind.value = words.get("kind");
    if (words.has("bodies")) contacts.bodies.value = words.get("bodies");
    if (words.has("only")) contacts.only.checked = words.get("only") === "1";
    if (words.has("incident")) contacts.incident = number("incident", facts.incidents.start.length - 1) ?? -1;
    if (["incidents", "contacts"].includes(words.get("list"))) showList(words.get("list"));
  }
  const row = contacts ? number("row", found.count - 1) : null, time = number("time", lastFrame);
  if (time !== null) setTime(time, number("frame", lastFrame) ?? Math.floor(time));
  if (row !== null) choose(row);
  const view = (words.get("view") ?? "").split(",");
  const numbers = view.slice(0, 6).map(Number);
  if (camera && numbers.length === 6 && numbers.every(Number.isFinite)) {
    camera.up = view[6] === "y" ? 1 : 2;
    camera.fly({ target: numbers.slice(0, 3), yaw: numbers[3], pitch: numbers[4], distance: numbers[5] }, true);
  }
  if (words.get("show") === "bodies") openPanel("bodies-panel");
  if (contacts) contacts.arrange();
  if (row !== null) contacts.listing.reveal(row);
  redraw();
}

async function copyLink() {
  history.replaceState(null, "", `#${writeShare()}`);
  const address = location.href;
  try {
    await navigator.clipboard.writeText(address);
    say("The link is copied.");
  } catch { // files have no clipboard in some browsers
    say("The address bar has the link.");
  }
}
