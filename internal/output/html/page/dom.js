
"use strict";

// byId returns an element of the page.
const byId = (id) => document.getElementById(id);

// make returns a new element. Texts among the children become text nodes, and what is null is left out. It is the only function that makes
// elements; it never parses HTML.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== "") element.append(child);
  }
  return element;
}

// linesOf returns the lines of a text as elements.
const linesOf = (text) => text.split("\n").map((line) => make("span", { class: "line" }, line));

// plural counts things.
const plural = (n, thing) => n.toLocaleString("en") + " " + thing + (n === 1 ? "" : "s");

// pause lets the browser paint and answer to a person before the work goes on.
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));
