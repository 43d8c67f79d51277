
// onKey is the keyboard. Keys with a modifier belong to the browser, and letters to a field in which somebody writes.
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const isWriting = event.target.matches("input[type=search], select, textarea");
  if (event.key === "Escape") {
    if (isWriting) event.target.blur();
    else if (state.place.release) location.hash = fragmentOf({}, state.filters);
    return;
  }
  if (isWriting) {
    if (event.key === "Enter" && event.target === byId("q")) {
      event.preventDefault();
      moveTo(0, true);
    }
    return;
  }
  const action = keys[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
}

const keys = {
  __proto__: null,
  "/": () => {
    byId("filterBox").open = true;
    byId("q").focus();
  },
  j: () => moveTo(Math.min(list.cursor + 1, list.rows.length - 1), true),
  k: () => moveTo(Math.max(list.cursor - 1, 0), true),
  c: () => copyLink(state.place),
  t: () => nextTheme(),
  "?": () => byId("keys").showModal(),
};

const themes = ["system", "light", "dark"];

// setTheme applies a theme and keeps it, where the browser lets a file do so.
function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").textContent = "Theme: " + theme;
  try {
    localStorage.setItem("helmdrift-theme", theme);
  } catch {
    // the theme holds until the page is closed
  }
}

// savedTheme returns the theme that was kept.
function savedTheme() {
  try {
    const theme = localStorage.getItem("helmdrift-theme");
    return themes.includes(theme) ? theme : "system";
  } catch {
    return "system";
  }
}

const nextTheme = () => setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme || "system") + 1) % themes.length]);
