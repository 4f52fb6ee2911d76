// Contacts over frames: those between frames upwards over their step, cuts downwards at their frame. A place on it is a time.

const INSET = 8; // half of the slider's thumb, so that both have one scale

class Timeline {
  constructor(canvas, facts, seek) {
    this.canvas = canvas;
    this.facts = facts;
    this.length = Math.max(facts.names.length - 1, 1);
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      seek(clamp((event.clientX - box.left - INSET) / (box.width - 2 * INSET), 0, 1) * this.length);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      at(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons & 1 && at(event));
    this.say("between", facts.between, "between frames");
    this.say("at", facts.cuts, "at frames");
  }

  // The labels stand above the bars, where none is.
  say(id, counts, text) {
    const most = counts.reduce((a, b) => Math.max(a, b), 0), label = document.getElementById(`label-${id}`);
    label.hidden = !most;
    label.lastElementChild.textContent = `${text}, up to ${most.toLocaleString("en")}`;
  }

  // band: a span of time behind the bars.
  draw(time, theme, band) {
    const { canvas, facts } = this;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const [mostBetween, mostCuts] = [facts.between, facts.cuts].map((list) => list.reduce((a, b) => Math.max(a, b), 0));
    const room = height - 3;
    const base = mostCuts && mostBetween ? Math.round(room * 0.62) : mostCuts ? 2 : room;
    const x = (t) => INSET + (t / this.length) * (width - 2 * INSET);
    const each = (width - 2 * INSET) / this.length;
    const gap = each > 4 ? 1 : 0;
    const bar = (left, wide, tall, down) => {
      const size = tall && Math.max(tall, 1.5);
      pen.fillRect(left, down ? base + 1 : base - size, Math.max(wide, 1), size);
    };
    if (band) {
      pen.fillStyle = theme.band;
      pen.fillRect(x(band[0]) - 2, 0, Math.max(x(band[1]) - x(band[0]), 1) + 4, height);
    }
    pen.fillStyle = theme.impact;
    facts.between.forEach((count, frame) => count && bar(x(frame) + gap / 2, each - gap, (count / mostBetween) * (base - 2), false));
    pen.fillStyle = CUT_COLOUR;
    const slim = clamp(each * 0.5, 1, 8);
    facts.cuts.forEach((count, frame) => count && bar(x(frame) - slim / 2, slim, (count / mostCuts) * (room - base - 1), true));
    pen.fillStyle = theme.rule;
    pen.fillRect(INSET, base, width - 2 * INSET, 1);
    pen.fillStyle = theme.warn;
    facts.missing.forEach((frame) => facts.other.includes(frame) || pen.fillRect(x(frame) - Math.max(slim, 3) / 2, base - 3, Math.max(slim, 3), 7));
    facts.skipped.forEach((frame) => pen.fillRect(x(frame) + gap / 2, base - 1, Math.max(each - gap, 1), 3));
    pen.fillStyle = theme.ink;
    pen.fillRect(x(time) - 0.75, 0, 1.5, height);
  }
}
