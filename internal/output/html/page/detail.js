
const pageOfFields = 100;

// showDetail shows what is open: an object, a release, or the overview.
function showDetail() {
  const { place } = state;
  const detail = byId("detail");
  const content = place.object ? objectDetail(place.object) : place.release ? releaseDetail(place.release) : overview();
  detail.replaceChildren(...content.filter(Boolean));
  detail.scrollTop = 0;
  byId("panes").classList.toggle("open", Boolean(place.release));
  byId("panes").classList.toggle("home", !place.release);
  const target = place.finding && detail.querySelector(".finding.target");
  if (target) target.scrollIntoView({ block: "center" });
}

// crumbs returns the line above what is open: where it belongs, and what can be done with it.
function crumbs(place) {
  const home = report.releases.length === 1 ? [] : [make("a", { href: fragmentOf({}, state.filters) }, "All releases")];
  const path = place.object
    ? [...home, home.length > 0 ? " › " : null, make("a", { href: fragmentOf({ release: place.release }, state.filters) }, place.release.name)] : home;
  const copy = make("button", { type: "button", id: "copy", onclick: () => copyLink(state.place) }, "Copy link");
  return make("div", { class: "crumbs" }, make("span", null, path), copy);
}

const badge = (tone, text, title) => make("span", { class: "badge " + tone, title: title || null }, text);

// objectDetail returns an object and its findings.
function objectDetail(object) {
  const taken = new Set(state.found.byObject.get(object) || []);
  const isTarget = (f) => state.place.finding !== "" && f.id === state.place.finding;
  const fields = object.fields.filter((f) => taken.has(f) || isTarget(f));
  const hidden = object.fields.length - fields.length;
  const whole = object.whole ? verdictOf(object.whole) : null;
  return [
    crumbs(state.place), ...objectHead(object, "h2"),
    whole && make("p", null, badge(whole.tone, whole.sign + " " + whole.word, whole.says)),
    fieldsOf(fields, isTarget),
    hidden > 0 ? make("p", { class: "notes" }, "The filters leave out " + plural(hidden, "finding") + " of this object.") : null,
  ];
}

// objectHead returns the name of an object and what is said of it as a whole.
function objectHead(object, level) {
  return [
    make(level, null, object.kind + " " + object.name),
    make("p", { class: "fate" + (object.whole === "error" ? " box bad" : "") }, linesOf(object.fate)),
    object.source ? make("p", { class: "faint" }, "from ", make("code", null, object.source)) : null,
    effectOf(object.effect),
    remarksOf(object.remarks),
  ];
}

// effectOf returns what the write of an object means for pods and data.
function effectOf(effect) {
  if (!effect) return null;
  const isBad = effect.downtime || effect.lost;
  return make("div", { class: "box effect " + (isBad ? "bad" : "change") },
    make("b", null, effect.downtime ? "Effect, with downtime: " : "Effect: "), effect.text,
    (effect.lost || []).map((text) => make("span", { class: "line" }, "lost for good: " + text)),
    (effect.notes || []).map((text) => make("span", { class: "line" }, text)));
}

// fieldsOf returns findings, a page of them at once.
function fieldsOf(fields, isTarget) {
  const box = make("div", null);
  let next = 0;
  const more = make("button", { type: "button", onclick: () => add(pageOfFields) }, "");
  function add(count) {
    more.remove();
    box.append(...fields.slice(next, next + count).map((f) => findingElement(f, isTarget(f), "h3")));
    next += count;
    if (next < fields.length) {
      more.textContent = "Show more (" + (fields.length - next) + ")";
      box.append(more);
    }
  }
  add(Math.max(pageOfFields, fields.findIndex(isTarget) + 1));
  return box;
}

// findingElement returns a finding: its verdict, its path, the three sides, the owners and remarks.
function findingElement(finding, isTarget) {
  const { sign, word: said, tone, says } = verdictOf(finding.verdict);
  const place = { release: finding.object.parent, object: finding.object, finding: finding.id };
  const classes = "finding" + (isTarget ? " target" : "") + (finding.silenced ? " silenced" : "");
  return make("section", { class: classes },
    make("div", { class: "head" },
      badge(tone, sign + " " + said, says), make("span", { class: "path" }, finding.path),
      finding.drifted ? badge("drift", "drifted") : null,
      finding.drifted && finding.cause === "drift" ? null : badge("none", causes[finding.cause] || finding.cause),
      finding.silenced ? badge("none", "ignored") : null,
      make("button", { type: "button", class: "link", title: "copy a link to this finding", onclick: () => copyLink(place) }, "link")),
    sidesOf(finding), insideOf(finding), ownersOf(finding), remarksOf(finding.remarks));
}

// insideOf returns what differs inside the documents that the sides are.
function insideOf(finding) {
  if (!finding.inside) return null;
  return make("div", { class: "inside" }, make("b", null, "inside the " + finding.format + ":"), remarksOf(finding.inside));
}

// ownersOf says who wrote the live value.
function ownersOf(finding) {
  if (finding.owners.length === 0) return null;
  return make("p", { class: "owners" }, "live value by ", finding.owners.map((index, i) => {
    const { manager, group, subresource, time } = report.owners[index];
    const written = time ? [", ", make("time", { datetime: time, title: time }, ageOf(Date.parse(time)))] : [];
    return [i > 0 ? " and " : "", make("b", null, manager), subresource ? " (" + subresource + ")" : "",
      group ? make("span", { class: "faint" }, " · " + group) : "", ...written];
  }).flat());
}

// releaseDetail returns what is said of a release, and all its fields that the filters take.
function releaseDetail(release) {
  const objects = release.objects.filter((object) => state.found.byObject.has(object));
  const n = release.objects.length - objects.length;
  const left = n > 0 ? "The filters leave out " + plural(n, "object") + "." : "";
  return [crumbs(state.place), ...releaseHead(release, "h2"), fixOf(release), paged(objects.flatMap(objectRows)),
    make("p", { class: "notes" }, release.objects.length === 0 ? "Nothing was found in it." : left), notComparedOf(release),
    ...(isOnly(release) ? legendOf(release.objects) : [])];
}

// isOnly reports whether the report is about one release. Then the page says above what is true of the release.
const isOnly = (release) => report.releases.length === 1 && report.releases[0] === release;

// notComparedOf names what was not compared.
function notComparedOf(release) {
  return release.notCompared ? make("p", { class: "notes" }, "Not compared by design: " + release.notCompared.join(", ")) : null;
}

// fixOf returns the command that puts back what drifted.
function fixOf(release) {
  if (!release.fix) return null;
  const copy = () => copyText(release.fix).then(() => toast("Command copied"));
  return make("p", { class: "fix" }, make("code", null, release.fix), make("button", { type: "button", class: "link", onclick: copy }, "Copy"),
    " puts back what drifted");
}

// objectRows returns functions that make the rows of an object: its name with its fate, and a row for each finding.
function objectRows(object) {
  const taken = state.found.byObject.get(object).filter((f) => f !== object.self);
  const whole = object.whole ? verdictOf(object.whole) : null;
  const head = () => make("div", { class: "objectHead" }, make("h3", null,
    make("a", { href: fragmentOf({ release: object.parent, object }, state.filters) }, object.kind + " " + object.name),
    whole ? [" ", badge(whole.tone, whole.sign + " " + whole.word, whole.says)] : null),
  make("p", { class: object.whole === "error" ? "box bad" : "faint" }, linesOf(object.fate)),
  object.effect ? make("p", { class: object.effect.downtime ? "drift" : "faint" }, "effect: " + object.effect.text) : null);
  return [head, ...taken.map((f) => () => fieldRow(f))];
}

// fieldRow returns a finding in one row, which opens it.
function fieldRow(finding) {
  const { sign, word: said, tone, says } = verdictOf(finding.verdict);
  const place = { release: finding.object.parent, object: finding.object, finding: finding.id };
  return make("a", { class: "field" + (finding.silenced ? " silenced" : ""), href: fragmentOf(place, state.filters) },
    make("span", { class: "head" }, badge(tone, sign + " " + said, says), make("span", { class: "path" }, finding.path)),
    make("span", { class: "became" }, changeOf(finding)), make("span", { class: "by" }, byOf(finding)));
}

// byOf says in a line who wrote the live value, and what else is special about a finding.
function byOf(finding) {
  const said = finding.owners.map((i) => {
    const { manager, subresource, at } = report.owners[i];
    return manager + (subresource ? " (" + subresource + ")" : "") + (Number.isNaN(at) ? "" : ", " + ageOf(at));
  });
  if (finding.unmanaged) said.push("unmanaged");
  if (finding.silenced) said.push("ignored");
  return said.join(" · ");
}

// paged returns elements, a page of them at once. They are made when they are shown.
function paged(makers) {
  const box = make("div", { class: "fields" });
  let next = 0;
  const more = make("button", { type: "button", onclick: () => add() }, "");
  function add() {
    more.remove();
    box.append(...makers.slice(next, next + pageOfFields).map((makeOne) => makeOne()));
    next += pageOfFields;
    if (next < makers.length) {
      more.textContent = "Show more (" + (makers.length - next) + ")";
      box.append(more);
    }
  }
  add();
  return box;
}

// releaseHead returns the name of a release and what is said of it as a whole. Errors come first.
function releaseHead(release, level) {
  const box = (title, tone, text) => make("div", { class: "box " + tone }, make("b", null, title), linesOf(text));
  const texts = (title, tone, all) => (all || []).map((text) => box(title, tone, text));
  const goesDown = release.down && release.down.length > 0;
  return [
    make(level, null, release.name + " ", badge(stateTones[release.state] || "change", release.state)),
    isOnly(release) ? null : make("p", { class: "fate" }, release.answer),
    !isOnly(release) && release.found && release.found !== release.answer ? make("p", null, "Found: " + release.found) : null,
    release.deployer ? make("p", null, release.deployer) : null,
    make("p", { class: "faint" }, (release.origin || []).join(" · ")),
    ...texts("Error", "bad", release.errors), ...texts("Warning", "drift", release.warnings),
    release.effect ? make("div", { class: "box effect " + (goesDown ? "bad" : "change") }, make("b", null, "Effect: "), release.effect,
      (release.down || []).map((name) => make("span", { class: "line" }, "goes down for a time: " + name))) : null,
  ];
}

// overview returns what is shown while nothing is open: the releases that are not clean, and what the signs mean.
function overview() {
  const all = report.releases.filter((r) => r.state !== "clean");
  const listed = all.slice(0, 200);
  const rows = listed.map((r) => make("tr", null,
    make("td", null, badge(stateTones[r.state] || "change", r.state)),
    make("td", null, make("a", { href: fragmentOf({ release: r }, state.filters) }, r.name), r.by ? " · " + r.by : ""),
    make("td", null, r.found || r.answer), make("td", { class: "short" }, r.oldest ? ageOf(Date.parse(r.oldest)).replace(" before the report", "") : ""),
    make("td", null, (r.editors || [])[0] || "", r.editors && r.editors.length > 1 ? " +" + (r.editors.length - 1) : "")));
  const heading = (names) => make("tr", null, names.map((name) => make("th", { scope: "col" }, name)));
  return [
    make("h2", null, "Releases"),
    all.length === 0 ? make("p", { class: "fate" }, report.releases.length === 0 ? "The report has none." : "All are clean.")
      : make("table", null, heading(["state", "release", "found", "oldest edit", "who"]), rows),
    all.length > listed.length ? make("p", { class: "notes" }, plural(all.length - listed.length, "more release") + " in the list.") : null,
    ...warningsOf(report.releases.filter((r) => r.warnings)),
    ...legendOf(report.objects),
  ];
}

// legendOf says what the signs of objects mean.
function legendOf(objects) {
  const used = new Set(objects.flatMap((object) => object.findings).map((f) => f.verdict));
  if (used.size === 0) return [];
  return [make("h3", null, "What the signs mean"),
    make("table", { class: "legend" }, Object.keys(verdicts).filter((name) => used.has(name)).map((name) => {
      const { sign, word: said, tone, says } = verdicts[name];
      return make("tr", null, make("td", null, badge(tone, sign + " " + said)), make("td", null, says));
    }))];
}

const maxWarned = 50;

// warningsOf returns the warnings of releases for the overview.
function warningsOf(releases) {
  if (releases.length === 0) return [];
  const more = releases.length - maxWarned;
  return [make("h3", null, "Warnings"), ...releases.slice(0, maxWarned).map((r) => make("div", { class: "box drift" },
    make("b", null, r.name), r.warnings.map((text) => linesOf(text)).flat())),
  more > 0 ? make("p", { class: "notes" }, "Warnings about " + plural(more, "more release") + " are at the releases.") : null];
}
