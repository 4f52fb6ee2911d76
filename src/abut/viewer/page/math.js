// Vectors as arrays of three, matrices as Float32Array(16) by columns, as WebGL takes them.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scale(a, 1 / (length(a) || 1));
const mix = (a, b, t) => a + (b - a) * t;
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const m = new Float32Array(16);
  m[0] = f / aspect;
  m[5] = f;
  m[10] = (far + near) / (near - far);
  m[11] = -1;
  m[14] = (2 * far * near) / (near - far);
  return m;
}

// right, up and back are the axes of the camera at the place eye.
function viewMatrix(eye, right, up, back) {
  return new Float32Array([
    right[0], up[0], back[0], 0,
    right[1], up[1], back[1], 0,
    right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ]);
}

function multiply(a, b) {
  const m = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      m[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
  return m;
}

// Place of a point on a canvas of this size, from the left and the top, and whether it is in front of the camera.
function project(matrix, p, width, height) {
  const at = (r) => matrix[r] * p[0] + matrix[4 + r] * p[1] + matrix[8 + r] * p[2] + matrix[12 + r];
  const w = at(3);
  return { x: (at(0) / w / 2 + 0.5) * width, y: (0.5 - at(1) / w / 2) * height, seen: w > 0 && Math.abs(at(2)) <= w };
}
