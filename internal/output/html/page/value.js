
const foldFrom = 9;
const foldKeep = 3;

// textLines returns the lines of a side.
const textLines = (side) => (typeof side === "string" ? [side] : (side.lines ?? side.tree).split("\n"));

// isInWord reports whether a cut at i would stand within a word.
const isInWord = (text, i) => i > 0 && i < text.length && /\w/.test(text[i - 1]) && /\w/.test(text[i]);

// changedPart returns the parts of a text before, in and after the place at which it differs from another. Words stay whole.
function changedPart(other, text) {
  let start = 0;
  while (start < other.length && start < text.length && other[start] === text[start]) start++;
  while (isInWord(text, start) || isInWord(other, start)) start--;
  let end = 0;
  const most = Math.min(other.length, text.length) - start;
  while (end < most && other[other.length - 1 - end] === text[text.length - 1 - end]) end++;
  while (end > 0 && (isInWord(text, text.length - end) || isInWord(other, other.length - end))) end--;
  return [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)];
}

// marked returns a side with a mark on what differs from another side. Of several lines, the ranges are those that differ: pairs of a first
// line and the line after the last.
function marked(side, other, mark, ranges) {
  if (other === undefined) return textLines(side).map((line) => make("span", { class: "part" }, make("mark", { class: mark }, line)));
  const own = textLines(side);
  const others = textLines(other);
  if (own.length === 1 && others.length === 1) {
    const [before, part, after] = changedPart(others[0], own[0]);
    return [make("span", { class: "part" }, before, part ? make("mark", { class: mark }, part) : null, after)];
  }
  const marks = new Set();
  for (let i = 0; i < ranges.length; i += 2) {
    for (let line = ranges[i]; line < ranges[i + 1]; line++) marks.add(line);
  }
  return folded(own.map((line, i) => ({ isMarked: marks.has(i), element: lineOf(line, marks.has(i) ? mark : "") })));
}

// lineOf returns a line of a value.
const lineOf = (line, mark) => make("span", { class: "part" }, mark ? make("mark", { class: mark }, line || " ") : line);

// folded puts long runs of equal lines behind a button.
function folded(lines) {
  const out = [];
  for (let i = 0; i < lines.length;) {
    let end = i;
    while (end < lines.length && lines[end].isMarked === lines[i].isMarked) end++;
    const run = lines.slice(i, end).map((line) => line.element);
    if (lines[i].isMarked || run.length < foldFrom) out.push(...run);
    else {
      const inner = run.slice(i === 0 ? 0 : foldKeep, end === lines.length ? run.length : -foldKeep);
      const unfold = () => button.replaceWith(...inner);
      const button = make("button", { type: "button", class: "fold", onclick: unfold }, "… " + inner.length + " equal lines");
      const kept = inner.length < foldKeep ? inner : [button];
      out.push(...run.slice(0, i === 0 ? 0 : foldKeep), ...kept, ...(end === lines.length ? [] : run.slice(-foldKeep)));
    }
    i = end;
  }
  return out;
}

// word returns a remark that stands in place of a value.
const word = (text) => make("span", { class: "word" }, text);

// sideOf returns one column: a title, and a value or what stands in place of it.
function sideOf(title, content) {
  return make("div", { class: "side" }, make("h4", null, title), make("div", { class: "value" }, content));
}

// sidesOf returns old, desired and live side by side. Old is marked where live differs, or else desired; the others where they differ
// from old.
function sidesOf(finding) {
  if (finding.masked) {
    return make("div", { class: "sides" }, ["old", "desired", "live"].map((title) => sideOf(title, word("••• hidden: secret"))));
  }
  const { old, live, marked: ranges = {} } = finding;
  const desired = finding.desired === true ? old : finding.desired;
  const value = (side, other, mark, lines) => (side === undefined ? word("absent") : marked(side, other, mark, lines || []));
  const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const same = (side, mark, lines) => (old !== undefined && isSame(side, old) ? [word("as old: "), plainOf(side)] : value(side, old, mark, lines));
  const contrast = isSame(old, live) ? desired : live;
  return make("div", { class: "sides" },
    sideOf("old (deployed by Helm)", value(old, contrast, "was", ranges.old)), sideOf("desired", same(desired, "will", ranges.desired)),
    sideOf("live", same(live, "is", ranges.live)));
}

// plainOf returns a side without marks; a long one is cut, since it stands in full beside.
function plainOf(side) {
  const all = textLines(side);
  return make("span", { class: "faint" }, all.length > 3 ? plural(all.length, "line") : all.join("\n"));
}

// maxShort is how many characters of a value stand in a row.
const maxShort = 120;

// oneLineOf returns a text of one line, or a list or map, in one line.
const oneLineOf = (side) => (side.tree === undefined ? side : side.tree.replace(/\n\s*/g, " "));

// shortOf returns a side in a few words.
function shortOf(side) {
  if (side === undefined) return word("absent");
  if (side.lines !== undefined) return word(plural(side.lines.replace(/\n$/, "").split("\n").length, "line"));
  const text = oneLineOf(side);
  return text.length > maxShort ? text.slice(0, maxShort - 1) + "…" : text;
}

// pairOf returns two sides as one changes into the other, with marks on the words that differ.
function pairOf(from, to, marks) {
  const [a, b] = [shortOf(from), shortOf(to)];
  const part = (other, own, mark) => {
    if (typeof own !== "string") return [own];
    const [before, middle, after] = changedPart(typeof other === "string" ? other : "", own);
    return [before, middle ? make("mark", { class: mark }, middle) : null, after];
  };
  return [...part(b, a, marks[0]), " → ", ...part(a, b, marks[1])];
}

// changeOf returns in a line what changed: live if nothing else did, or what the operation makes of it.
function changeOf(finding) {
  if (finding.masked) return [word("••• hidden: secret")];
  const { old, live } = finding;
  if (finding.desired === true) return pairOf(old, live, ["was", "is"]);
  if (finding.cause === "change") return pairOf(old, finding.desired, ["was", "will"]);
  if (old === undefined && finding.desired === undefined) return pairOf(old, live, ["was", "is"]);
  return [...pairOf(old, live, ["was", "is"]), word(", becomes "), shortOf(finding.desired)];
}
