// From a step to elements. A function here draws one kind of figure and returns it; none keeps
// anything. What belongs to keys carries `data-of`, the keys' numbers with spaces between, so that
// page.js can light up all that belongs to one key; `data-row` names a row by its stage.

// ---- Making elements ----

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

/** A stage's name, with what follows an underscore set low where it is short. */
function nameElement(name) {
  const [, stem, low] = /^(.+?)_(\w)$/.exec(name) ?? [null, name, null];
  return el("var", { class: name.length > 5 ? "long" : null }, stem, low && el("sub", {}, low));
}

const hueStyle = (pass, digit) =>
  digit === null ? null : `--hue: var(--hue-${hueOf(pass, digit)})`;

// ---- Keys ----

/** A key's card. It is made once and moves from place to place; `dress` says what it shows. */
function card(key) {
  const { text, letter } = data.keys[key];
  return el(
    "div",
    { class: "card", "data-key": key },
    el(
      "span",
      { class: text.length > 10 ? "text long" : "text" },
      text,
      letter && el("sub", {}, letter),
    ),
    el("span", { class: "code", "aria-hidden": "true" }),
    el("span", { class: "digit", "aria-hidden": "true" }),
  );
}

/** Shows the code on a card, with the pass's digit marked, and the digit. */
function dress(element, key, pass) {
  const digit = digitIn(pass, key);
  element.style.setProperty(
    "--hue",
    digit === null ? "var(--no-hue)" : `var(--hue-${hueOf(pass, digit)})`,
  );
  element.querySelector(".code").replaceChildren(...codeLines(codeOf(key, pass)));
  element.querySelector(".digit").textContent = digit ?? "";
}

/** A code in lines that end at multiples of the line's length counted from the right. */
function codeLines({ text, from, to, line }) {
  const lines = [];
  for (let end = text.length; end > 0; end -= line) {
    const start = Math.max(0, end - line);
    const piece = (a, b) =>
      text.slice(Math.max(a, start), Math.max(Math.min(b, end), Math.max(a, start)));
    const marked = piece(from, to);
    lines.unshift(
      el(
        "span",
        {},
        marked ? piece(start, from) : piece(start, end),
        marked && el("mark", {}, marked),
        marked && piece(to, end),
      ),
    );
  }
  return lines;
}

/** What is left where a key stood. */
function ghost(element, slim) {
  const copy = element.cloneNode(true);
  copy.removeAttribute("data-key");
  copy.removeAttribute("data-place");
  copy.classList.add("ghost");
  copy.classList.toggle("slim", slim);
  return copy;
}

function keyInWords(key, pass) {
  const digit = digitIn(pass, key);
  return nameOf(key) + (digit === null ? "" : `, digit ${digit}`);
}

// ---- Lanes: rows under the keys, aligned by index ----

/** The rows of a step, from the top: indices, the keys as the pass finds them, and one for each stage. */
function lanes(step, cards, pitch) {
  const rows = [groupRow(step), indexRow(step)];
  if (step.kind === "keys")
    rows.push(...rowsOfCodec(), keysLane("keys", step.order, step, cards, "live"));
  else if (step.kind === "sorted") rows.push(...rowsOfEnd(step, cards, pitch));
  else rows.push(...rowsOfPass(step, cards, pitch));
  return rows.filter((made) => made !== null);
}

function row(label, cells, attributes = {}) {
  return el(
    "div",
    { role: "row", ...attributes, class: `row ${attributes.class ?? ""}` },
    el("div", { role: "rowheader", class: "label" }, label),
    ...cells,
  );
}

function cell(of, attributes, ...children) {
  return el(
    "div",
    { role: "cell", "data-of": of, ...attributes, class: `cell ${attributes.class ?? ""}` },
    ...children,
  );
}

/** A row that is a picture. */
function picture(label, image, attributes = {}) {
  return el(
    "div",
    { role: "presentation", ...attributes, class: `row picture ${attributes.class ?? ""}` },
    el("div", { class: "label", "aria-hidden": "true" }, label),
    image,
  );
}

/** Brackets over blocks or tiles. */
function groupRow(step) {
  const groups = groupsOf(step);
  if (groups.length === 0) return null;
  const cells = groups.map(({ length, name }) =>
    el("div", { class: "group", style: `--columns: ${length}` }, el("span", {}, name)),
  );
  return el(
    "div",
    { class: "row groups", "aria-hidden": "true" },
    el("div", { class: "label" }),
    ...cells,
  );
}

/** The indices; one of them is a tab stop, and arrows go from one to the next. */
function indexRow(step) {
  const array = step.kind === "stage" ? step.pass.before : step.order;
  const cells = array.map((key, i) =>
    el(
      "div",
      { role: "columnheader", class: "cell index", "data-of": key },
      el(
        "button",
        {
          type: "button",
          tabindex: i === 0 ? 0 : -1,
          "data-index": i,
          "aria-label": `Index ${i}, key ${nameOf(key)}`,
        },
        String(i),
      ),
    ),
  );
  return row("index", cells, { class: "indices" });
}

function rowsOfCodec() {
  if (!codecShows) return [];
  const cells = data.keys.map(({ word, code }, key) =>
    cell(
      key,
      { class: "word", "aria-label": `raw bits ${word}` },
      el("span", { class: "code", "aria-hidden": "true" }, ...flippedLines(word, code)),
    ),
  );
  return [row("raw bits", cells), picture("codec", arrows())];
}

/** A key's raw bits, those marked that the codec flips. */
function flippedLines(word, code) {
  const shown = [...word].map((bit, i) => ({ bit, flips: bit !== code[i] })).slice(bitsLeftOut);
  const line = shown.length > 64 ? 16 : 8;
  const lines = [];
  for (let end = shown.length; end > 0; end -= line) {
    lines.unshift(
      el(
        "span",
        {},
        ...shown
          .slice(Math.max(0, end - line), end)
          .map(({ bit, flips }) => (flips ? el("u", {}, bit) : bit)),
      ),
    );
  }
  return lines;
}

function rowsOfPass(step, cards, pitch) {
  const { pass, stageIndex } = step;
  const shown = pass.stages.slice(0, stageIndex + 1);
  const lastKeys = shown.findLastIndex((stage) => stage.role === "keys");
  const rows = [
    keysLane(
      step.passIndex === 0 ? "keys" : "in",
      pass.before,
      step,
      cards,
      lastKeys < 0 ? "live" : pass.digits ? "ghost" : "slim",
    ),
  ];
  shown.forEach((stage, i) => {
    const now = i === stageIndex ? "now" : "";
    const array = arrayBefore(pass, i);
    if (stage.role === "keys") {
      rows.push(
        stage.network
          ? networkBand(stage, array, pass, pitch)
          : moveBand(array, stage.values, pass, pitch),
      );
      rows.push(
        keysLane(stage.name, stage.values, step, cards, i === lastKeys ? "live" : "slim", now),
      );
    } else if (isRow(stage)) {
      if (now && stage.scan && treeFits(stage.scan)) rows.push(...treeRows(stage.scan, pitch));
      rows.push(numberRow(stage, array, pass, step, now));
    } else if (stage.role === "number") {
      rows.push(totalRow(stage, pass, now));
    }
  });
  return rows;
}

/** A row of keys: the cards themselves (`live`), or what is left where they stood. */
function keysLane(name, order, step, cards, how, now = "") {
  const cells = order.map((key) =>
    cell(
      key,
      { "aria-label": keyInWords(key, step.pass) },
      how === "live" ? cards[key] : ghost(cards[key], how === "slim"),
    ),
  );
  return row(nameElement(name), cells, { class: `keys ${how} ${now}`, "data-row": name });
}

function numberRow(stage, array, pass, step, now) {
  const decides = digitOfRow(stage.name);
  const decided = step.pass.stages.slice(0, step.stageIndex + 1).some(({ name }) => name === "d");
  const cells = stage.values.map((value, i) => {
    const key = i < n ? array[i] : null;
    const digit = key === null ? null : digitIn(pass, key);
    const faint = decided && decides !== null && digit !== decides;
    return cell(
      key,
      {
        class: `${stage.role} ${value === 0 ? "zero" : ""} ${faint ? "faint" : ""} ${stage.role === "places" ? "hued" : ""} ${i === n ? "total" : ""}`,
        style: hueStyle(pass, digit),
      },
      el("span", {}, String(value)),
    );
  });
  return row(nameElement(stage.name), cells, { class: `numbers ${now}`, "data-row": stage.name });
}

/** `split`'s count of zeros, from the last of e and the last of f. */
function totalRow(stage, pass, now) {
  const [e, f] = ["e", "f"].map((name) => rowOf(pass, name).at(-1));
  const sum = n > 0 ? `${e} + ${f} = ` : "";
  const total = el(
    "div",
    { role: "cell", class: "number" },
    sum,
    el("b", {}, stage.values.join(" ")),
  );
  return row(nameElement(stage.name), [total], { class: `numbers ${now}`, "data-row": stage.name });
}

function rowsOfEnd(step, cards, pitch) {
  const input = data.keys.map((_, key) => key);
  const rows = [
    keysLane("keys", input, step, cards, "slim"),
    moveBand(input, data.output, null, pitch),
    keysLane(step.name, data.output, step, cards, "live", "now"),
  ];
  if (!data.sorted) rows.push(orderRow());
  return rows;
}

/** Under each key but the last, how it compares to the next. */
function orderRow() {
  const cells = data.output.slice(0, -1).map((key, i) => {
    const [here, next] = [comparedBits(key), comparedBits(data.output[i + 1])];
    const sign = here > next ? ">" : here < next ? "<" : "=";
    const name = { ">": "greater than", "<": "less than", "=": "equal to" }[sign];
    return cell(
      null,
      { class: `order ${sign === ">" ? "wrong" : ""}`, "aria-label": `${name} the next` },
      el("span", {}, sign),
    );
  });
  return row("order", cells, { class: "orders" });
}

// ---- Between two arrays of keys ----

const center = (i, pitch) => (i + 0.5) * pitch;

function canvas(columns, pitch, height, ...children) {
  const width = Math.max(1, columns) * pitch;
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    ...children,
  );
}

/** Straight down from each raw word to its code. */
function arrows() {
  return el(
    "div",
    { class: "arrows", "aria-hidden": "true" },
    ...data.keys.map(() => el("span", {}, "↓")),
  );
}

/** Where each key goes: a line from its old place to its new one. */
function moveBand(from, to, pass, pitch) {
  const height = 28 + Math.min(44, n * 3);
  const places = placesOf(to);
  const lines = from.map((key, i) => {
    const [a, b] = [center(i, pitch), center(places[key], pitch)];
    return svg("path", {
      d: `M${a} 0C${a} ${height * 0.55} ${b} ${height * 0.45} ${b} ${height}`,
      class: "move",
      "data-of": key,
      style: hueStyle(pass, digitIn(pass, key)),
    });
  });
  return picture("", canvas(n, pitch, height, ...lines));
}

/**
 * One step of a merging network: a wire down from each place, and a bar from each place to the one
 * it is compared with. Where guards stand for missing keys, keys may move up beside them; the wires
 * show that under the bars.
 */
function networkBand({ network, values }, from, pass, pitch) {
  const slots = slotsFor(network.pairs);
  const barsEnd = 10 + (Math.max(-1, ...slots) + 1) * 13;
  const partner = partnersOf(network);
  const places = placesOf(values);
  const shifts = from.some((key, i) => places[key] !== (partner[i] ?? i));
  const height = barsEnd + (shifts ? 30 : 4);
  const wires = from.map((key, i) => {
    const middle = center(partner[i] ?? i, pitch);
    const down = shifts ? `L${center(places[key], pitch)} ${height}` : `V${height}`;
    return svg("path", { d: `M${middle} 0V${barsEnd}${down}`, class: "wire", "data-of": key });
  });
  const bars = network.pairs.map(([a, b], i) => {
    const y = 10 + slots[i] * 13;
    const [x, z] = [center(a, pitch), center(b, pitch)];
    return svg(
      "g",
      { class: network.swapped[i] ? "bar swapped" : "bar", "data-of": `${from[a]} ${from[b]}` },
      svg("path", { d: `M${x} ${y}H${z}` }),
      svg("circle", { cx: x, cy: y, r: 3.5 }),
      svg("circle", { cx: z, cy: y, r: 3.5 }),
    );
  });
  return picture(`${network.distance} apart`, canvas(n, pitch, height, ...wires, ...bars), {
    class: "network",
  });
}

/** For each pair the first line, from the top, on which it crosses no pair before it. */
function slotsFor(pairs) {
  const ends = [];
  return pairs.map(([a, b]) => {
    let slot = ends.findIndex((end) => end < a);
    if (slot < 0) slot = ends.length;
    ends[slot] = b;
    return slot;
  });
}

/** For each place whose key is exchanged, with which place. */
function partnersOf({ pairs, swapped }) {
  const partner = [];
  pairs.forEach(([a, b], i) => {
    if (swapped[i]) [partner[a], partner[b]] = [b, a];
  });
  return partner;
}

function networkInWords({ network }, from) {
  return el(
    "ul",
    { class: "unseen" },
    ...network.pairs.map(([a, b], i) =>
      el(
        "li",
        {},
        `Places ${a} and ${b}, keys ${nameOf(from[a])} and ${nameOf(from[b])}: ${network.swapped[i] ? "exchanged" : "in order"}`,
      ),
    ),
  );
}

// ---- Scans as trees ----

const LEVEL = 34;
const MOST_LEAVES = 64;

const leavesOf = (scan) => scan.blocks.reduce((sum, block) => sum + block.up[0].length, 0);

/** Whether the trees of a scan can stand under the keys, each leaf under its own. */
function treeFits(scan) {
  return (
    leavesOf(scan) <= MOST_LEAVES &&
    scan.blocks.every((block, b) => {
      const next = scan.blocks[b + 1];
      return !next || block.start + block.up[0].length <= next.start;
    })
  );
}

/** The rows of a scan's trees, of the trees of its sums, and of what those add to each block. */
function treeRows(scan, pitch, tier = 0) {
  const columns = Math.max(...scan.blocks.map((block) => block.start + block.up[0].length));
  const rows = [
    treePicture(tier === 0 ? "up-sweep" : "sums, up", scan, "up", pitch, columns, tier),
    treePicture(tier === 0 ? "down-sweep" : "sums, down", scan, "down", pitch, columns, tier),
  ];
  if (!scan.sums) return rows;
  return [...rows, ...treeRows(scan.sums, pitch, tier + 1), addedRow(scan, tier)];
}

/** What the scan of the sums adds to each block. */
function addedRow(scan, tier) {
  const sums = resultOf(scan.sums);
  const groups = scan.blocks.map((block, b) =>
    el(
      "div",
      { class: "group added", style: `--columns: ${block.up[0].length}` },
      el("span", {}, `+ ${sums[b]}`),
    ),
  );
  return el(
    "div",
    { class: "row groups level", "data-level": `${tier} added`, "aria-hidden": "true" },
    el("div", { class: "label" }, "to each"),
    ...groups,
  );
}

function treePicture(label, scan, sweep, pitch, columns, tier) {
  const levels = Math.max(...scan.blocks.map((block) => block[sweep].length));
  const height = levels * LEVEL;
  const parts = scan.blocks.map((block) => treeOf(block[sweep], sweep, block.start, pitch, tier));
  return picture(label, canvas(columns, pitch, height, ...parts), { class: "tree" });
}

/** One block's up-sweep or down-sweep. A level's lines run from the level before. */
function treeOf(levels, sweep, start, pitch, tier) {
  const at = (i, level) => [center(start + i, pitch), level * LEVEL + LEVEL / 2];
  const groups = levels.map((values, level) => {
    const changes = changesOf(values.length, level, sweep);
    const changed = new Set(changes.map(([, to]) => to));
    const lines = changes.map(([from, to]) => {
      const [[x, y], [z, w]] = [at(from, level - 1), at(to, level)];
      return svg("path", { d: `M${x} ${y + 11}L${z} ${w - 11}` });
    });
    const root = sweep === "down" && level === 0 ? values.length - 1 : null;
    const nodes = values.map((value, i) => {
      const [x, y] = at(i, level);
      const fresh = changed.has(i) || i === root || (sweep === "up" && level === 0);
      return svg(
        "g",
        { class: fresh ? "node fresh" : "node" },
        fresh && svg("rect", { x: x - 14, y: y - 11, width: 28, height: 22, rx: 4 }),
        svg("text", { x, y: y + 5 }, String(value)),
      );
    });
    return svg(
      "g",
      { class: "level", "data-level": `${tier} ${sweep} ${level}` },
      ...lines,
      ...nodes,
    );
  });
  return svg("g", {}, ...groups);
}

/** Which node is made from which: pairs [from, to] of a level, empty for the level that begins. */
function changesOf(length, level, sweep) {
  if (level === 0) return [];
  const half = sweep === "up" ? 2 ** (level - 1) : length / 2 ** level;
  const changes = [];
  for (let right = 2 * half - 1; right < length; right += 2 * half) {
    const left = right - half;
    changes.push([left, right], [right, right]);
    if (sweep === "down") changes.push([right, left]);
  }
  return changes;
}

/** The levels of a scan's trees in the order in which they happen, and what happens. */
function levelsOf(scan, tier = 0) {
  const whose = tier === 0 ? "" : "In the sums: ";
  const depth = Math.max(...scan.blocks.map((block) => block.up.length)) - 1;
  const most = 2 ** depth;
  const levels = [
    {
      name: `${tier} up 0`,
      says:
        tier === 0
          ? "The numbers as they are loaded, one to a leaf."
          : "The last number of each up-sweep is its block’s sum. The sums are scanned in their turn.",
    },
  ];
  for (let s = 1; s <= depth; s += 1) {
    levels.push({
      name: `${tier} up ${s}`,
      says: `${whose}up-sweep, ${2 ** (s - 1)} apart: each framed number adds the one ${plural(2 ** (s - 1), "place")} to its left.`,
    });
  }
  levels.push({
    name: `${tier} down 0`,
    says: `${whose}the last number, the sum of all, gives way to a zero: the root.`,
  });
  for (let s = 1; s <= depth; s += 1) {
    levels.push({
      name: `${tier} down ${s}`,
      says: `${whose}down-sweep, ${most / 2 ** s} apart: each right one hands its number to the left, and itself takes the sum of both.`,
    });
  }
  if (!scan.sums) return levels;
  const added = {
    name: `${tier} added`,
    says: "Each block adds what all blocks before it sum up to.",
  };
  return [...levels, ...levelsOf(scan.sums, tier + 1), added];
}

/** A scan of a table: the trees on their own, or words where they would be too wide. */
function treeAlone({ name, scan, columns, rows, values }) {
  if (leavesOf(scan) > MOST_LEAVES) {
    return el("p", { class: "note" }, `Its trees have ${leavesOf(scan)} leaves, too many to draw.`);
  }
  const spread = spreadOut(scan);
  const padded = scan.blocks.flatMap(({ start, up }, b) => {
    const end = scan.blocks[b + 1]?.start ?? values.length;
    return up[0].map((_, i) => (start + i < end ? values[start + i] : ""));
  });
  const result = row(
    nameElement(name),
    padded.map((value) => cell(null, {}, String(value))),
    { class: "numbers now" },
  );
  const whole = spread.blocks.every((block, b) => block.start === scan.blocks[b].start);
  return el(
    "div",
    { class: "scroller sheet" },
    el(
      "div",
      { class: "lanes", role: "presentation" },
      whole && leafNames(scan, columns, rows),
      ...treeRows(spread, 40),
      result,
    ),
  );
}

/** Brackets over the leaves: which row of the table they are. */
function leafNames(scan, columns, word) {
  const count = Math.floor(leavesOf(scan) / columns);
  const groups = Array.from({ length: count }, (_, r) =>
    el(
      "div",
      { class: "group", style: `--columns: ${columns}` },
      el("span", {}, columns > 1 ? `${word} ${r}` : String(r)),
    ),
  );
  return el(
    "div",
    { class: "row groups", "aria-hidden": "true" },
    el("div", { class: "label" }, columns > 1 ? "" : word),
    ...groups,
  );
}

/** The scan with its trees side by side, however much wider than their blocks. */
function spreadOut(scan) {
  let start = 0;
  const blocks = scan.blocks.map((block) => {
    const placed = { ...block, start };
    start += block.up[0].length;
    return placed;
  });
  return { ...scan, blocks };
}

function treeInWords(scan) {
  const items = scan.blocks.flatMap((block, b) => [
    ...block.up.map(
      (values, level) => `Block ${b}, up-sweep, level ${level}: ${values.join(", ")}`,
    ),
    ...block.down.map(
      (values, level) => `Block ${b}, down-sweep, level ${level}: ${values.join(", ")}`,
    ),
  ]);
  const list = el("ul", { class: "unseen" }, ...items.map((item) => el("li", {}, item)));
  if (scan.sums) list.append(el("li", {}, "The sums: ", treeInWords(scan.sums)));
  return list;
}

// ---- Tables: counts and offsets ----

/** The tables of a pass up to its step. Rows of equal meaning, one a stage, share a table. */
function tables(step) {
  if (step.kind !== "stage" || n === 0) return [];
  const { pass, stageIndex } = step;
  const shown = pass.stages.slice(0, stageIndex + 1).filter(isTable);
  const lists = shown.filter((stage) => stage.columns === null);
  const figures = shown
    .filter((stage) => stage.columns !== null && stage.columns > 0)
    .map((stage) => matrix(stage, step));
  if (lists.length > 0) figures.unshift(listTable(lists, step));
  return figures;
}

/** Which digits a table shows: all, or of many only those that occur. */
function digitsShown(radix, pass, stages) {
  const all = Array.from({ length: radix }, (_, digit) => digit);
  if (radix <= 16) return all;
  if (pass.digits) return digitsThatOccur(pass);
  return all.filter((digit) =>
    stages.some(({ values }) => values.some((value, i) => value > 0 && i % radix === digit)),
  );
}

function leftOutNote(radix, shown) {
  const count = radix - shown.length;
  return count > 0
    ? el(
        "p",
        { class: "note" },
        `${plural(count, "digit")} that no key has ${count === 1 ? "is" : "are"} left out.`,
      )
    : null;
}

/** Tables of one row each, by digit: histogram, offsets, offsets_after. */
function listTable(stages, step) {
  const radix = stages[0].values.length;
  const shown = digitsShown(radix, step.pass, stages);
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, "digit"),
    ...shown.map((digit) => el("th", { scope: "col" }, String(digit))),
  );
  const body = stages.map((stage) =>
    el(
      "tr",
      { class: stage === step.stage ? "now" : null },
      el("th", { scope: "row" }, nameElement(stage.name)),
      ...shown.map((digit) => valueCell(stage, step, digit)),
    ),
  );
  return tableFigure(
    stages.at(-1).name,
    null,
    stages.includes(step.stage),
    [head],
    body,
    leftOutNote(radix, shown),
  );
}

/** A table with a row a block, digit or bucket. */
function matrix(stage, step) {
  const byDigit = stage.rows === "digit";
  const height = stage.values.length / stage.columns;
  const columns = byDigit
    ? [...Array(stage.columns).keys()]
    : digitsShown(stage.columns, step.pass, [stage]);
  const rows = byDigit ? digitsShown(height, step.pass, [stage]) : [...Array(height).keys()];
  const columnWord = byDigit ? "block" : "digit";
  const head = [
    el(
      "tr",
      {},
      el("td", {}),
      el("th", { class: "axis", scope: "colgroup", colspan: columns.length }, columnWord),
    ),
    el(
      "tr",
      {},
      el("th", { class: "axis", scope: "col" }, stage.rows),
      ...columns.map((column) => el("th", { scope: "col" }, String(column))),
    ),
  ];
  const body = rows.map((r) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, String(r)),
      ...columns.map((c) => valueCell(stage, step, r * stage.columns + c)),
    ),
  );
  const radix = byDigit ? height : stage.columns;
  return tableFigure(
    stage.name,
    stage.what,
    stage === step.stage,
    head,
    body,
    leftOutNote(radix, byDigit ? rows : columns),
  );
}

/** A number of a table, with a bar where it counts, and the keys it is about. */
function valueCell(stage, step, i) {
  const value = stage.values[i];
  const keys = keysOfCell({ ...step, stage }, i);
  const most = Math.max(1, ...stage.values);
  const digit = keys.length > 0 ? digitIn(step.pass, keys[0]) : null;
  const says =
    keys.length > 0
      ? `${cellName(stage, i)}: ${plural(keys.length, "key")}, ${listOf(keys)}`.replace(/^./, (c) =>
          c.toUpperCase(),
        )
      : null;
  return el(
    "td",
    {
      class: `${value === 0 ? "zero" : ""} ${stage.role === "counts" ? "count" : ""}`,
      "data-of": keys.join(" "),
      "data-says": says,
      style: hueStyle(step.pass, digit),
    },
    stage.role === "counts" && el("i", { style: `height: ${((value / most) * 26).toFixed(1)}px` }),
    String(value),
  );
}

function tableFigure(name, what, now, head, body, note) {
  return el(
    "figure",
    { class: now ? "table now" : "table" },
    el(
      "figcaption",
      {},
      what !== null ? nameElement(name) : "by digit",
      what && el("span", {}, what),
    ),
    el(
      "div",
      { class: "scroller" },
      el("table", {}, el("thead", {}, ...head), el("tbody", {}, ...body)),
    ),
    note,
  );
}

// ---- Look-back ----

const TILE = 62;
const TURN = 30;

/** Tiles from left to right, turns from top to bottom: what each has published, and who reads whom. */
function lookBack({ tiles, events }) {
  const height = (events.length + 1) * TURN;
  const bands = events.map((_, t) =>
    svg("rect", {
      class: "turn",
      "data-turn": t,
      x: 0,
      y: turnAt(t) - TURN / 2,
      width: tiles * TILE,
      height: TURN,
    }),
  );
  const ribbons = Array.from({ length: tiles }, (_, tile) => ribbon(tile, events, height));
  const marks = events.map((event, t) => eventMark(event, t));
  const names = Array.from({ length: tiles }, (_, tile) =>
    el("span", { style: `left: ${center(tile, TILE)}px` }, `tile ${tile}`),
  );
  const texts = events.map((event, t) =>
    el("li", { "data-turn": t, style: `height: ${TURN}px` }, eventInWords(event)),
  );
  return el(
    "div",
    { class: "scroller look-back" },
    el(
      "div",
      { class: "tile-names", style: `width: ${tiles * TILE}px`, "aria-hidden": "true" },
      ...names,
    ),
    el(
      "div",
      { class: "turns" },
      canvas(tiles, TILE, height, ...bands, ...ribbons, ...marks),
      el("ol", {}, ...texts),
    ),
  );
}

const turnAt = (t) => (t + 0.5) * TURN;

/** What a tile has published, turn after turn. */
function ribbon(tile, events, height) {
  const x = center(tile, TILE);
  const since = (state) => events.findIndex((event) => event.states[tile] >= state);
  const [partial, inclusive] = [since(1), since(2)].map((t) => (t < 0 ? height : turnAt(t)));
  const part = (name, from, to, letter) =>
    from >= to
      ? null
      : svg(
          "g",
          { class: `state ${name}` },
          name === "empty"
            ? svg("path", { d: `M${x} ${from}V${to}` })
            : svg("rect", { x: x - 13, y: from - 10, width: 26, height: to - from, rx: 5 }),
          letter && svg("text", { x, y: from + 5 }, letter),
        );
  return svg(
    "g",
    {},
    part("empty", 0, partial - 10, null),
    part("partial", partial, inclusive, "P"),
    part("inclusive", inclusive, height, "I"),
  );
}

/** An arrow from a tile to the one it reads; dashed where that one has nothing yet. */
function eventMark({ tile, does, of }, t) {
  const [x, y] = [center(tile, TILE), turnAt(t)];
  if (of === null) return svg("circle", { class: "acts", cx: x, cy: y, r: 12.5 });
  const z = center(of, TILE);
  const rise = tile - of > 1 ? 12 : 0;
  return svg(
    "g",
    { class: does === "waits" ? "looks waits" : "looks" },
    svg("circle", { class: "eye", cx: x, cy: y, r: 3.5 }),
    svg("path", { d: `M${x} ${y}Q${(x + z) / 2} ${y - 2 * rise} ${z + 6} ${y}` }),
    does === "waits"
      ? svg("path", { class: "head", d: `M${z - 4} ${y - 4}l8 8m0 -8l-8 8` })
      : svg("path", {
          class: "head",
          d: `M${z + 10} ${y - 4.5 - rise / 3}L${z + 4} ${y}L${z + 11} ${y + 3.5 - rise / 3}`,
        }),
  );
}

// ---- Tiles sorted by themselves ----

/** Each tile's passes of split, folded up. */
function tilesFigure(stage, from) {
  return el(
    "div",
    { class: "tiles" },
    ...stage.tiles.map((tile, t) => {
      const end = stage.tiles[t + 1]?.start ?? n;
      const keys = from.slice(tile.start, end);
      const summary = el(
        "summary",
        {},
        el("b", {}, `${tileWord} ${t}`),
        ` ${keys.map(nameOf).join(" ")} → ${stage.values.slice(tile.start, end).map(nameOf).join(" ")}`,
      );
      return el("details", {}, summary, ...tilePasses(tile));
    }),
  );
}

function tilePasses(tile) {
  return tile.passes.map(({ bits: [bit], before, stages }) => {
    const rows = [tileRow("in", before, bit, true)];
    for (const { name, role, values } of stages)
      rows.push(tileRow(name, values, bit, role === "keys"));
    return el(
      "figure",
      {},
      el("figcaption", {}, `bit ${bit}`),
      el("div", { class: "scroller" }, el("table", {}, el("tbody", {}, ...rows))),
    );
  });
}

function tileRow(name, values, bit, areKeys) {
  const hue = (key) => `--hue: var(--hue-${data.keys[key].code[data.width - 1 - bit]})`;
  return el(
    "tr",
    { class: areKeys ? "keys" : null },
    el("th", { scope: "row" }, nameElement(name)),
    ...values.map((value) =>
      el("td", { style: areKeys ? hue(value) : null }, areKeys ? nameOf(value) : String(value)),
    ),
  );
}
