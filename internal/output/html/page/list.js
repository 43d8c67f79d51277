
const heights = { release: 52, object: 54 };
const overscan = 8;

// list has a row for each release and object that the filters take. Only the rows in sight have elements.
const list = { rows: [], tops: [0], shown: new Map(), cursor: -1 };

// setRows replaces all rows.
function setRows(rows) {
  list.rows = rows;
  list.tops = [0];
  for (const row of rows) list.tops.push(list.tops[list.tops.length - 1] + (row.object ? heights.object : heights.release));
  for (const element of list.shown.values()) element.remove();
  list.shown.clear();
  list.cursor = rowOf(state.place);
  byId("rows").style.height = list.tops[rows.length] + "px";
  byId("nothing").hidden = rows.length > 0;
  byId("nothing").textContent = report.releases.length === 0 ? "The report has no release." : "The filters take nothing.";
  showRows();
}

// rowOf returns the index of the row of a place; -1 if there is none.
function rowOf(place) {
  if (!place.release) return -1;
  return list.rows.findIndex((row) => (place.object ? row.object === place.object : row.release === place.release));
}

// rowAt returns the index of the row at a height.
function rowAt(top) {
  let low = 0;
  let high = list.rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list.tops[middle + 1] <= top) low = middle + 1;
    else high = middle;
  }
  return low;
}

// showRows makes the elements of the rows in sight and drops the others.
function showRows() {
  const top = -byId("rows").getBoundingClientRect().top;
  const from = Math.max(0, rowAt(Math.max(0, top)) - overscan);
  const to = Math.min(list.rows.length, rowAt(Math.max(0, top + window.innerHeight)) + overscan + 1);
  for (const [i, element] of list.shown) {
    if (i < from || i >= to) {
      element.remove();
      list.shown.delete(i);
    }
  }
  for (let i = from; i < to; i++) {
    if (!list.shown.has(i)) {
      const element = rowElement(list.rows[i], i);
      list.shown.set(i, element);
      byId("rows").append(element);
    }
  }
}

// rowElement returns the element of a row.
function rowElement(row, i) {
  const place = row.object ? { release: row.object.parent, object: row.object } : { release: row.release };
  const element = row.object ? objectRow(row.object) : releaseRow(row.release);
  element.setAttribute("href", fragmentOf(place, state.filters));
  element.style.top = list.tops[i] + "px";
  element.style.height = (row.object ? heights.object : heights.release) - 2 + "px";
  element.setAttribute("aria-current", String(i === list.cursor));
  return element;
}

function releaseRow(release) {
  return make("a", { class: "entry release" },
    make("span", null, make("span", { class: "cut" }, release.by ? release.name + " · " + release.by : release.name), make("span", { class: "signs" },
      make("span", { class: stateTones[release.state] || "change" }, release.state))),
    make("span", { class: "faint" }, make("span", { class: "cut" }, release.found || release.answer)));
}

function objectRow(object) {
  const findings = state.found.byObject.get(object) || [];
  const worst = findings.some((f) => verdictOf(f.verdict).tone === "bad" && f === object.self);
  const signs = countBy(findings.map((f) => f.verdict)).slice(0, 4).map(([name, n]) => {
    const { sign, tone, word } = verdictOf(name);
    return make("span", { class: tone, title: word }, findings[0] === object.self && name === object.whole ? sign + " " + word : sign + n);
  });
  const paths = findings.filter((f) => f.path).map((f) => f.path);
  const more = paths.length > 1 ? " and " + (paths.length - 1) + " more" : "";
  const said = object.whole === "error" || paths.length === 0 ? object.fate : paths[0] + more;
  return make("a", { class: "entry object" + (worst ? " isBad" : object.drifted ? " isDrift" : "") },
    make("span", null, make("span", { class: "cut" }, object.kind + " ", make("b", null, object.name)),
      make("span", { class: "signs" }, signs)),
    make("span", { class: "faint" }, make("span", { class: "cut" }, said.split("\n")[0])));
}

// moveTo puts the cursor on a row and brings it into sight.
function moveTo(i, focus) {
  if (i < 0 || i >= list.rows.length) return;
  const before = list.shown.get(list.cursor);
  if (before) before.setAttribute("aria-current", "false");
  list.cursor = i;
  if (byId("list").offsetParent === null) return; // what is open takes its place
  const top = byId("rows").getBoundingClientRect().top + list.tops[i];
  const bar = barHeight();
  if (top < bar + 8) window.scrollBy(0, top - bar - 60);
  else if (top + heights.object > window.innerHeight) window.scrollBy(0, top + heights.object + 60 - window.innerHeight);
  showRows();
  const element = list.shown.get(i);
  if (element) {
    element.setAttribute("aria-current", "true");
    if (focus) element.focus({ preventScroll: true });
  }
}

// barHeight returns how much of the window the filters cover.
const barHeight = () => (getComputedStyle(byId("filters")).position === "sticky" ? byId("filters").offsetHeight : 0);
