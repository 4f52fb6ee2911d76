// The picture in WebGL2. Positions and normals lie in textures that a vertex fetches by its number, so a new moment uploads
// two textures and nothing else; the colour code of each face lies in a third.

const MANY = 200; // so many markers, shown through the mesh, would be a fog

class Viewer extends Stage {
  constructor(canvas) {
    super(canvas);
    const { gl } = this;
    this.wide = Math.min(4096, gl.getParameter(gl.MAX_TEXTURE_SIZE));
    this.mesh = this.program(MESH_VERTEX, MESH_FRAGMENT);
    this.lines = this.buffer([[3, 1], [3, 1], [4, 1]]);
    this.marks = this.buffer([[3, 0], [4, 0]]);
    this.heavyLines = this.buffer([[3, 1], [3, 1], [4, 1]]);
    this.heavyMarks = this.buffer([[3, 0], [4, 0]]);
    this.edges = false;
    this.markSize = 6;
  }

  texture(count, inner, format, type, Kind, lanes) {
    const { gl, wide } = this;
    const texture = gl.createTexture();
    const high = Math.max(1, Math.ceil(count / wide));
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, inner, wide, high);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return { texture, high, format, type, values: new Kind(wide * high * lanes) };
  }

  upload(target) {
    const { gl, wide } = this;
    gl.bindTexture(gl.TEXTURE_2D, target.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, wide, target.high, target.format, target.type, target.values);
  }

  setMesh(faces, vertexCount) {
    const { gl } = this;
    this.faces = faces;
    this.positions = this.texture(vertexCount, gl.RGBA32F, gl.RGBA, gl.FLOAT, Float32Array, 4);
    this.normals = this.texture(vertexCount, gl.RGBA32F, gl.RGBA, gl.FLOAT, Float32Array, 4);
    this.codes = this.texture(faces.length / 3, gl.RG8UI, gl.RG_INTEGER, gl.UNSIGNED_BYTE, Uint8Array, 2);
    this.corners = gl.createVertexArray();
    gl.bindVertexArray(this.corners);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, 1, gl.UNSIGNED_INT, 0, 0);
  }

  // points: xyz one after another. Normals are the sums of those of the faces around, by their areas.
  setPositions(points) {
    const p = this.positions.values, n = this.normals.values, faces = this.faces;
    for (let v = 0, i = 0; i < points.length; v += 4, i += 3) {
      p[v] = points[i];
      p[v + 1] = points[i + 1];
      p[v + 2] = points[i + 2];
    }
    n.fill(0);
    for (let i = 0; i < faces.length; i += 3) {
      const a = 4 * faces[i], b = 4 * faces[i + 1], c = 4 * faces[i + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      n[a] += x; n[a + 1] += y; n[a + 2] += z;
      n[b] += x; n[b + 1] += y; n[b + 2] += z;
      n[c] += x; n[c + 1] += y; n[c + 2] += z;
    }
    for (let v = 0; v < 4 * (points.length / 3); v += 4) {
      const size = Math.sqrt(n[v] * n[v] + n[v + 1] * n[v + 1] + n[v + 2] * n[v + 2]) || 1;
      n[v] /= size; n[v + 1] /= size; n[v + 2] /= size;
    }
    this.upload(this.positions);
    this.upload(this.normals);
  }

  // The colour code of each face, and whether it is solid or seen through.
  setCodes(codes, solid) {
    const values = this.codes.values;
    this.anyClear = false;
    for (let face = 0; face < codes.length; face++) {
      values[2 * face] = codes[face];
      values[2 * face + 1] = solid[face];
      this.anyClear ||= solid[face] === CLEAR;
    }
    this.upload(this.codes);
  }

  draw(camera, theme) {
    const { gl } = this;
    const { view, both } = camera.matrices(this.resize());
    this.matrix = both;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...theme.back, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    const { program, at } = this.mesh;
    gl.useProgram(program);
    [this.positions, this.normals, this.codes].forEach((target, i) => {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(gl.TEXTURE_2D, target.texture);
      gl.uniform1i([at.positions, at.normals, at.codes][i], i);
    });
    gl.activeTexture(gl.TEXTURE0);
    gl.uniformMatrix4fv(at.matrix, false, both);
    gl.uniformMatrix4fv(at.view, false, view);
    gl.uniform1i(at.wide, this.wide);
    gl.uniform3fv(at.ramp, RAMP_RGB.flat());
    gl.uniform3fv(at.cut, rgb(CUT_COLOUR));
    gl.uniform3fv(at.outside, theme.outside);
    gl.uniform3fv(at.inside, theme.inside);
    gl.uniform3fv(at.line, theme.line);
    gl.uniform1f(at.edges, this.edges ? theme.lineStrength : 0);
    gl.bindVertexArray(this.corners);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    for (const solid of this.anyClear ? [1, 0] : [1]) {
      if (!solid) gl.enable(gl.BLEND);
      gl.depthMask(Boolean(solid));
      gl.uniform1ui(at.solid, solid);
      gl.uniform1f(at.clear, 1 - solid);
      gl.drawArrays(gl.TRIANGLES, 0, this.faces.length);
    }
    // What is hidden shows through faintly, then what is not in full.
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    for (const [test, alpha, heavy] of [[gl.GREATER, this.marks.count > MANY ? 0 : 0.25, 0.5], [gl.LEQUAL, 1, 1]]) {
      gl.depthFunc(test);
      this.drawLines(this.lines, 1.2, alpha, both);
      this.drawMarks(this.marks, this.markSize, alpha, both, theme.rim);
      this.drawLines(this.heavyLines, 2.4, heavy, both);
      this.drawMarks(this.heavyMarks, 11, heavy, both, theme.rim);
    }
    gl.depthMask(true);
  }
}
