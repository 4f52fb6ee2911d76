// The colours of contacts and the programs that draw them.

const RAMP = ["#4c02a1", "#7e03a8", "#aa2395", "#cc4778", "#e56b5d", "#f89540", "#fdc527"]; // plasma, without its ends
const CUT_COLOUR = "#00958f";
const CUT = 0;
const NO_MARK = 255;
const STEPS = 65535;

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
const RAMP_RGB = RAMP.map(rgb);

function colourOf(code) {
  if (code === CUT) return rgb(CUT_COLOUR);
  const x = clamp((code - 1) / 253, 0, 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(x), RAMP.length - 2);
  return RAMP_RGB[i].map((c, k) => mix(c, RAMP_RGB[i + 1][k], x - i));
}

const MESH_VERTEX = `#version 300 es
precision highp float;
precision highp usampler2D;
layout(location = 0) in uint vertex;
uniform highp sampler2D positions, normals;
uniform usampler2D codes;
uniform mat4 matrix, view;
uniform int wide;
uniform uint solid; // which faces this pass draws: those that hide what is behind them, or the others
out vec3 normal, place, corner;
flat out float code;
void main() {
  int id = int(vertex), face = gl_VertexID / 3, i = gl_VertexID % 3;
  vec3 p = texelFetch(positions, ivec2(id % wide, id / wide), 0).xyz;
  normal = mat3(view) * texelFetch(normals, ivec2(id % wide, id / wide), 0).xyz;
  place = (view * vec4(p, 1)).xyz;
  corner = vec3(i == 0, i == 1, i == 2);
  uvec2 mark = texelFetch(codes, ivec2(face % wide, face / wide), 0).rg;
  code = float(mark.r);
  gl_Position = mark.g == solid ? matrix * vec4(p, 1) : vec4(2, 2, 2, 1);
}`;

const MESH_FRAGMENT = `#version 300 es
precision highp float;
in vec3 normal, place, corner;
flat in float code;
uniform vec3 ramp[${RAMP.length}];
uniform vec3 cut, outside, inside, line;
uniform float edges, clear;
out vec4 colour;
void main() {
  vec3 eye = normalize(-place);
  vec3 n = normalize(normal + 1e-6 * eye) * (gl_FrontFacing ? 1. : -1.);
  float key = max(dot(n, normalize(vec3(.35, .75, .6))), 0.), fill = .5 + .5 * n.y;
  float light = .5 + .18 * fill + .38 * key;
  vec3 base = gl_FrontFacing ? outside : inside;
  if (code < 254.5) {
    float x = clamp((code - 1.) / 253., 0., 1.) * ${RAMP.length - 1}.;
    int i = min(int(x), ${RAMP.length - 2});
    base = code < .5 ? cut : mix(ramp[i], ramp[i + 1], x - float(i));
    light = mix(light, 1., .55);
  }
  base *= light;
  vec3 size = fwidth(corner) * 1.1;
  vec3 near = smoothstep(vec3(0), size, corner);
  float small = smoothstep(.35, .9, max(size.x, max(size.y, size.z))); // lines of faces of a few pixels would cover them
  float wire = (1. - min(near.x, min(near.y, near.z))) * edges * (1. - small);
  float quiet = code < 254.5 ? .17 : .13;
  colour = vec4(mix(base, line, wire), mix(1., quiet + .3 * wire, clear));
}`;

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
