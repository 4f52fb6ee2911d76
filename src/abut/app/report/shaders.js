// The colours of contacts and the programs that draw them.

const RAMP = ["#4c02a1", "#7e03a8", "#aa2395", "#cc4778", "#e56b5d", "#f89540", "#fdc527"]; // plasma, without its ends
const CUT_COLOUR = "#00958f";
const CUT = 0;
const NO_MARK = 255;
const CLEAR = 0, SOLID = 1, HIDDEN = 2; // seen through, hides what is behind it, not there
const STEPS = 65535;

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
