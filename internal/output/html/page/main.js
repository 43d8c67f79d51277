
// state is all that the page shows: what is open, the filters, and what they take. The fragment of the address has the first two.
const state = { place: { release: null, object: null, finding: "" }, filters: {}, found: { rows: [], byObject: new Map() } };

// applyFilters takes new filters, and writes them to the address without a step in the history.
function applyFilters(filters) {
  history.replaceState(null, "", fragmentOf(state.place, filters) || "#");
  show(state.place, filters, false);
}

// show shows a place with filters, and brings its row into sight if the place is new.
function show(place, filters, scrolls) {
  const isSame = JSON.stringify(filters) === JSON.stringify(state.filters);
  state.place = place;
  if (!isSame || list.rows.length === 0) {
    state.filters = filters;
    state.found = select(filters);
    setRows(state.found.rows);
    showFilters();
  }
  showDetail();
  if (scrolls) moveTo(rowOf(place), false);
}

// openFragment shows what the address says.
function openFragment() {
  const { filters, isFound, ...place } = readFragment(location.hash);
  show(place, filters, true);
  if (!isFound) toast("What the link names is not in this report");
}

// onOpened shows what the address says now. Where the list and what is open take turns, the page goes to its beginning.
function onOpened() {
  openFragment();
  if (state.place.release && barHeight() === 0) byId("panes").scrollIntoView();
}

let searchTimer = 0;
let prepared = null; // resolves when the texts of the search are made

// start shows the page, in steps between which the browser may do something else.
async function start() {
  setTheme(savedTheme());
  await pause();
  connect();
  await pause();
  prepareFilters();
  prepareTiles();
  await pause();
  prepared = prepareSearch();
  if (readFragment(location.hash).filters.q) await prepared;
  byId("app").hidden = false;
  byId("tools").hidden = false;
  measure();
  openFragment();
  listen();
}

// measure tells the style how much of the window the filters cover.
const measure = () => document.documentElement.style.setProperty("--bar", barHeight() + "px");

// listen connects the controls.
function listen() {
  addEventListener("hashchange", onOpened);
  addEventListener("keydown", onKey);
  addEventListener("scroll", showRows, { passive: true });
  addEventListener("resize", () => {
    measure();
    showRows();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("q").addEventListener("input", () => {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => prepared.then(() => changeFilter("q", byId("q").value.trim())), 120);
  });
  for (const name of ["release", "kind", "cause", "owner", "age"]) {
    byId(name).addEventListener("change", () => changeFilter(name, byId(name).value));
  }
  byId("drifted").addEventListener("change", () => changeFilter("drifted", byId("drifted").checked ? "1" : ""));
  byId("unmanaged").addEventListener("change", () => changeFilter("unmanaged", byId("unmanaged").checked ? "1" : ""));
  byId("silenced").addEventListener("change", () => changeFilter("ignored", byId("silenced").checked ? "1" : ""));
  byId("reset").addEventListener("click", () => applyFilters({}));
  byId("theme").addEventListener("click", nextTheme);
  byId("print").addEventListener("click", () => print());
  byId("help").addEventListener("click", () => byId("keys").showModal());
}

start();
