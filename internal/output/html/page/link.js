
// A fragment is #RELEASE/OBJECT/FINDING?FILTERS, each part percent-encoded. It is all of the state that a link carries.
const filterNames = ["q", "release", "kind", "verdict", "cause", "owner", "age", "drifted", "unmanaged", "ignored"];

// decode returns a part of a fragment, and the part itself if it is not encoded as it should be.
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// readFragment returns what a fragment opens, and its filters. What it names need not be there.
function readFragment(fragment) {
  const [place, query] = fragment.replace(/^#/, "").split("?", 2);
  const [slug, id, finding] = place.split("/").map(decode);
  const given = new URLSearchParams(query || "");
  const filters = {};
  for (const name of filterNames) {
    if (given.get(name)) filters[name] = given.get(name);
  }
  const only = !slug && report.releases.length === 1 ? report.releases[0] : null; // the report of one release opens on it
  const release = only || report.releases.find((r) => r.slug === slug) || null;
  const object = (release && id && release.objects.find((o) => o.id === id)) || null;
  const isFound = (!slug || release) && (!id || object) && (!finding || object.fields.some((f) => f.id === finding));
  return { release, object, finding: object && finding ? finding : "", filters, isFound: Boolean(isFound) };
}

// fragmentOf returns the fragment that opens a place with filters.
function fragmentOf(place, filters) {
  const parts = [];
  if (place.release) parts.push(place.release.slug);
  if (place.object) parts.push(place.object.id);
  if (place.object && place.finding) parts.push(place.finding);
  const query = new URLSearchParams();
  for (const name of filterNames) {
    if (filters[name]) query.set(name, filters[name]);
  }
  const text = query.toString();
  return "#" + parts.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

// copyText puts a text on the clipboard. Browsers without a clipboard for files have the older way.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { readonly: "" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// copyLink copies the link to a place with the filters as they are, and says so.
function copyLink(place) {
  const link = location.href.split("#")[0] + fragmentOf(place, state.filters);
  copyText(link).then(() => toast("Link copied"));
}

let toastTimer = 0;

// toast shows a short message.
function toast(text) {
  byId("toast").textContent = text;
  byId("toast").classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => byId("toast").classList.remove("on"), 1600);
}
