// Steps through the page as a person does, by keys, buttons and links, and leaves what it saw in
// the document: the page's end state, and everything that went wrong.
//
// It stands before the page's own script, so that it hears all of its complaints.
"use strict";

const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(`console.${level}: ${words.join(" ")}`);
}
addEventListener("error", (event) => complaints.push(`error: ${event.message}`));
addEventListener("unhandledrejection", (event) => complaints.push(`rejection: ${event.reason}`));

addEventListener("load", () => {
  const root = document.documentElement;
  const expect = (what, found, wanted) => {
    if (String(found) !== String(wanted)) {
      complaints.push(`${what}: found ${found}, not ${wanted}`);
    }
  };
  const press = (key) =>
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const click = (id) => document.getElementById(id).click();
  const step = () => Number(root.dataset.step);
  const steps = Number(root.dataset.steps);

  // By the arrow keys from the first step to the last: each is shown, and nothing is too wide.
  expect("first step", step(), 0);
  const announced = new Set();
  for (let number = 1; number < steps; number += 1) {
    press("ArrowRight");
    expect("after an arrow to the right", step(), number);
    announced.add(document.querySelector("[aria-live]").textContent);
    if (root.scrollWidth > root.clientWidth) {
      complaints.push(`step ${number} is ${root.scrollWidth - root.clientWidth} pixels too wide`);
    }
  }
  expect("steps announced in different words", announced.size, steps - 1);
  press("ArrowRight");
  expect("past the end", step(), steps - 1);

  // The end state: the keys by the places where they are.
  const cards = [...document.querySelectorAll("[data-key][data-place]")];
  cards.sort((a, b) => a.dataset.place - b.dataset.place);
  const output = cards.map((card) => Number(card.dataset.key));

  press("ArrowLeft");
  expect("after an arrow to the left", step(), steps - 2);
  press("Home");
  expect("after Home", step(), 0);
  press("End");
  expect("after End", step(), steps - 1);
  click("first");
  expect("after the first button", step(), 0);
  click("next");
  expect("after the next button", step(), Math.min(1, steps - 1));
  click("previous");
  expect("after the previous button", step(), 0);
  click("last");
  expect("after the last button", step(), steps - 1);
  press("PageUp");
  if (steps > 3 && step() === steps - 1) {
    complaints.push("PageUp did not leave the last pass");
  }
  for (const button of document.querySelectorAll("button, a[href]")) {
    if (!(button.textContent.trim() || button.getAttribute("aria-label"))) {
      complaints.push(`${button.outerHTML} has no name`);
    }
  }
  location.hash = "#1";
  setTimeout(() => {
    expect("after a link to step 1", step(), Math.min(1, steps - 1));
    const outcome = document.createElement("pre");
    outcome.id = "outcome";
    outcome.textContent = JSON.stringify({ steps, output, complaints });
    document.body.append(outcome);
  }, 50);
});
