// The worst pairs: sorted by a click on a heading, shown by a click on a row or by the arrow keys.

const KINDS = { 0: ["vertex–face", "vertex", "face"], 1: ["edge–edge", "edge", "edge"], 3: ["faces cut", "face", "face"], 4: ["piece inside", "face", "face"] };

const whole = (x) => x.toLocaleString("en");
const figure = (x) => (x === null ? "–" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? x.toPrecision(3) : x === 0 ? "0" : x.toExponential(2));
const cssColour = (code) => `rgb(${colourOf(code).map((c) => Math.round(255 * c)).join(" ")})`;
const codeOf = (row) => (row.kind >= 3 ? CUT : 1 + Math.round(253 * clamp((row.time ?? 0) - row.frame, 0, 1)));

const pairOf = (row) => [row.bodyA, row.bodyB].sort((x, y) => x - y).join(" ");
// "vertex 12", or "cloth vertex 12" where there are several bodies.
const featureOf = (facts, row, feature, side) =>
  facts.bodies.length ? `${facts.bodies[side ? row.bodyB : row.bodyA]} ${feature} ${side ? row.ownB : row.ownA}` : `${feature} ${side ? row.b : row.a}`;

class Table {
  constructor(facts, choose) {
    this.facts = facts;
    this.choose = choose;
    this.key = "depth";
    this.down = true;
    this.body = document.getElementById("rows");
    this.lines = facts.rows.map((row, i) => this.line(row, i));
    for (const heading of document.querySelectorAll("th[data-key] button"))
      heading.addEventListener("click", () => this.sortBy(heading.parentElement.dataset.key));
    this.bodies = document.getElementById("bodies");
    if (facts.bodies.length) this.offerBodies();
    this.kind = document.getElementById("kind");
    this.kind.addEventListener("change", () => this.arrange());
    this.body.addEventListener("keydown", (event) => this.onKey(event));
    this.arrange();
  }

  // The pairs of bodies that the table has, most rows first.
  offerBodies() {
    const counts = new Map();
    for (const row of this.facts.rows) counts.set(pairOf(row), (counts.get(pairOf(row)) ?? 0) + 1);
    const option = (text, value) => {
      const made = this.bodies.appendChild(document.createElement("option"));
      made.textContent = text;
      made.value = value;
    };
    option("all bodies", "");
    for (const [pair] of [...counts].sort((x, y) => y[1] - x[1])) {
      const [a, b] = pair.split(" ").map((number) => this.facts.bodies[number]);
      option(a === b ? `${a} with itself` : `${a} and ${b}`, pair);
    }
    this.bodies.hidden = false;
    this.bodies.addEventListener("change", () => this.arrange());
  }

  line(row, i) {
    const line = document.createElement("tr");
    const cell = (text, kind) => {
      const td = line.appendChild(document.createElement("td"));
      td.textContent = text;
      if (kind) td.className = kind;
      return td;
    };
    const [name, ...features] = KINDS[row.kind];
    const [a, b] = features.map((feature, side) => featureOf(this.facts, row, feature, side));
    const button = document.createElement("button");
    button.type = "button";
    const dot = button.appendChild(document.createElement("i"));
    dot.style.background = cssColour(codeOf(row));
    button.append(name);
    button.setAttribute("aria-label", `Show ${a} and ${b}, ${name}, time ${row.time}`);
    cell("", "").append(button);
    cell(whole(row.frame), "n").title = this.facts.names[row.frame];
    cell(row.time === null ? "–" : row.kind >= 3 ? String(row.time) : row.time.toFixed(3), "n");
    cell(figure(row.depth), "n");
    const names = this.facts.bodies;
    const pair = cell(names.length ? `${names[row.bodyA]} ${row.ownA} · ${names[row.bodyB]} ${row.ownB}` : `${row.a} · ${row.b}`, "n quiet");
    pair.title = `${a}, ${b}`;
    line.addEventListener("click", () => {
      button.focus({ preventScroll: true });
      this.choose(i);
    });
    return line;
  }

  sortBy(key) {
    this.down = key === this.key ? !this.down : key === "depth";
    this.key = key;
    this.arrange();
  }

  arrange() {
    const { rows } = this.facts;
    const sign = this.down ? -1 : 1;
    const least = this.down ? -Infinity : Infinity; // what has no number comes last
    this.order = rows.map((_, i) => i)
      .filter((i) => this.kind.value === "" || rows[i].kind === Number(this.kind.value))
      .filter((i) => !this.bodies.value || pairOf(rows[i]) === this.bodies.value);
    this.order.sort((i, j) => {
      const a = rows[i][this.key] ?? least, b = rows[j][this.key] ?? least;
      return a === b ? i - j : sign * (a < b ? -1 : 1);
    });
    this.body.replaceChildren(...this.order.map((i) => this.lines[i]));
    for (const heading of document.querySelectorAll("th[data-key]")) {
      if (heading.dataset.key === this.key) heading.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
    document.getElementById("nothing").hidden = this.order.length > 0;
    const all = this.facts.findingCount, shown = rows.length;
    const left = all > shown ? `the ${whole(shown)} worst of ${whole(all)}` : whole(shown);
    document.getElementById("pairs-count").textContent = this.order.length === shown ? left : `${whole(this.order.length)} of ${left}`;
  }

  mark(index) {
    this.lines.forEach((line, i) => {
      line.classList.toggle("chosen", i === index);
      line.querySelector("button").setAttribute("aria-current", String(i === index));
    });
    if (index !== null) this.lines[index].scrollIntoView({ block: "nearest" });
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const line = event.target.closest("tr");
    if (!step || !line) return;
    event.preventDefault();
    const at = this.order.indexOf(this.lines.indexOf(line)) + step;
    if (at < 0 || at >= this.order.length) return;
    this.lines[this.order[at]].querySelector("button").focus({ preventScroll: true });
    this.choose(this.order[at]);
  }
}
