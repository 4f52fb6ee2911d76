// What every picture of the pages needs of WebGL2: programs, rows of floats, lines of any width, round marks.

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);

// Lines of any width: each is a quad along it on the screen.
const LINE_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec4 tint;
uniform mat4 matrix;
uniform vec2 size;
uniform float width;
out vec4 shade;
void main() {
  vec4 a = matrix * vec4(from, 1), b = matrix * vec4(to, 1);
  vec2 along = (b.xy / b.w - a.xy / a.w) * size;
  along /= max(length(along), 1e-6);
  vec4 p = gl_VertexID < 2 ? a : b;
  float side = (gl_VertexID & 1) == 0 ? -1. : 1.;
  p.xy += vec2(-along.y, along.x) * side * width / size * p.w;
  p.z -= .0012 * p.w;
  gl_Position = p;
  shade = tint;
}`;

const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade;
uniform float alpha;
out vec4 colour;
void main() { colour = vec4(shade.rgb, shade.a * alpha); }`;

const POINT_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 tint;
uniform mat4 matrix;
uniform float size;
out vec4 shade;
void main() {
  gl_Position = matrix * vec4(place, 1);
  gl_Position.z -= .0015 * gl_Position.w;
  gl_PointSize = size;
  shade = tint;
}`;

// The fourth number of a tint says whether the contact has happened: a disc, or else a ring.
const POINT_FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade;
uniform float alpha, size;
uniform vec3 rim;
out vec4 colour;
void main() {
  float r = length(gl_PointCoord - .5) * size, edge = size * .5;
  if (r > edge) discard;
  float cover = smoothstep(edge, edge - 1., r);
  float border = size > 7. ? 1.2 : .3;
  vec3 c = mix(rim, shade.rgb, smoothstep(edge - border, edge - border - .8, r));
  float hole = shade.a < .5 ? smoothstep(edge - border - 1.2, edge - border - 2., r) : 0.;
  colour = vec4(c, cover * (1. - hole) * alpha);
}`;

class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
    if (!gl) throw new Error("no WebGL2");
    this.gl = gl;
    this.line = this.program(LINE_VERTEX, LINE_FRAGMENT);
    this.point = this.program(POINT_VERTEX, POINT_FRAGMENT);
  }

  program(vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "shader");
    const at = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const name = gl.getActiveUniform(program, i).name.replace("[0]", "");
      at[name] = gl.getUniformLocation(program, name);
    }
    return { program, at };
  }

  // A vertex array of floats whose rows hold these attributes: [how many numbers, instance divisor].
  buffer(layout) {
    const { gl } = this;
    const array = gl.createVertexArray(), store = gl.createBuffer();
    const row = layout.reduce((sum, [size]) => sum + size, 0);
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, store);
    let offset = 0;
    layout.forEach(([size, divisor], i) => {
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, size, gl.FLOAT, false, 4 * row, 4 * offset);
      gl.vertexAttribDivisor(i, divisor);
      offset += size;
    });
    return { array, store, row, count: 0 };
  }

  fill(buffer, rows) {
    const { gl } = this;
    const values = rows instanceof Float32Array ? rows : new Float32Array(rows.flat());
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer.store);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    buffer.count = values.length / buffer.row;
  }

  // Match the canvas to its place on the page; the ratio is that of its width to its height.
  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    this.ratio = ratio;
    return width / height;
  }

  drawLines(buffer, width, alpha, matrix) {
    if (!buffer.count || !alpha) return;
    const { gl } = this, { program, at } = this.line;
    gl.useProgram(program);
    gl.uniformMatrix4fv(at.matrix, false, matrix);
    gl.uniform2f(at.size, this.canvas.width, this.canvas.height);
    gl.uniform1f(at.width, width * this.ratio);
    gl.uniform1f(at.alpha, alpha);
    gl.bindVertexArray(buffer.array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, buffer.count);
  }

  drawMarks(buffer, size, alpha, matrix, rim) {
    if (!buffer.count || !alpha) return;
    const { gl } = this, { program, at } = this.point;
    gl.useProgram(program);
    gl.uniformMatrix4fv(at.matrix, false, matrix);
    gl.uniform1f(at.size, size * this.ratio);
    gl.uniform1f(at.alpha, alpha);
    gl.uniform3fv(at.rim, rim);
    gl.bindVertexArray(buffer.array);
    gl.drawArrays(gl.POINTS, 0, buffer.count);
  }

  // All pixels as they would be drawn now.
  pixels(...given) {
    const { gl } = this;
    this.draw(...given);
    const values = new Uint8Array(4 * this.canvas.width * this.canvas.height);
    gl.readPixels(0, 0, this.canvas.width, this.canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, values);
    return values;
  }
}
