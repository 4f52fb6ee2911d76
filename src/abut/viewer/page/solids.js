// The picture of solid things in WebGL2: one batch for each form, one instance for each thing of that form; a sun with its
// shadow, creases as fine lines, what stands still fading out far from what moves, and who is under the pointer.

const INSTANCE = 16; // floats: place 3, turn 4, size 3, tint 4, number, how far it fades
const SHADOW = 2048;
const PLACE_IN_WORLD = `
layout(location = 0) in vec3 spot;
layout(location = 1) in vec3 across;
layout(location = 2) in float hidden;
layout(location = 3) in vec3 paint;
layout(location = 4) in vec3 place;
layout(location = 5) in vec4 turn;
layout(location = 6) in vec3 size;
layout(location = 7) in vec4 tint;
layout(location = 8) in vec2 number;
vec3 turned(vec3 v) { return v + 2. * cross(turn.yzw, cross(turn.yzw, v) + turn.x * v); }
vec3 world() { return place + turned(spot * size); }`;

const SOLID_VERTEX = `#version 300 es
precision highp float;
${PLACE_IN_WORLD}
uniform mat4 matrix, sun;
uniform bool wire;
out vec3 normal, at, corner, shade, lit;
flat out vec3 mark;
void main() {
  at = world();
  normal = turned(across / size);
  int i = gl_VertexID % 3, bits = wire ? 0 : int(hidden);
  corner = vec3(i == 0 || (bits & 1) > 0, i == 1 || (bits & 2) > 0, i == 2 || (bits & 4) > 0);
  shade = paint.x < 0. ? tint.rgb : paint;
  mark = vec3(tint.a, number);
  vec4 s = sun * vec4(at, 1);
  lit = s.xyz * .5 + .5;
  gl_Position = matrix * vec4(at, 1);
}`;

const SOLID_FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
in vec3 normal, at, corner, shade, lit;
flat in vec3 mark;
uniform vec3 eye, up, key, back, middle, line;
uniform vec4 clip;
uniform float edges, chosen, reach, shadowDepth, dim;
uniform sampler2DShadow shadow;
out vec4 colour;
float sunlight(float facing) {
  if (any(lessThan(lit, vec3(0))) || any(greaterThan(lit, vec3(1)))) return 1.;
  float z = lit.z - .0012 - .004 * (1. - facing), sum = 0.;
  for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++)
    sum += texture(shadow, vec3(lit.xy + vec2(i, j) * 1.4 / ${SHADOW}., z));
  return sum / 9.;
}
void main() {
  if (dot(clip.xyz, at) > clip.w) discard;
  vec3 look = normalize(eye - at);
  vec3 n = normalize(normal + 1e-6 * look) * (gl_FrontFacing ? 1. : -1.);
  float facing = dot(n, key), sun = facing > 0. ? facing * mix(1., sunlight(facing), shadowDepth) : 0.;
  float sky = .5 + .5 * dot(n, up);
  vec3 base = gl_FrontFacing ? shade : shade * .72;
  float shine = pow(max(dot(n, normalize(look + key)), 0.), 36.) * .12 * min(sun * 2., 1.);
  vec3 c = base * (mix(vec3(.40, .40, .43), vec3(.62, .63, .66), sky) + vec3(.52, .50, .46) * sun) * dim + shine;
  if (chosen > -.5 && abs(chosen - mark.y) < .5) c = mix(c, vec3(1), .28);
  vec3 wide = max(fwidth(corner) * 1.2, 1e-4), near = smoothstep(vec3(0), wide, corner);
  float small = smoothstep(.3, .8, max(wide.x, max(wide.y, wide.z)));
  c = mix(c, mix(line, c, .35), (1. - min(near.x, min(near.y, near.z))) * edges * (1. - small));
  float fade = mark.z > 0. ? smoothstep(reach, 3.2 * reach, length(at - middle)) : 0.;
  colour = vec4(mix(c, back, fade), mark.x < 1. ? mark.x + .25 * (1. - abs(dot(n, look))) * mark.x : 1.);
}`;

const SHADOW_VERTEX = `#version 300 es
precision highp float;
${PLACE_IN_WORLD}
uniform mat4 sun;
out vec3 at;
void main() { at = world(); gl_Position = number.y > 0. || tint.a < .99 ? vec4(2, 2, 2, 1) : sun * vec4(at, 1); }`;

const SHADOW_FRAGMENT = `#version 300 es
precision highp float;
in vec3 at;
uniform vec4 clip;
void main() { if (dot(clip.xyz, at) > clip.w) discard; }`;

const PICK_VERTEX = `#version 300 es
precision highp float;
${PLACE_IN_WORLD}
uniform mat4 matrix;
flat out float who;
out vec3 at;
void main() { at = world(); who = number.x; gl_Position = matrix * vec4(at, 1); }`;

const PICK_FRAGMENT = `#version 300 es
precision highp float;
flat in float who;
in vec3 at;
uniform vec4 clip;
out vec4 colour;
void main() {
  if (dot(clip.xyz, at) > clip.w) discard;
  int n = int(who + 1.5);
  colour = vec4(n & 255, (n >> 8) & 255, (n >> 16) & 255, 255) / 255.;
}`;

class Picture extends Stage {
  constructor(canvas) {
    super(canvas);
    this.solid = this.program(SOLID_VERTEX, SOLID_FRAGMENT);
    this.dark = this.program(SHADOW_VERTEX, SHADOW_FRAGMENT);
    this.pick = this.program(PICK_VERTEX, PICK_FRAGMENT);
    this.lines = this.buffer([[3, 1], [3, 1], [4, 1]]);
    this.marks = this.buffer([[3, 0], [4, 0]]);
    this.batches = [];
    this.wire = false;
    this.clip = [0, 0, 0, 1];
    this.chosen = -1;
    this.makeTargets();
  }

  makeTargets() {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL],
    ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    this.shadow = { texture, frame };
    const spot = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, spot);
    for (const [format, place] of [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT16, gl.DEPTH_ATTACHMENT]]) {
      const store = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, store);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, 1, 1);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, store);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.spot = spot;
  }

  // A batch: a form, and room for so many instances of it. paint: colours of the corners, or null.
  addBatch(form, room, paint) {
    const { gl } = this;
    const array = gl.createVertexArray(), corners = gl.createBuffer(), store = gl.createBuffer();
    gl.bindVertexArray(array);
    const attribute = (at, size, stride, offset, divisor) => {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 4 * stride, 4 * offset);
      gl.vertexAttribDivisor(at, divisor);
    };
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, form.corners, gl.DYNAMIC_DRAW);
    attribute(0, 3, FLOATS, 0, 0);
    attribute(1, 3, FLOATS, 3, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, form.hidden, gl.STATIC_DRAW);
    attribute(2, 1, 1, 0, 0);
    if (paint) {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, paint, gl.STATIC_DRAW);
      attribute(3, 3, 3, 0, 0);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, store);
    let offset = 0;
    [3, 4, 3, 4, 2].forEach((size, i) => { attribute(4 + i, size, INSTANCE, offset, 1); offset += size; });
    const batch = { array, corners, store, form, painted: Boolean(paint), values: new Float32Array(room * INSTANCE), solid: 0, count: 0 };
    this.batches.push(batch);
    return batch;
  }

  // New places for a form that changes.
  reshape(batch, points) {
    batch.form.update(points);
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, batch.corners);
    gl.bufferData(gl.ARRAY_BUFFER, batch.form.corners, gl.DYNAMIC_DRAW);
  }

  // The instances of a batch: those that hide what is behind them first, `solid` in number.
  place(batch, solid, count) {
    const { gl } = this;
    Object.assign(batch, { solid, count });
    gl.bindBuffer(gl.ARRAY_BUFFER, batch.store);
    gl.bufferData(gl.ARRAY_BUFFER, batch.values.subarray(0, count * INSTANCE), gl.DYNAMIC_DRAW);
  }

  // All instances of all batches from one to another of the two parts.
  each(clear) {
    const { gl } = this;
    for (const batch of this.batches) {
      const count = clear ? batch.count - batch.solid : batch.solid, from = clear ? batch.solid : 0;
      if (!count) continue;
      gl.bindVertexArray(batch.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, batch.store);
      let offset = from * INSTANCE;
      [3, 4, 3, 4, 2].forEach((size, i) => {
        gl.vertexAttribPointer(4 + i, size, gl.FLOAT, false, 4 * INSTANCE, 4 * offset);
        offset += size;
      });
      if (!batch.painted) gl.vertexAttrib3f(3, -1, -1, -1);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, batch.form.count, count);
    }
  }

  // What the sun sees: a square around what moves.
  sunMatrix(look) {
    const right = unit(cross(look.up, look.key)), above = cross(look.key, right), far = 2.5 * look.radius;
    const view = viewMatrix(add(look.middle, scale(look.key, far)), right, above, look.key);
    const m = new Float32Array(16), wide = 1.25 * look.radius;
    m[0] = m[5] = 1 / wide; m[10] = -1 / far; m[14] = -1; m[15] = 1;
    return multiply(m, view);
  }

  draw(camera, theme, look) {
    const { gl } = this, aspect = this.resize();
    const { both } = camera.matrices(aspect), sun = this.sunMatrix(look);
    this.matrix = both;
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow.frame);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.dark.program);
    gl.uniformMatrix4fv(this.dark.at.sun, false, sun);
    gl.uniform4fv(this.dark.at.clip, this.clip);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 2);
    this.each(false);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...theme.back, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const { program, at } = this.solid;
    gl.useProgram(program);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
    gl.uniform1i(at.shadow, 0);
    gl.uniformMatrix4fv(at.matrix, false, both);
    gl.uniformMatrix4fv(at.sun, false, sun);
    gl.uniform1i(at.wire, this.wire ? 1 : 0);
    gl.uniform3fv(at.eye, camera.eye);
    gl.uniform3fv(at.up, look.up);
    gl.uniform3fv(at.key, look.key);
    gl.uniform3fv(at.back, theme.back);
    gl.uniform3fv(at.middle, look.middle);
    gl.uniform3fv(at.line, theme.line);
    gl.uniform4fv(at.clip, this.clip);
    gl.uniform1f(at.edges, this.wire ? 0.8 : theme.lineStrength);
    gl.uniform1f(at.chosen, this.chosen);
    gl.uniform1f(at.reach, 1.6 * look.radius);
    gl.uniform1f(at.shadowDepth, theme.shadow);
    gl.uniform1f(at.dim, theme.dim);
    this.each(false);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    this.each(true);
    for (const [test, alpha] of [[gl.GREATER, 0.3], [gl.LEQUAL, 1]]) {
      gl.depthFunc(test);
      this.drawLines(this.lines, 1.3, alpha, both);
      this.drawMarks(this.marks, 7, alpha, both, theme.rim);
    }
    gl.depthMask(true);
  }

  // The number of the thing at a place of the canvas (pixels of the page), or -1.
  whoIsAt(x, y) {
    const { gl, canvas } = this;
    if (!this.matrix) return -1;
    // The one pixel becomes the whole view: scaled up about it.
    const px = (2 * (x + 0.5)) / canvas.clientWidth - 1, py = 1 - (2 * (y + 0.5)) / canvas.clientHeight;
    const m = new Float32Array(16);
    m[0] = canvas.clientWidth; m[5] = canvas.clientHeight; m[10] = 1; m[15] = 1;
    m[12] = -px * canvas.clientWidth; m[13] = -py * canvas.clientHeight;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.spot);
    gl.viewport(0, 0, 1, 1);
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.depthFunc(gl.LEQUAL);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.pick.program);
    gl.uniformMatrix4fv(this.pick.at.matrix, false, multiply(m, this.matrix));
    gl.uniform4fv(this.pick.at.clip, this.clip);
    this.each(false);
    const found = new Uint8Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return found[0] + 256 * found[1] + 65536 * found[2] - 1;
  }
}
