// A list of any length: only the rows that are seen exist. The table stays where it is; the runway behind it is as high as all rows together.

const ROW = 30; // pixels, as the style sheet has it
const LONGEST = 8e6; // pixels: browsers cut off what is much higher

class Listing {
  // columns: [key or "", text, class, title]; cells(number): [text, class, title] for each, the first is a button.
  constructor(panel, columns, { cells, label, colour, choose, sort }) {
    Object.assign(this, { panel, cells, label, colour, choose, order: new Uint32Array(0), chosen: -1, key: "", down: true });
    this.scroller = panel.querySelector(".scroll");
    this.runway = panel.querySelector(".runway");
    this.table = panel.querySelector("table");
    this.body = panel.querySelector("tbody");
    const head = panel.querySelector("thead tr");
    for (const [key, text, kind, title] of columns) {
      const heading = head.appendChild(document.createElement("th"));
      heading.scope = "col";
      if (kind) heading.className = kind;
      if (!key) { heading.textContent = text; continue; }
      heading.dataset.key = key;
      const button = heading.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = text;
      if (title) button.title = title;
      button.addEventListener("click", () => sort(key));
    }
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.body.addEventListener("keydown", (event) => this.onKey(event));
    this.body.addEventListener("click", (event) => {
      const line = event.target.closest("tr");
      if (!line) return;
      line.querySelector("button").focus({ preventScroll: true });
      this.choose(Number(line.dataset.number));
    });
  }

  get seen() {
    return Math.max(1, Math.floor((this.scroller.clientHeight - ROW) / ROW));
  }

  // Pixels of scrolling that a row takes: less than its height where all would be too high.
  get pace() {
    return Math.min(ROW, LONGEST / Math.max(this.order.length, 1));
  }

  fill(order) {
    this.order = order;
    this.table.setAttribute("aria-rowcount", order.length + 1);
    for (const heading of this.panel.querySelectorAll("th[data-key]")) {
      if (heading.dataset.key === this.key) heading.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
    this.drawn = "";
    this.draw();
  }

  draw() {
    const count = this.order.length, seen = this.seen;
    const most = Math.max(count - seen, 0);
    const from = clamp(Math.round(this.scroller.scrollTop / this.pace), 0, most);
    const key = `${from} ${seen} ${count}`;
    if (key === this.drawn) return;
    this.drawn = key;
    this.runway.style.height = `${Math.ceil(most * this.pace) + this.scroller.clientHeight}px`;
    const focused = this.body.contains(document.activeElement) ? Number(document.activeElement.closest("tr")?.dataset.number ?? -1) : -1;
    const lines = [];
    for (let k = from; k < Math.min(from + seen + 1, count); k++) lines.push(this.line(this.order[k], k));
    this.body.replaceChildren(...lines);
    this.mark(this.chosen);
    if (focused >= 0) this.body.querySelector(`tr[data-number="${focused}"] button`)?.focus({ preventScroll: true });
  }

  line(number, k) {
    const line = document.createElement("tr");
    line.dataset.number = number;
    line.setAttribute("aria-rowindex", k + 2);
    this.cells(number).forEach(([text, kind, title], column) => {
      const cell = line.appendChild(document.createElement("td"));
      if (kind) cell.className = kind;
      if (title) cell.title = title;
      if (column) { cell.textContent = text; return; }
      const button = cell.appendChild(document.createElement("button"));
      button.type = "button";
      button.appendChild(document.createElement("i")).style.background = this.colour(number);
      button.append(text);
      button.setAttribute("aria-label", this.label(number));
    });
    return line;
  }

  mark(number) {
    this.chosen = number;
    for (const line of this.body.children) {
      const own = Number(line.dataset.number) === number;
      line.classList.toggle("chosen", own);
      line.querySelector("button").setAttribute("aria-current", String(own));
    }
  }

  // Bring a row into sight.
  reveal(number) {
    this.mark(number);
    const at = this.order.indexOf(number);
    if (at < 0) return;
    const from = Math.round(this.scroller.scrollTop / this.pace);
    if (at < from) this.scroller.scrollTop = at * this.pace;
    else if (at >= from + this.seen) this.scroller.scrollTop = (at - this.seen + 1) * this.pace;
    this.draw();
  }

  onKey(event) {
    const page = this.seen - 1;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    const line = event.target.closest("tr");
    if (!step || !line || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.order.indexOf(Number(line.dataset.number));
    const next = this.order[clamp(at + step, 0, this.order.length - 1)];
    if (next === this.order[at]) return;
    this.reveal(next);
    this.body.querySelector(`tr[data-number="${next}"] button`)?.focus({ preventScroll: true });
    this.choose(next);
  }
}
