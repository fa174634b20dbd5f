// From data to steps, and the words about them. Nothing here touches the page but to read its data.
//
// The page's way is data → steps → picture:
//   steps.js    the tool's JSON becomes a flat list of steps, one for each stage of each pass,
//               between "the keys" and "sorted"
//   figures.js  a step becomes elements: rows under the keys, tables, trees, networks, look-back
//   page.js     moves from step to step: buttons, keyboard, address, animation
// The three are one module, in this order.
//
// A key is named by its position in the input, 0 to n - 1, wherever it stands. An array of keys is
// an array of such positions.

const data = JSON.parse(document.getElementById("explanation").textContent);
const n = data.keys.length;
const steps = readSteps();

function readSteps() {
  const input = data.keys.map((_, key) => key);
  const list = [{ kind: "keys", name: "keys", what: "as they come", order: input }];
  data.passes.forEach((pass, passIndex) => {
    let order = pass.before;
    pass.stages.forEach((stage, stageIndex) => {
      if (stage.role === "keys") order = stage.values;
      list.push({
        kind: "stage",
        name: stage.name,
        what: stage.what,
        order,
        pass,
        passIndex,
        stage,
        stageIndex,
      });
    });
  });
  const what = data.sorted ? "the keys in order" : "the keys are not in order";
  list.push({
    kind: "sorted",
    name: data.sorted ? "sorted" : "not sorted",
    what,
    order: data.output,
  });
  return list;
}

// ---- What a step's arrays are ----

/** The keys that stage `index` of a pass finds: those of the last stage of keys before it. */
function arrayBefore(pass, index) {
  const stages = pass.stages.slice(0, index).filter((stage) => stage.role === "keys");
  return stages.length > 0 ? stages.at(-1).values : pass.before;
}

/** The place of each key in an array. */
function placesOf(array) {
  const places = [];
  array.forEach((key, i) => {
    places[key] = i;
  });
  return places;
}

/** Whether a stage has one value for each key, in the keys' order; else its values are a table. */
function isRow(stage) {
  return ["flags", "digits", "ranks", "scan", "places"].includes(stage.role);
}

function isTable(stage) {
  return !isRow(stage) && !["keys", "number", "states"].includes(stage.role);
}

/** The digit of a key in a pass, or null where the pass has none. */
function digitIn(pass, key) {
  return pass?.digits ? pass.digits[pass.before.indexOf(key)] : null;
}

/** How many values a digit of a pass has. */
function radixOf(pass) {
  return pass.bits ? 2 ** (pass.bits[1] - pass.bits[0]) : (data.base ?? 2 ** data.radix_bits);
}

/** The digits that occur in a pass, in order. */
function digitsThatOccur(pass) {
  return [...new Set(pass.digits)].sort((a, b) => a - b);
}

/** Which of the eight hues a digit has in a pass. */
function hueOf(pass, digit) {
  const rank = radixOf(pass) <= 8 ? digit : digitsThatOccur(pass).indexOf(digit);
  return rank % 8;
}

/** The digit for which a row under the keys decides, or null where it concerns all. */
function digitOfRow(name) {
  if (data.algorithm === "split") return { f: 0, t: 1 }[name] ?? null;
  const numbered = /^scan_(\d+)$/.exec(name);
  return numbered ? Number(numbered[1]) : null;
}

const tileWord = ["onesweep", "tile-merge"].includes(data.algorithm) ? "tile" : "block";

/** The stretches of neighbours that a step handles each by itself: blocks, tiles, runs, buckets. */
function groupsOf(step) {
  if (step.kind !== "stage" || data.algorithm === "counting-lsd") return [];
  if (data.algorithm === "hybrid") return bucketsOf(step);
  const merges = data.algorithm === "tile-merge" && step.passIndex > 0;
  const size = merges ? data.block * 2 ** step.passIndex : data.block;
  const groups = [];
  for (let start = 0; start < n; start += size) {
    const name = merges ? "two runs" : `${tileWord} ${groups.length}`;
    groups.push({ start, length: Math.min(size, n - start), name });
  }
  return groups.length > 1 ? groups : [];
}

/** The buckets that a pass of `hybrid` finds: what the passes before made of those too large. */
function bucketsOf({ pass, passIndex }) {
  let buckets = [{ start: 0, length: n }];
  for (const { bits } of data.passes.slice(0, passIndex)) {
    buckets = buckets.flatMap((bucket) =>
      bucket.length > data.block ? partsOf(bucket, pass.before, bits[0]) : [bucket],
    );
  }
  let large = 0;
  return buckets.map(({ start, length }) => {
    const partitioned = pass.bits && length > data.block;
    const name = pass.bits ? "small" : "bucket";
    return { start, length, name: partitioned ? `bucket ${large++}` : name };
  });
}

/** A bucket cut where neighbours differ in the bits from `low` up. */
function partsOf({ start, length }, array, low) {
  const top = (i) => data.keys[array[i]].code.slice(0, data.width - low);
  const parts = [];
  for (let i = start; i < start + length; i += 1) {
    if (i > start && top(i) === top(i - 1)) parts.at(-1).length += 1;
    else parts.push({ start: i, length: 1 });
  }
  return parts;
}

/** The keys that a cell of a table is about, where that can be told. */
function keysOfCell({ stage, pass, passIndex }, i) {
  if (!pass.digits) return [];
  const [r, c] =
    stage.columns === null ? [0, i] : [Math.floor(i / stage.columns), i % stage.columns];
  const [digit, part] = stage.rows === "digit" ? [r, c] : [c, r];
  const bucket =
    stage.rows === "bucket" &&
    bucketsOf({ pass, passIndex }).find(({ name }) => name === `bucket ${part}`);
  const belongs = (at) => {
    if (stage.columns === null) return true;
    if (bucket) return at >= bucket.start && at < bucket.start + bucket.length;
    return Math.floor(at / data.block) === part;
  };
  return pass.before.filter((_, at) => pass.digits[at] === digit && belongs(at));
}

/** A scan's result from its trees. */
function resultOf(scan) {
  const sums = scan.sums ? resultOf(scan.sums) : scan.blocks.map(() => 0);
  return scan.blocks.flatMap((block, b) => block.down.at(-1).map((value) => value + sums[b]));
}

// ---- A key's code ----

/** How many leading bits of the codes say nothing: equal in all keys, and above what is sorted by. */
const bitsLeftOut = countBitsLeftOut();

function countBitsLeftOut() {
  if (n === 0) return 0;
  const codes = data.keys.map((key) => key.code);
  const used = Math.max(...data.passes.map((pass) => pass.bits?.[1] ?? 0), 1);
  const sortedBy = data.passes.some((pass) => pass.bits) ? used : data.bits[1];
  const above = data.width - Math.max(sortedBy, 1);
  let count = 0;
  while (count < above && codes.every((code) => code[count] === codes[0][count])) count += 1;
  return count;
}

/** The code in the base that the passes take digits of: a string, and the part that is the pass's. */
function codeOf(key, pass) {
  const code = data.keys[key].code;
  if (data.base !== null) {
    const places = Math.max(data.passes.length, 1);
    const text = inBase(BigInt(`0b${code}`), BigInt(data.base), places);
    const end = text.length - (pass?.digit ?? -Infinity);
    return { text, from: end - 1, to: end, line: places };
  }
  const text = code.slice(bitsLeftOut);
  const [low, high] = pass?.bits ?? [-1, -1];
  return {
    text,
    from: text.length - high,
    to: text.length - low,
    line: text.length > 64 ? 16 : 8,
  };
}

/** A number's digits, one character each; bases above 36 show only that there is a digit. */
function inBase(value, base, places) {
  let text = "";
  for (let rest = value, i = 0; i < places; i += 1, rest /= base) {
    const digit = Number(rest % base);
    text = (digit < 36 ? digit.toString(36) : "•") + text;
  }
  return text;
}

/** Whether the codec changes any key's bits. */
const codecShows = data.keys.some((key) => key.word !== key.code);

// ---- Words ----

const plural = (count, word, many = `${word}s`) => `${count} ${count === 1 ? word : many}`;

function nameOf(key) {
  const { text, letter } = data.keys[key];
  return text + (letter ?? "");
}

/** The keys of an array in words, as many as one can take in. */
function listOf(keys) {
  return keys.slice(0, 64).map(nameOf).join(", ") + (keys.length > 64 ? ", and more" : "");
}

/** One line on what is sorted and how. */
function setting() {
  const [low, high] = data.bits;
  const parts = [
    plural(n, "key"),
    data.type,
    data.order,
    data.base !== null ? `base ${data.base}` : `bits ${low}..${high}`,
  ];
  if (data.base === null && !["split", "tile-merge"].includes(data.algorithm))
    parts.push(`digits of ${plural(data.radix_bits, "bit")}`);
  if (data.algorithm !== "counting-lsd") parts.push(`${tileWord}s of ${data.block}`);
  if (data.break_stability) parts.push("stability broken on purpose");
  return parts.join(" · ");
}

function passTitle(step) {
  if (step.kind !== "stage")
    return step.kind === "keys" ? "Before the first pass" : "After the last pass";
  return `${step.pass.title.replace(/^p/, "P")} (of ${plural(data.passes.length, "pass", "passes")})`;
}

/** What a step does, in one or two sentences with the numbers of this run. */
function caption(step) {
  if (step.kind === "keys") return captionOfKeys();
  if (step.kind === "sorted") return captionOfEnd();
  const { stage } = step;
  if (n === 0) return "There are no keys, so there is nothing to do.";
  if (stage.look_back) return captionOfLookBack(stage.look_back);
  if (stage.network) return captionOfNetwork(stage.network);
  if (stage.role === "keys") return captionOfMove(step);
  if (stage.role === "number") {
    return `${plural(stage.values[0], "key")} of ${n} have a 0 here, so the keys with a 1 begin at place ${stage.values[0]}.`;
  }
  return isRow(stage) ? captionOfRow(step) : captionOfTable(step);
}

function captionOfKeys() {
  if (n === 0) return "There are no keys.";
  const under =
    data.base === null
      ? "Under each key stands its code: the bits that the passes sort by, most significant first."
      : `Under each key stands its code, written in base ${data.base}.`;
  const less =
    bitsLeftOut > 0 && data.base === null
      ? ` ${plural(bitsLeftOut, "leading bit")}, the same in all keys, ${bitsLeftOut === 1 ? "is" : "are"} left out.`
      : "";
  return [under + less, codecInWords(), "Point at a key to follow it; click to keep following."]
    .filter(Boolean)
    .join(" ");
}

function codecInWords() {
  const words = [];
  if (data.kind === "signed")
    words.push(
      "The sign bit is flipped, so that negative keys come before positive ones when codes are compared as plain numbers.",
    );
  if (data.kind === "float")
    words.push(
      "Of a positive float the sign bit is flipped, of a negative one every bit, so that codes compared as plain numbers stand in the floats’ order.",
    );
  if (data.kind === "float" && data.nan !== "total")
    words.push(`NaNs get codes that put them ${data.nan}.`);
  if (data.order === "descending")
    words.push(
      `${words.length > 0 ? "Then every" : "Every"} bit is flipped, which turns the order round.`,
    );
  if (codecShows) words.push("Marked bits are those that differ in the end.");
  return words.join(" ");
}

function captionOfRow({ stage, pass, stageIndex }) {
  const keys = arrayBefore(pass, stageIndex);
  if (stage.role === "flags") {
    const ones = stage.values.filter((value) => value === 1).length;
    return `${ones} of ${plural(n, "key")} ${ones === 1 ? "has" : "have"} ${flagInWords(stage.name)}.`;
  }
  if (stage.name === "t") {
    const i = exampleOf(pass, keys, stage.values);
    return `It is worked out for every key, but only those with a 1 will use it. At index ${i}: ${i} − ${rowOf(pass, "f")[i]} + ${rowOf(pass, "totalFalses")[0]} = ${stage.values[i]}.`;
  }
  if (stage.role === "digits" || stage.role === "ranks") {
    const i = stage.values.indexOf(Math.max(...stage.values));
    return `Key ${nameOf(keys[i])} at index ${i}, for one, has ${stage.values[i]}.`;
  }
  if (stage.role === "scan") {
    const i = n - 1;
    const total =
      stage.values.length > n ? ` The entry after the last, ${stage.values[n]}, is the total.` : "";
    return `Each number is the sum of all flags to its left: at index ${i} it is ${stage.values[i]}.${total}`;
  }
  return captionOfPlaces(stage.values, pass, keys);
}

/** What a key has whose flag is set. */
function flagInWords(name) {
  const digit = /^compact_(\d+)$/.exec(name);
  if (digit) return `the digit ${digit[1]}`;
  return name === "e" ? "a 0 here" : "a 1 here";
}

/** The rule by which keys get their places, with an example. */
function captionOfPlaces(values, pass, keys) {
  const i = exampleOf(pass, keys, values);
  const example = `Key ${nameOf(keys[i])} at index ${i}, for one, goes to ${pass.sums?.[i] ?? values[i]}.`;
  if (data.break_stability)
    return `Stability is broken on purpose: within each digit the places are turned round. ${example}`;
  return pass.rule ? `The rule: ${pass.rule}. ${example}` : example;
}

/** The values of a pass's stage. */
function rowOf(pass, name) {
  return pass.stages.find((stage) => stage.name === name).values;
}

/** An index worth an example: a key of the greatest digit that changes its place. */
function exampleOf(pass, keys, values) {
  const greatest = Math.max(...pass.digits);
  const found = keys.findIndex((key, i) => values[i] !== i && digitIn(pass, key) === greatest);
  return found < 0 ? n - 1 : found;
}

function captionOfTable(step) {
  const { stage } = step;
  if (stage.values.length === 0) return "";
  if (stage.role === "counts") {
    const i = stage.values.indexOf(Math.max(...stage.values));
    return `The greatest: ${cellName(stage, i)} has ${plural(stage.values[i], "key")}.`;
  }
  const i = stage.values.findLastIndex((_, at) => keysOfCell(step, at).length > 0);
  if (i < 0) return "";
  const where = cellName(stage, i);
  if (stage.name === "L")
    return `For one, in the sorted block, the keys of ${where} begin at ${stage.values[i]}.`;
  if (stage.name === "offsets_after")
    return "Each number has grown by how many keys of its digit were moved. All keys of a digit placed, it stands where the next digit begins.";
  return `For one, the keys of ${where} begin at ${stage.rows === "bucket" ? "" : "place "}${stage.values[i]}.`;
}

/** A table's cell in words: "block 1, digit 3". */
function cellName(stage, i) {
  if (stage.columns === null) return `digit ${i}`;
  const [r, c] = [Math.floor(i / stage.columns), i % stage.columns];
  return stage.rows === "digit" ? `block ${c}, digit ${r}` : `${stage.rows} ${r}, digit ${c}`;
}

function captionOfMove({ stage, pass, stageIndex }) {
  const from = arrayBefore(pass, stageIndex);
  const moved = stage.values.filter((key, i) => from[i] !== key).length;
  const first =
    moved === 0 ? "Every key stays where it is." : `${moved} of ${plural(n, "key")} change places.`;
  const scattered =
    pass.digits !== null && stage === pass.stages.findLast((s) => s.role === "keys");
  if (!scattered) return first;
  if (data.break_stability)
    return `${first} Stability is broken here: keys of one digit come out in reverse, so lines of one digit cross, and what earlier passes have put in order is lost.`;
  const places = placesOf(stage.values);
  const told = pass.stages[placesKnown(pass)] !== stage;
  const rule = told
    ? ""
    : ` ${captionOfPlaces(
        from.map((key) => places[key]),
        pass,
        from,
      )}`;
  return `${first}${rule} Keys of one digit keep their order, so lines of one digit do not cross: the pass is stable.`;
}

function captionOfNetwork({ distance, pairs, swapped }) {
  const exchanged = swapped.filter(Boolean).length;
  return `${plural(pairs.length, "pair")} of keys compared, ${distance} apart; ${exchanged} exchange${exchanged === 1 ? "s" : ""}, so that the smaller stands to the left. All pairs are compared at the same time.`;
}

function captionOfLookBack({ tiles, events }) {
  const count = (does) => events.filter((event) => event.does === does).length;
  return `${plural(tiles, "tile")} took ${plural(events.length, "turn")}, ${count("reads")} of them to read what a tile before had published, ${count("waits")} in vain. A tile that finds an inclusive sum need look no further back.`;
}

function captionOfEnd() {
  if (n === 0) return "There are no keys, and no keys are in order.";
  if (!data.sorted) {
    const i = data.output.findIndex(
      (key, at) => comparedBits(key) > comparedBits(data.output[at + 1] ?? key),
    );
    return `The result is not sorted: ${nameOf(data.output[i])} stands before ${nameOf(data.output[i + 1])}, for one. LSD radix sort goes from the least significant digit up and relies on each pass keeping the order of keys with equal digits: that order is all that is left of the passes before. These passes turned it round.`;
  }
  const letters = equalsTurned();
  if (letters) return `The keys are in order, but equal keys have changed places: ${letters}.`;
  const equals = data.keys.some((key) => key.letter !== null);
  return `${plural(n, "key")} in order after ${plural(data.passes.length, "pass", "passes")}.${equals ? " Equal keys stand in the order in which they came: the sort is stable." : ""}`;
}

/** Two equal keys out of their order, or null. */
function equalsTurned() {
  const turned = (key, next) => comparedBits(key) === comparedBits(next) && key > next;
  const { output } = data;
  const i = output.findIndex((key, at) => at + 1 < n && turned(key, output[at + 1]));
  return i < 0 ? null : `${nameOf(output[i])} stands before ${nameOf(output[i + 1])}`;
}

/** The bits of a key's code that are sorted by; as strings they compare like numbers. */
function comparedBits(key) {
  return data.keys[key].code.slice(data.width - data.bits[1], data.width - data.bits[0]);
}

/** What an event of look-back does. */
function eventInWords({ tile, does, of, states }) {
  switch (does) {
    case "partial":
      return `tile ${tile} publishes its own counts`;
    case "waits":
      return `tile ${tile} finds nothing from tile ${of}, and waits`;
    case "reads":
      return states[of] === 2
        ? `tile ${tile} adds tile ${of}’s inclusive sum, and is done looking`
        : `tile ${tile} adds tile ${of}’s own counts, and looks further back`;
    default:
      return `tile ${tile} publishes the sum of tiles 0 to ${tile}`.replace(
        "tiles 0 to 0",
        "tile 0 alone",
      );
  }
}

/** The numbers with which an event of look-back deals, where they are few enough to say. */
function numbersOfEvent({ tile, does, of, states }, pass) {
  const radix = radixOf(pass);
  if (does === "waits" || radix > 16) return "";
  const owner = of ?? tile;
  const counts = rowOf(pass, "counts");
  const from = states[owner] === 2 ? 0 : owner;
  const sums = Array.from({ length: radix }, (_, digit) => {
    let sum = 0;
    for (let t = from; t <= owner; t += 1) sum += counts[t * radix + digit];
    return sum;
  });
  return ` (digit by digit: ${sums.join(" ")})`;
}

/** All that is known of a key in a step: its numbers, and where it goes. */
function storyOf(step, key) {
  const { pass, stageIndex } = step;
  const index = step.order.indexOf(key);
  if (step.kind !== "stage")
    return `Key ${nameOf(key)} came at index ${key}${step.kind === "sorted" ? ` and ends at ${index}` : ""}.`;
  const from = pass.before.indexOf(key);
  const numbers = [];
  pass.stages.slice(0, stageIndex + 1).forEach((stage, i) => {
    if (isRow(stage) && stage.role !== "digits")
      numbers.push(`${stage.name} ${stage.values[arrayBefore(pass, i).indexOf(key)]}`);
  });
  const digit = digitIn(pass, key);
  const parts = [`Key ${nameOf(key)} from index ${from}`];
  if (digit !== null) parts.push(`digit ${digit}`);
  return `${[...parts, ...numbers].join(", ")}.${destinationOf(step, key, index)}`;
}

/** The sum that makes a key's place, once places are known. */
function destinationOf({ pass, stage, stageIndex }, key, index) {
  if (pass.sums && stageIndex >= placesKnown(pass))
    return ` Place: ${pass.sums[scatteredFrom(pass).indexOf(key)]}.`;
  return stage.role === "keys" ? ` Now at ${index}.` : "";
}

/** The stage with which a pass's destinations are known: d, or where there is none the scatter. */
function placesKnown(pass) {
  const d = pass.stages.findIndex(({ name }) => name === "d");
  return d >= 0 ? d : pass.stages.findLastIndex(({ role }) => role === "keys");
}

/** The array that a pass scatters, to which its sums belong. */
function scatteredFrom(pass) {
  return pass.scatters === "before" ? pass.before : rowOf(pass, pass.scatters);
}

/** A step's values in words, for the announcement. */
function valuesInWords(step) {
  if (step.kind !== "stage" || step.stage.role === "keys") return `Keys: ${listOf(step.order)}.`;
  const values = step.stage.values;
  if (step.stage.role === "states") return "";
  return `Values: ${values.slice(0, 64).join(", ")}${values.length > 64 ? ", and more" : ""}.`;
}
