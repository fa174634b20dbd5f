// From step to step: buttons, keyboard, address, and the animation between two steps. steps.js, first
// of the three, says how the data becomes the picture.

const $ = (id) => document.getElementById(id);
const cards = data.keys.map((_, key) => card(key));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const state = { step: 0, playing: null, address: null, pinned: null, pitch: 0 };

/** The height of the bar of buttons, and the widest that a column is drawn. */
const CONTROLS = 61;
const WIDEST = 74;

// ---- Showing a step ----

function go(number, { announce = true } = {}) {
  const target = Math.max(0, Math.min(steps.length - 1, Math.trunc(number) || 0));
  const before = placesOnScreen();
  const focused = document.activeElement?.dataset.index;
  state.step = target;
  const step = steps[target];
  show(step);
  if (focused !== undefined) focusIndex(Number(focused));
  animate(before, step);
  follow(state.pinned);
  if (announce) $("announcement").textContent = announcement(step);
  clearTimeout(state.address);
  state.address = setTimeout(writeAddress, 100);
}

/** Only once the steps have come to rest: browsers refuse addresses that change too fast. */
function writeAddress() {
  if (location.hash !== `#${state.step}`) history.replaceState(null, "", `#${state.step}`);
}

function show(step) {
  const index = state.step;
  setMarks(step);
  dressCards(step);
  $("place-in-run").textContent = passTitle(step);
  $("name").replaceChildren(nameElement(step.name));
  $("what").textContent = step.what;
  $("lanes").replaceChildren(...lanes(step, cards, state.pitch));
  $("caption").textContent = caption(step);
  $("tables").replaceChildren(...tables(step));
  // What is new stands next to the keys.
  if (step.kind === "stage" && isTable(step.stage)) $("detail").before($("tables"));
  else $("tables").before($("detail"));
  $("detail").replaceChildren(...detail(step));
  $("within").replaceChildren(...within(step));
  $("count").textContent = `${index} / ${steps.length - 1}`;
  $("progress").style.width = `${(100 * index) / (steps.length - 1)}%`;
  $("first").disabled = $("previous").disabled = index === 0;
  $("last").disabled = $("next").disabled = index === steps.length - 1;
  markContents(step);
}

/** What a test reads. */
function setMarks(step) {
  const marks = document.documentElement.dataset;
  marks.step = state.step;
  marks.steps = steps.length;
  marks.pass = step.passIndex ?? "";
  marks.stage = step.kind === "stage" ? step.name : step.kind;
}

function dressCards(step) {
  step.order.forEach((key, place) => {
    cards[key].dataset.place = place;
    dress(cards[key], key, step.pass);
  });
  markDisorder(step);
}

/** At the end of a sort that failed, the keys that are greater than the next, and those next. */
function markDisorder(step) {
  step.order.forEach((key, i) => {
    const falls = (at) =>
      step.kind === "sorted" && comparedBits(step.order[at]) > comparedBits(step.order[at + 1]);
    const wrong = (i + 1 < n && falls(i)) || (i > 0 && falls(i - 1));
    cards[key].classList.toggle("wrong", wrong);
  });
}

/** Figures that a stage has of its own, and the words for those that are pictures. */
function detail({ kind, stage, pass, stageIndex }) {
  if (kind !== "stage" || n === 0) return [];
  const parts = [];
  if (stage.scan) {
    if (!isRow(stage) || !treeFits(stage.scan)) parts.push(treeAlone(stage));
    parts.push(treeInWords(stage.scan));
  }
  if (stage.network) parts.push(networkInWords(stage, arrayBefore(pass, stageIndex)));
  if (stage.look_back) parts.push(lookBack(stage.look_back));
  if (stage.tiles) parts.push(tilesFigure(stage, arrayBefore(pass, stageIndex)));
  return parts;
}

/** Buttons through the figure of a stage that has steps of its own. */
function within({ kind, stage, pass }) {
  if (kind !== "stage" || n === 0) return [];
  if (stage.scan && leavesOf(stage.scan) <= MOST_LEAVES) return [levelStepper(stage.scan)];
  return stage.look_back ? [turnStepper(stage.look_back, pass)] : [];
}

function announcement(step) {
  return `Step ${state.step} of ${steps.length - 1}. ${passTitle(step)}. ${step.name}: ${step.what}. ${caption(step)} ${valuesInWords(step)}`;
}

// ---- Steps within a stage ----

/** Small buttons through the parts of a figure; `pick(null)` shows the whole. */
function stepper(word, count, pick) {
  let at = null;
  const says = el("span", { role: "status" });
  const back = el(
    "button",
    { type: "button", class: "quiet", "aria-label": `Previous ${word}` },
    "‹",
  );
  const on = el("button", { type: "button", class: "quiet", "aria-label": `Next ${word}` }, "›");
  const whole = el("button", { type: "button", class: "quiet" }, "whole");
  const move = (to) => {
    at = to;
    back.disabled = at === null || at === 0;
    on.disabled = at === count - 1;
    whole.disabled = at === null;
    says.textContent = pick(at);
  };
  back.addEventListener("click", () => move(at - 1));
  on.addEventListener("click", () => move(at === null ? 0 : at + 1));
  whole.addEventListener("click", () => move(null));
  move(null);
  return el("div", { class: "stepper" }, back, on, whole, says);
}

function levelStepper(scan) {
  const levels = levelsOf(scan);
  return stepper("level", levels.length, (at) => {
    for (const part of $("figure").querySelectorAll(".level")) {
      const behind = at - levels.findIndex(({ name }) => name === part.dataset.level);
      part.classList.toggle("off", at !== null && behind !== 0 && behind !== 1);
      part.classList.toggle("past", at !== null && behind === 1);
    }
    return at === null
      ? `The scan as a tree, ${plural(levels.length, "level")} from top to bottom.`
      : `${at + 1} of ${levels.length}: ${levels[at].says}`;
  });
}

function turnStepper({ events }, pass) {
  const legend =
    "P: own counts published. I: inclusive sum published. An arrow reads; a dashed one finds nothing yet. Time runs down.";
  return stepper("turn", events.length, (at) => {
    for (const part of document.querySelectorAll("[data-turn]"))
      part.classList.toggle("on", Number(part.dataset.turn) === at);
    const now = document.querySelector(".turns li.on");
    if (now) keepInSight(now, document.querySelector(".look-back"));
    return at === null
      ? legend
      : `Turn ${at + 1} of ${events.length}: ${eventInWords(events[at])}${numbersOfEvent(events[at], pass)}.`;
  });
}

// ---- Moving cards ----

function placesOnScreen() {
  return cards.map((element) => (element.isConnected ? element.getBoundingClientRect() : null));
}

/** Each card goes from where it was seen to where it stands now. */
function animate(before, step) {
  scrollToNow();
  if (calm.matches || document.hidden) return;
  step.order.forEach((key, place) => {
    const element = cards[key];
    for (const running of element.getAnimations()) running.cancel();
    if (!before[key]) return;
    const after = element.getBoundingClientRect();
    const [x, y] = [before[key].left - after.left, before[key].top - after.top];
    if (Math.abs(x) + Math.abs(y) < 1) return;
    const delay = Math.min(place * 12, 240);
    element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], {
      duration: 600,
      delay,
      easing: "cubic-bezier(.5, 0, .2, 1)",
      fill: "backwards",
    });
  });
}

/** Scrolls so far that what is new stands above the words. */
function scrollToNow() {
  const now = document.querySelector(".look-back, .row.now, .table.now")?.getBoundingClientRect();
  if (!now) return;
  const room = innerHeight - $("words").offsetHeight - CONTROLS;
  const below = now.bottom + 12 - room;
  if (below > 0) window.scrollBy(0, Math.min(below, now.top - 12));
  else if (now.top < 12) window.scrollBy(0, now.top - 12);
}

// ---- Following a key ----

/** Lights all that belongs to the given keys, and tells their story. */
function follow(keys, says = null) {
  for (const element of document.querySelectorAll(".lit")) element.classList.remove("lit");
  for (const key of keys ?? []) {
    for (const element of document.querySelectorAll(`#figure [data-of~="${key}"]`))
      element.classList.add("lit");
  }
  $("figure").classList.toggle("following", (keys ?? []).length > 0);
  $("readout").textContent =
    says ?? (keys?.length === 1 ? storyOf(steps[state.step], keys[0]) : "");
}

const keysAt = (element) => {
  const of = element?.closest?.("[data-of]")?.dataset.of;
  return of ? of.split(" ").map(Number) : null;
};

function followFigure() {
  const figure = $("figure");
  const pointed = (event) => {
    const keys = keysAt(event.target);
    follow(keys ?? state.pinned, keys && event.target.closest("[data-of]").dataset.says);
  };
  figure.addEventListener("pointerover", pointed);
  figure.addEventListener("focusin", pointed);
  figure.addEventListener("pointerleave", () => follow(state.pinned));
  figure.addEventListener("focusout", () => follow(state.pinned));
  figure.addEventListener("pointerdown", (event) => {
    // A click pins; it leaves the arrow keys to the steps.
    if (event.target.closest("#lanes button")) event.preventDefault();
  });
  figure.addEventListener("click", (event) => {
    if (event.target.closest("button:not([data-index]), summary")) return;
    const keys = keysAt(event.target);
    state.pinned = keys?.length === 1 && keys[0] !== state.pinned?.[0] ? keys : null;
    follow(state.pinned ?? keys);
  });
}

function focusIndex(i) {
  const buttons = [...document.querySelectorAll("[data-index]")];
  const target = buttons[Math.max(0, Math.min(buttons.length - 1, i))];
  for (const button of buttons) button.tabIndex = button === target ? 0 : -1;
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// ---- Contents ----

function buildContents() {
  const button = (number, label) => el("button", { type: "button", "data-go": number }, label);
  const groups = [el("li", {}, button(0, "the keys"))];
  data.passes.forEach((pass, p) => {
    const list = el("ol", {});
    steps.forEach((step, number) => {
      if (step.passIndex === p) list.append(el("li", {}, button(number, nameElement(step.name))));
    });
    groups.push(el("li", { "data-pass": p }, el("span", {}, pass.title), list));
  });
  groups.push(el("li", {}, button(steps.length - 1, steps.at(-1).name)));
  $("passes").append(...groups);
  $("passes").addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-go]");
    if (chosen) halt(() => go(Number(chosen.dataset.go)));
  });
}

function markContents(step) {
  for (const item of $("passes").querySelectorAll("[data-pass]"))
    item.classList.toggle("now", Number(item.dataset.pass) === step.passIndex);
  $("passes").querySelector("[aria-current]")?.removeAttribute("aria-current");
  const current = $("passes").querySelector(`[data-go="${state.step}"]`);
  current.setAttribute("aria-current", "step");
  if ($("contents").open) keepInSight(current, $("passes"));
}

/** Scrolls a list alone, not the page around it. */
function keepInSight(item, list) {
  const [inner, outer] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top + 40;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom + 40;
}

// ---- Controls ----

function previousPass() {
  const starts = passStarts().filter((start) => start < state.step);
  go(starts.at(-1) ?? 0);
}

function nextPass() {
  go(passStarts().find((start) => start > state.step) ?? steps.length - 1);
}

const passStarts = () =>
  steps.flatMap((step, i) => (step.passIndex !== steps[i - 1]?.passIndex ? [i] : []));

function setPlaying(playing) {
  clearInterval(state.playing);
  state.playing = playing ? setInterval(playOn, 1700) : null;
  $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  $("play").classList.toggle("playing", playing);
}

function play() {
  setPlaying(state.playing === null);
  if (state.playing === null) return;
  if (state.step === steps.length - 1) go(0);
  else playOn();
}

/** Says nothing aloud but at the end: a voice would not keep up. */
function playOn() {
  const last = state.step + 1 >= steps.length - 1;
  if (last) setPlaying(false);
  go(state.step + 1, { announce: last });
}

/** Whoever moves by hand stops the play. */
function halt(move) {
  setPlaying(false);
  move();
}

const moves = {
  first: () => go(0),
  previous: () => go(state.step - 1),
  next: () => go(state.step + 1),
  last: () => go(steps.length - 1),
};

const keyboard = {
  ArrowLeft: moves.previous,
  ArrowRight: moves.next,
  Home: moves.first,
  End: moves.last,
  PageUp: previousPass,
  PageDown: nextPass,
};

function listen() {
  for (const [id, move] of Object.entries(moves)) $(id).addEventListener("click", () => halt(move));
  $("play").addEventListener("click", play);
  $("theme").addEventListener("click", () => chooseTheme($("theme").dataset.other));
  document.querySelector("[data-jump]").addEventListener("click", (event) => {
    event.preventDefault();
    $("figure").focus();
  });
  document.addEventListener("keydown", pressed);
  window.addEventListener("resize", () => {
    if (fitColumns()) go(state.step, { announce: false });
  });
  window.addEventListener("hashchange", () => halt(() => go(stepInAddress())));
}

function pressed(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.key === "Escape") {
    state.pinned = null;
    follow(null);
  } else if (event.target.dataset.index !== undefined && event.key.startsWith("Arrow")) {
    moveAmongIndices(event);
  } else if (event.key === " " && !event.target.closest("button, summary")) {
    event.preventDefault();
    play();
  } else if (keyboard[event.key] && !scrollsItself(event)) {
    event.preventDefault();
    halt(keyboard[event.key]);
  }
}

function moveAmongIndices(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  focusIndex(Number(event.target.dataset.index) + by);
}

/** A wide figure that has the keyboard's focus is scrolled by the arrows. */
function scrollsItself({ target, key }) {
  return (
    key.startsWith("Arrow") &&
    target.matches(".scroller:focus-visible") &&
    target.scrollWidth > target.clientWidth
  );
}

function stepInAddress() {
  const number = Number(location.hash.slice(1));
  return Number.isInteger(number) ? number : 0;
}

// ---- Light and dark ----

/** Light or dark until further notice; without a choice the system's, by the style alone. */
function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
  offerTheme(theme);
}

function offerTheme(theme) {
  const other = theme === "dark" ? "light" : "dark";
  $("theme").dataset.other = other;
  $("theme").textContent = other === "dark" ? "Dark" : "Light";
}

// ---- The beginning ----

/** The least width of a column: that of the widest card, and room around it. */
function measureCards() {
  const probe = el("div", { class: "probe" }, ...cards);
  cards.forEach((element, key) => dress(element, key, null));
  document.body.append(probe);
  const widest = Math.max(0, ...cards.map((element) => element.getBoundingClientRect().width));
  probe.remove();
  return Math.ceil(Math.max(widest, 38)) + 8;
}

/** The width of a column: as wide as there is room for, within reason. Says whether it is new. */
function fitColumns() {
  const room = $("figure").clientWidth - 130;
  const pitch = Math.max(least, Math.min(WIDEST, Math.floor(room / (n + 1))));
  const changed = pitch !== state.pitch;
  state.pitch = pitch;
  $("lanes").style.setProperty("--pitch", `${pitch}px`);
  return changed;
}

const least = measureCards();
$("title").textContent = data.algorithm;
$("idea").textContent = data.idea;
$("setting").textContent = setting();
$("contents").open = matchMedia("(min-width: 1000px)").matches;
offerTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
buildContents();
followFigure();
listen();
fitColumns();
go(stepInAddress(), { announce: false });
window.sweepsort = {
  go: (step) => halt(() => go(step)),
  steps: steps.length,
  get step() {
    return state.step;
  },
};
