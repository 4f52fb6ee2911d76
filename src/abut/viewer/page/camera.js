// A turntable about a target: yaw and pitch about the axis that is up, a distance; moved by pointers, wheel and flights.

const FIELD = (32 * Math.PI) / 180;
const STEEPEST = (88 * Math.PI) / 180;
const FLIGHT_MS = 450;
const NEAREST = 1e-4;
// Nearer than this part of the distance nothing is drawn, so that going close looks into the folds.
const CUTAWAY = 0.3;

class Camera {
  constructor(changed) {
    this.changed = changed;
    this.target = [0, 0, 0];
    this.yaw = -0.95;
    this.pitch = 0.42;
    this.distance = 2.5;
    this.up = 2;
    this.flight = 0;
    this.cutaway = CUTAWAY;
    this.extent = 2; // of what is drawn, from the origin
  }

  // Direction from the target to the eye.
  get back() {
    const flat = Math.cos(this.pitch);
    const [x, y, z] = [flat * Math.cos(this.yaw), flat * Math.sin(this.yaw), Math.sin(this.pitch)];
    return this.up === 2 ? [x, y, z] : [x, z, -y];
  }

  get axes() {
    const back = this.back;
    const right = unit(cross(this.up === 2 ? [0, 0, 1] : [0, 1, 0], back));
    return { right, up: cross(back, right), back };
  }

  get eye() {
    return add(this.target, scale(this.back, this.distance));
  }

  matrices(aspect) {
    const { right, up, back } = this.axes;
    const eye = this.eye;
    const far = this.distance + length(this.target) + this.extent;
    const view = viewMatrix(eye, right, up, back);
    return { view, both: multiply(perspective(FIELD, aspect, this.distance * this.cutaway, far), view) };
  }

  // The distance at which a ball of this radius fills the view.
  reach(radius, aspect) {
    return (radius * 1.08) / Math.sin(FIELD / 2) / Math.min(1, aspect);
  }

  pointAt(direction) {
    const [x, y, z] = this.up === 2 ? direction : [direction[0], -direction[2], direction[1]];
    return { yaw: Math.atan2(y, x), pitch: clamp(Math.asin(clamp(z, -1, 1)), -STEEPEST, STEEPEST) };
  }

  turn(dx, dy) {
    this.flight++;
    this.yaw -= dx * 0.006;
    this.pitch = clamp(this.pitch + dy * 0.006, -STEEPEST, STEEPEST);
    this.changed();
  }

  move(dx, dy, height) {
    this.flight++;
    const { right, up } = this.axes;
    const size = (2 * this.distance * Math.tan(FIELD / 2)) / height;
    this.target = add(this.target, add(scale(right, -dx * size), scale(up, dy * size)));
    this.changed();
  }

  zoom(factor) {
    this.flight++;
    this.distance = clamp(this.distance * factor, NEAREST, 20);
    this.changed();
  }

  // Go to another place; at once where people prefer less motion.
  fly(to, atOnce = false) {
    const flight = ++this.flight;
    const from = { target: this.target, yaw: this.yaw, pitch: this.pitch, distance: this.distance };
    const goal = { ...from, ...to };
    goal.yaw = from.yaw + Math.atan2(Math.sin(goal.yaw - from.yaw), Math.cos(goal.yaw - from.yaw));
    const start = performance.now();
    const still = atOnce || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = (now) => {
      if (flight !== this.flight) return;
      const part = still ? 1 : clamp((now - start) / FLIGHT_MS, 0, 1);
      const t = part * part * (3 - 2 * part);
      this.target = from.target.map((x, i) => mix(x, goal.target[i], t));
      this.yaw = mix(from.yaw, goal.yaw, t);
      this.pitch = mix(from.pitch, goal.pitch, t);
      this.distance = Math.exp(mix(Math.log(from.distance), Math.log(goal.distance), t));
      this.changed();
      if (part < 1) requestAnimationFrame(step);
    };
    if (still) step(start);
    else requestAnimationFrame(step);
  }

  // Mouse, pen and touch: one pointer turns, two (or another button) move and zoom.
  listen(element) {
    const held = new Map();
    const middle = () => {
      const all = [...held.values()];
      const x = all.reduce((sum, p) => sum + p.x, 0) / all.length;
      const y = all.reduce((sum, p) => sum + p.y, 0) / all.length;
      return { x, y, apart: all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0 };
    };
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    element.addEventListener("pointermove", (event) => {
      if (!held.has(event.pointerId)) return;
      const before = middle();
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const after = middle();
      const moves = held.size > 1 || event.buttons & 6 || event.shiftKey;
      if (moves) this.move(after.x - before.x, after.y - before.y, element.clientHeight);
      else this.turn(after.x - before.x, after.y - before.y);
      if (before.apart && after.apart) this.zoom(before.apart / after.apart);
    });
    const release = (event) => held.delete(event.pointerId);
    element.addEventListener("pointerup", release);
    element.addEventListener("pointercancel", release);
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 30 : 1;
      this.zoom(Math.exp(clamp(event.deltaY * lines, -300, 300) * 0.0015));
    }, { passive: false });
  }
}
