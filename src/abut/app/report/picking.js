// What lies under the pointer: the nearest face that is drawn there, and the contact it takes part in.

const STILL = 5; // pixels that a click may move

function faceAt(x, y) {
  const canvas = $("canvas"), aspect = canvas.clientWidth / canvas.clientHeight;
  const { right, up, back } = camera.axes, eye = camera.eye, steep = Math.tan(FIELD / 2);
  const across = (2 * (x / canvas.clientWidth) - 1) * steep * aspect, upwards = (1 - 2 * (y / canvas.clientHeight)) * steep;
  const ray = unit(add(add(scale(right, across), scale(up, upwards)), scale(back, -1)));
  const { faces } = viewer, solid = viewer.codes.values;
  let nearest = Infinity, found = -1, clear = Infinity, through = -1;
  for (let f = 0; f < faces.length / 3; f++) {
    const state = solid[2 * f + 1];
    if (state === HIDDEN) continue;
    const a = 3 * faces[3 * f], b = 3 * faces[3 * f + 1], c = 3 * faces[3 * f + 2];
    const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
    const px = ray[1] * vz - ray[2] * vy, py = ray[2] * vx - ray[0] * vz, pz = ray[0] * vy - ray[1] * vx;
    const volume = ux * px + uy * py + uz * pz;
    if (volume === 0) continue;
    const wx = eye[0] - points[a], wy = eye[1] - points[a + 1], wz = eye[2] - points[a + 2];
    const s = (wx * px + wy * py + wz * pz) / volume;
    if (s < 0 || s > 1) continue;
    const qx = wy * uz - wz * uy, qy = wz * ux - wx * uz, qz = wx * uy - wy * ux;
    const t = (ray[0] * qx + ray[1] * qy + ray[2] * qz) / volume;
    if (t < 0 || s + t > 1) continue;
    const far = (vx * qx + vy * qy + vz * qz) / volume;
    if (far < camera.distance * camera.cutaway * 0.5) continue;
    if (state && far < nearest) { nearest = far; found = f; }
    else if (!state && far < clear) { clear = far; through = f; }
  }
  return found >= 0 ? found : through; // what is seen through gives way
}

// A click that does not drag chooses the contact of the face under it.
function listenForPicks() {
  const canvas = $("canvas");
  let start = null;
  canvas.addEventListener("pointerdown", (event) => { start = event.isPrimary && event.button === 0 && !event.shiftKey ? event : null; });
  canvas.addEventListener("pointerup", (event) => {
    const began = start;
    start = null;
    if (!began || !viewer || Math.hypot(event.clientX - began.clientX, event.clientY - began.clientY) > STILL) return;
    const box = canvas.getBoundingClientRect();
    pick(event.clientX - box.left, event.clientY - box.top);
  });
}

function pick(x, y) {
  placePoints();
  const face = faceAt(x, y);
  if (face < 0 || !found.count) return;
  const row = $("colour").value === "all" ? found.firstOf(face) : found.at(face, state.step);
  if (row >= 0 && row !== state.chosen) choose(row);
}
