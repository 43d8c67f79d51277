
// maxPrinted is how many findings are printed. The paper says how many are not.
const maxPrinted = 2000;

// fillPaper writes what the filters take, in full, for printing.
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
    paper.append(...(row.object ? objectHead(row.object, "h3") : releaseHead(row.release, "h2")).filter(Boolean));
    if (!row.object) continue;
    const fields = found.byObject.get(row.object).filter((f) => f !== row.object.self).slice(0, left);
    left -= Math.max(1, fields.length);
    paper.append(...fields.map((f) => findingElement(f, false)));
  }
  if (left <= 0) {
    paper.append(make("p", { class: "box bad" }, "This is not all: only the first findings are printed. Filters make the print shorter."));
  }
  for (const button of paper.querySelectorAll("button.fold")) button.click();
}

addEventListener("beforeprint", fillPaper);
addEventListener("afterprint", () => byId("paper").replaceChildren());
