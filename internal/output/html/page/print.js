
// maxPrinted is how many findings are printed. The paper says how many are not.
const maxPrinted = 2000;

// fillPaper writes what the filters take for printing.
function fillPaper() {
  const paper = byId("paper");
  const { filters, found } = state;
  const said = filterNames.filter((name) => filters[name]).map((name) => name + " = " + (name === "release"
    ? (report.releases.find((r) => r.slug === filters.release) || { name: filters.release }).name : filters[name]));
  paper.replaceChildren(make("p", { class: "faint" }, (said.length > 0 ? "Filtered: " + said.join(", ") + ". " : "")
    + plural(found.findings, "finding") + " in " + plural(found.objects, "object") + "."));
  let left = maxPrinted;
  for (const row of found.rows) {
    if (left <= 0) break;
    const head = row.object ? objectHead(row.object, "h3") : [...releaseHead(row.release, "h2"), fixOf(row.release), notComparedOf(row.release)];
    paper.append(...head.filter(Boolean));
    if (!row.object) continue;
    const fields = found.byObject.get(row.object).filter((f) => f !== row.object.self).slice(0, left);
    left -= Math.max(1, fields.length);
    paper.append(...fields.map(printedFinding));
  }
  if (left <= 0) {
    paper.append(make("p", { class: "box bad" }, "This is not all: only the first findings are printed. Filters make the print shorter."));
  }
  for (const fold of paper.querySelectorAll("button.fold")) fold.replaceWith(word(fold.textContent));
  for (const all of document.querySelectorAll(".top details:not([open])")) {
    all.open = true;
    all.dataset.printed = "";
  }
}

// printedFinding returns a finding for the paper: a short one in a row, and one of several lines with its sides. Equal lines are counted.
function printedFinding(finding) {
  const isLong = (side) => side !== undefined && side !== true && (side.lines !== undefined || oneLineOf(side).length > maxShort);
  if (finding.masked || ![finding.old, finding.desired, finding.live].some(isLong)) {
    const row = fieldRow(finding);
    row.classList.add("finding");
    row.append(...[insideOf(finding), remarksOf(finding.remarks)].filter(Boolean));
    return row;
  }
  const { sign, word: said, tone } = verdictOf(finding.verdict);
  const sides = sidesOf(finding);
  if (finding.desired === true || (finding.old === undefined && finding.desired === undefined)) sides.children[1].remove();
  return make("section", { class: "finding" },
    make("span", { class: "head" }, badge(tone, sign + " " + said), make("span", { class: "path" }, finding.path),
      make("span", { class: "by" }, byOf(finding))), sides, insideOf(finding), remarksOf(finding.remarks));
}

// clearPaper leaves the page as it was before the print.
function clearPaper() {
  byId("paper").replaceChildren();
  for (const all of document.querySelectorAll("[data-printed]")) {
    all.open = false;
    delete all.dataset.printed;
  }
}

addEventListener("beforeprint", fillPaper);
addEventListener("afterprint", clearPaper);
