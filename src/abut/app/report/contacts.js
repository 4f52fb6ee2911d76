// All contacts: those of the current frame, of two bodies, of a kind or of an incident, sorted by a click on a heading.

class Contacts {
  constructor(findings, choose) {
    const { facts } = findings;
    Object.assign(this, { findings, facts, incident: -1, step: -1 });
    this.listing = new Listing($("contacts"), [
      ["kind", "Kind"], ["frame", "Frame", "n"], ["time", "Time", "n"], ["depth", "Depth", "n"], ["", "Pair", "n"],
    ], {
      cells: (i) => this.cells(i),
      label: (i) => { const [a, b] = findings.features(i); return `Show ${a} and ${b}, ${KINDS[findings.kind[i]][0]}, time ${this.timeText(i)}`; },
      colour: (i) => cssColour(findings.code(i)),
      choose,
      sort: (key) => this.sortBy(key),
    });
    this.listing.key = "depth";
    this.kind = $("kind");
    this.bodies = $("bodies");
    this.only = $("only");
    for (const [value, [name]] of Object.entries(KINDS))
      if (findings.kind.includes(Number(value))) this.kind.add(new Option(name, value));
    if (facts.bodies.length) this.offerBodies();
    for (const control of [this.kind, this.bodies, this.only]) control.addEventListener("change", () => { this.arrange(); changed(); });
    $("incident-off").addEventListener("click", () => { this.limit(-1); changed(); });
  }

  // The pairs of bodies that there are, most rows first.
  offerBodies() {
    const counts = new Map();
    for (let i = 0; i < this.findings.count; i++) counts.set(this.findings.pairOf(i), (counts.get(this.findings.pairOf(i)) ?? 0) + 1);
    for (const [pair] of [...counts].sort((x, y) => y[1] - x[1])) this.bodies.add(new Option(namePair(pair), pair));
    this.bodies.hidden = false;
  }

  timeText(i) {
    return this.findings.kind[i] >= 3 ? whole(this.findings.frame[i]) : this.findings.time(i).toFixed(3);
  }

  cells(i) {
    const { findings, facts } = this, { kind, frame } = findings, names = facts.bodies;
    const pair = names.length ? `${names[findings.bodyA[i]]} ${findings.ownA[i]} · ${names[findings.bodyB[i]]} ${findings.ownB[i]}` : `${findings.a[i]} · ${findings.b[i]}`;
    return [
      [KINDS[kind[i]][0]],
      [whole(frame[i]), "n", facts.names[frame[i]]],
      [this.timeText(i), "n"],
      [figure(findings.depth[i]), "n", MEASURES[kind[i]]],
      [pair, "n quiet", findings.features(i).join(", ")],
    ];
  }

  sortBy(key) {
    const { listing } = this;
    listing.down = key === listing.key ? !listing.down : key === "depth";
    listing.key = key;
    this.arrange();
  }

  // Show the rows of an incident only, or (-1) of all.
  limit(incident) {
    this.incident = incident;
    this.arrange();
  }

  // The moment has moved.
  follow(step) {
    if (step === this.step) return;
    this.step = step;
    if (this.only.checked) this.arrange();
  }

  arrange() {
    const { findings, listing, incident } = this, { kind, frame, depth } = findings;
    const [from, to] = this.only.checked && this.step >= 0 ? [findings.start[this.step], findings.start[this.step + 1]] : [0, findings.count];
    const wanted = this.kind.value === "" ? -1 : Number(this.kind.value), pair = this.bodies.value;
    const order = new Uint32Array(to - from);
    let count = 0;
    for (let i = from; i < to; i++)
      if ((wanted < 0 || kind[i] === wanted) && (incident < 0 || findings.incident[i] === incident) && (!pair || findings.pairOf(i) === pair)) order[count++] = i;
    const rows = order.subarray(0, count), sign = listing.down ? -1 : 1;
    const value = { kind: (i) => kind[i], frame: (i) => frame[i], time: (i) => findings.time(i), depth: (i) => (Number.isNaN(depth[i]) ? -sign * Infinity : depth[i]) }[listing.key];
    if (listing.key === "depth") rows.sort((i, j) => findings.measure(i) - findings.measure(j) || sign * (value(i) - value(j)) || i - j);
    else rows.sort((i, j) => sign * (value(i) - value(j)) || i - j);
    listing.fill(rows);
    const heading = listing.panel.querySelector("th[data-key=depth] button");
    heading.textContent = { 3: "Length", 4: "Inside" }[wanted] ?? "Depth";
    heading.title = "How far the two move into each other by the end of the step; of faces that cut, the length of the cut; of a piece inside, how far inside. Each has an order of its own.";
    $("nothing").hidden = count > 0;
    $("contacts-count").textContent = count === findings.count ? whole(count) : `${whole(count)} of ${whole(findings.count)}`;
    $("incident-off").hidden = incident < 0;
    $("incident-off").textContent = `Incident ${incident + 1} ×`;
  }
}

function namePair(pair) {
  const [a, b] = pair.split("-").map((number) => facts.bodies[number]);
  return a === b ? `${a} with itself` : `${a} and ${b}`;
}
