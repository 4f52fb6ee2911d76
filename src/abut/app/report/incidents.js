// Incidents: contacts that belong together in place and time, with a start, an end and a worst moment.

class Incidents {
  constructor(findings, choose) {
    const { facts } = findings;
    Object.assign(this, facts.incidents, { findings, facts });
    this.totals = this.counts.map((kinds) => kinds.reduce((sum, count) => sum + count, 0));
    this.listing = new Listing($("incidents"), [
      ["start", "Frames"], ["count", "Contacts", "n"], ["depth", "Worst", "n", "The deepest impact; where there is none, the longest cut"], ["", facts.bodies.length ? "Bodies" : "At", "n"],
    ], {
      cells: (k) => this.cells(k),
      label: (k) => `Incident ${k + 1}, ${this.spanText(k)}, ${whole(this.totals[k])} contacts: show its worst moment`,
      colour: (k) => cssColour(findings.code(this.worst[k])),
      choose,
      sort: (key) => this.sortBy(key),
    });
    this.listing.key = "count";
  }

  spanText(k) {
    const [first, last] = [this.start[k], this.end[k]].map((time) => (Number.isInteger(time) ? String(time) : time.toFixed(2)));
    return first === last ? `frame ${first}` : `${first} to ${last}`;
  }

  cells(k) {
    const { findings, facts } = this, row = this.worst[k];
    return [
      [this.spanText(k)],
      [whole(this.totals[k]), "n", this.counts[k].map((count, kind) => count && `${whole(count)} ${Object.values(KINDS)[kind][0]}`).filter(Boolean).join(", ")],
      [figure(findings.depth[row]), "n", MEASURES[findings.kind[row]]],
      [facts.bodies.length ? namePair(findings.pairOf(row)) : findings.kind[row] >= 3 ? whole(findings.frame[row]) : findings.time(row).toFixed(2), "n quiet"],
    ];
  }

  sortBy(key) {
    const { listing } = this;
    listing.down = key === listing.key ? !listing.down : key !== "start";
    listing.key = key;
    this.arrange();
  }

  arrange() {
    const { listing, findings, worst } = this, sign = listing.down ? -1 : 1;
    const order = new Uint32Array(worst.length).map((_, k) => k);
    const value = { start: (k) => this.start[k], count: (k) => this.totals[k], depth: (k) => findings.depth[worst[k]] }[listing.key];
    const measure = (k) => (listing.key === "depth" ? findings.measure(worst[k]) : 0);
    order.sort((k, l) => measure(k) - measure(l) || sign * (value(k) - value(l)) || k - l);
    listing.fill(order);
    $("incidents-count").textContent = whole(worst.length);
  }
}
