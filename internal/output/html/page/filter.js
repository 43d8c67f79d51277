
// ages are the choices of the filter by age. The age of a finding is that of the last write to its value.
const hour = 3600 * 1000;
const ages = {
  __proto__: null,
  hour: { word: "in the last hour", has: (age) => age !== null && age <= hour },
  day: { word: "in the last 24 hours", has: (age) => age !== null && age <= 24 * hour },
  week: { word: "in the last 7 days", has: (age) => age !== null && age <= 7 * 24 * hour },
  older: { word: "more than 7 days ago", has: (age) => age !== null && age > 7 * 24 * hour },
  unknown: { word: "not known", has: (age) => age === null },
};

// textOf returns what the search looks through for a finding. It is made at the first search and kept.
function textOf(finding) {
  if (finding.text === undefined) {
    const said = [finding.path];
    for (const side of [finding.old, finding.desired, finding.live]) {
      if (side !== undefined && side !== true) said.push(typeof side === "string" ? side : side.lines || side.tree);
    }
    for (const i of finding.owners) said.push(report.owners[i].manager);
    for (const i of [...(finding.remarks || []), ...(finding.inside || [])]) said.push(report.remarks[i]);
    finding.text = said.join("\n").toLowerCase();
  }
  return finding.text;
}

// nameOf returns what the search looks through for an object.
function nameOf(object) {
  if (object.text === undefined) {
    const remarks = (object.remarks || []).map((i) => report.remarks[i]);
    const effect = object.effect ? [object.effect.text] : [];
    object.text = [object.kind + " " + object.name, object.fate, object.source || "", ...effect, ...remarks].join("\n").toLowerCase();
  }
  return object.text;
}

// prepareSearch makes the texts of the search, a part at a time, so that the first search does not have to.
async function prepareSearch() {
  for (let i = 0; i < report.objects.length; i++) {
    nameOf(report.objects[i]);
    report.objects[i].findings.forEach(textOf);
    if (i % 100 === 0) await pause();
  }
}

// testOf returns a function that reports whether the filters take a finding. The words of a search may be in the finding or in the names
// of its object and release.
function testOf(filters) {
  const tests = [];
  const wanted = filters.verdict ? new Set(filters.verdict.split(",")) : null;
  if (!filters.ignored) tests.push((f) => !f.silenced);
  if (wanted) tests.push((f) => wanted.has(f.verdict));
  if (filters.drifted) tests.push((f) => f.drifted);
  if (filters.unmanaged) tests.push((f) => f.unmanaged);
  if (filters.cause) tests.push((f) => f.cause === filters.cause);
  if (filters.owner) tests.push((f) => f.owners.some((i) => report.owners[i].manager === filters.owner));
  const age = ages[filters.age];
  if (age) tests.push((f) => f !== f.object.self && age.has(f.written === null ? null : reportTime - f.written));
  for (const word of (filters.q || "").toLowerCase().split(/\s+/).filter(Boolean)) {
    tests.push((f) => textOf(f).includes(word) || nameOf(f.object).includes(word) || f.object.parent.name.toLowerCase().includes(word));
  }
  return (finding) => tests.every((test) => test(finding));
}

// select returns the releases, objects and findings that the filters take. Without filters also those are there of which nothing is
// listed.
function select(filters) {
  const takes = testOf(filters);
  const isOpen = !["q", "kind", "verdict", "cause", "owner", "age", "drifted", "unmanaged"].some((name) => filters[name]);
  const found = { rows: [], objects: 0, findings: 0, byObject: new Map() };
  for (const release of report.releases) {
    if (filters.release && release.slug !== filters.release) continue;
    const objects = [];
    for (const object of release.objects) {
      if (filters.kind && object.kind !== filters.kind) continue;
      const taken = object.findings.filter(takes);
      const says = isOpen && object.findings.length === 0;
      if (taken.length === 0 && !says) continue;
      objects.push({ object });
      found.findings += taken.length;
      found.byObject.set(object, taken);
    }
    if (objects.length === 0 && !isOpen) continue;
    found.rows.push({ release }, ...objects);
    found.objects += objects.length;
  }
  return found;
}

// choices fills a select element with a first choice that takes all, and the others.
function choices(id, first, options) {
  const element = byId(id);
  element.replaceChildren(make("option", { value: "" }, first), ...options.map(([value, word]) => make("option", { value }, word)));
  element.disabled = options.length === 0;
}

// countBy counts values, the most frequent first.
function countBy(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// prepareFilters fills the filters with what the report has.
function prepareFilters() {
  const findings = report.objects.flatMap((object) => object.findings);
  const shown = findings.filter((f) => !f.silenced);
  choices("release", "all releases", report.releases.map((r) => [r.slug, r.name]));
  choices("kind", "all kinds", countBy(report.objects.map((o) => o.kind)).map(([kind, n]) => [kind, kind + " (" + n + ")"]));
  choices("cause", "all causes", countBy(findings.map((f) => f.cause).filter(Boolean)).map(([cause]) => [cause, causes[cause] || cause]));
  const managers = findings.flatMap((f) => [...new Set(f.owners.map((i) => report.owners[i].manager))]);
  choices("owner", "all owners", countBy(managers).map(([name, n]) => [name, name + " (" + n + ")"]));
  choices("age", "any age", Object.entries(ages).map(([name, age]) => [name, age.word]));
  const counts = new Map(countBy(shown.map((f) => f.verdict)));
  const names = [...new Set([...Object.keys(verdicts).filter((name) => counts.has(name)), ...counts.keys()])];
  byId("verdicts").replaceChildren(...names.map((name) => {
    const { sign, word, tone, says } = verdictOf(name);
    const toggle = () => changeFilter("verdict", toggled(state.filters.verdict, name));
    return make("button", { type: "button", class: tone, "data-verdict": name, "aria-pressed": "false", title: says, onclick: toggle },
      sign + " " + word + " " + counts.get(name));
  }));
  const silenced = findings.length - shown.length;
  byId("silencedLabel").hidden = silenced === 0;
  byId("silencedLabel").lastElementChild.textContent = "show " + silenced + " ignored";
}

// prepareTiles makes the tiles that a filter selects into buttons, and opens the filters where there is room for them.
function prepareTiles() {
  for (const tile of byId("tiles").querySelectorAll("[data-filter]")) {
    const [name, value] = tile.dataset.filter.split("=");
    const toggle = () => changeFilter(name, toggled(state.filters[name], value));
    tile.replaceChildren(make("button", { type: "button", "aria-pressed": "false", onclick: toggle }, ...tile.childNodes));
  }
  const wide = matchMedia("(min-width: 900px)");
  const unfold = () => { byId("filterBox").open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();
}

// toggled returns a list of words with a word in it or without it.
function toggled(list, word) {
  const words = new Set((list || "").split(",").filter(Boolean));
  if (!words.delete(word)) words.add(word);
  return [...words].join(",");
}

// showFilters sets the controls to the filters.
function showFilters() {
  const { filters } = state;
  for (const name of ["release", "kind", "cause", "owner", "age"]) byId(name).value = filters[name] || "";
  if (byId("q").value !== (filters.q || "")) byId("q").value = filters.q || "";
  byId("drifted").checked = Boolean(filters.drifted);
  byId("unmanaged").checked = Boolean(filters.unmanaged);
  byId("silenced").checked = Boolean(filters.ignored);
  const chosen = new Set((filters.verdict || "").split(","));
  for (const chip of byId("verdicts").children) chip.setAttribute("aria-pressed", String(chosen.has(chip.dataset.verdict)));
  for (const tile of byId("tiles").querySelectorAll("button")) {
    const [name, value] = tile.parentElement.dataset.filter.split("=");
    tile.setAttribute("aria-pressed", String((filters[name] || "").split(",").includes(value)));
  }
  byId("reset").hidden = Object.keys(filters).length === 0;
  byId("count").textContent = plural(state.found.findings, "finding") + " in " + plural(state.found.objects, "object");
}

// changeFilter sets a filter and shows what it takes.
function changeFilter(name, value) {
  const filters = { ...state.filters };
  if (value) filters[name] = value;
  else delete filters[name];
  applyFilters(filters);
}
