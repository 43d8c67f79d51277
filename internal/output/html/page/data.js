
// report is the data of the page.
const report = JSON.parse(byId("data").textContent);
const reportTime = Date.parse(report.time);

// Tables that are read by names from the report or from a link have no prototype, so that "constructor" is no name in them.

// verdicts are the signs and words of findings, in the order of their urgency. The last ones are about whole objects.
const verdicts = {
  __proto__: null,
  error: { sign: "?", word: "not compared", tone: "bad", says: "could not be read or compared; what is true of it is not known" },
  fail: { sign: "!", word: "fails", tone: "bad", says: "the operation fails on the object" },
  disputed: { sign: "!", word: "server disagrees", tone: "bad", says: "the API server answered otherwise; please report it" },
  conflict: { sign: "!", word: "conflict", tone: "bad", says: "Helm fails on the field, because another manager owns it" },
  missing: { sign: "×", word: "missing", tone: "drift", says: "Helm deployed the object, and it is gone" },
  terminating: { sign: "×", word: "being deleted", tone: "drift", says: "the object or its namespace is being deleted" },
  overwrite: { sign: "±", word: "overwrite", tone: "drift", says: "Helm replaces the live value" },
  remove: { sign: "-", word: "remove", tone: "bad", says: "Helm removes the field" },
  add: { sign: "+", word: "add", tone: "calm", says: "Helm adds the field" },
  ignore: { sign: "∅", word: "ignore", tone: "change", says: "Helm leaves the live value, even if it is wrong" },
  create: { sign: "+", word: "create", tone: "calm", says: "Helm creates the object" },
  delete: { sign: "-", word: "delete", tone: "bad", says: "Helm deletes the object" },
  adopt: { sign: "±", word: "adopt", tone: "change", says: "Helm takes over an object that the release did not create" },
  keep: { sign: "∅", word: "keep", tone: "change", says: "the chart drops the object, and it stays in the cluster" },
  skip: { sign: "∅", word: "not reached", tone: "change", says: "a failure keeps Helm from the object" },
};
const verdictOf = (name) => verdicts[name] || { sign: "?", word: name, tone: "change", says: "a verdict of a later version" };

const causes = { __proto__: null, drift: "live drifted", change: "the chart changed", both: "live and chart changed" };
const stateTones = { __proto__: null, error: "bad", drifted: "drift", uninstall: "bad", blocked: "bad", changed: "change", clean: "calm" };

// connect gives each release its objects, each object its release and its findings, and each finding its object and the time of its last
// write. What was found of an object as a whole is a finding without a path.
function connect() {
  for (const owner of report.owners) owner.at = Date.parse(owner.time);
  report.releases.forEach((release, rank) => Object.assign(release, { rank, objects: [] }));
  for (const object of report.objects) {
    object.parent = report.releases[object.release];
    object.parent.objects.push(object);
    object.fields = object.fields || [];
    object.findings = object.fields;
    if (object.whole) {
      const { whole: verdict, cause, drifted, silenced } = object;
      object.self = { verdict, cause, drifted, silenced, path: "", owners: [], object };
      object.findings = [object.self, ...object.fields];
    }
    for (const field of object.fields) {
      field.object = object;
      field.owners = field.owners || [];
      const times = field.owners.map((i) => report.owners[i].at).filter((time) => !Number.isNaN(time));
      field.written = times.length > 0 ? Math.max(...times) : null;
    }
  }
}

// ageOf says how long before the report something was.
function ageOf(time) {
  const minutes = Math.max(0, Math.floor((reportTime - time) / 60000));
  if (minutes < 1) return "just before the report";
  if (minutes < 120) return minutes + " min before the report";
  if (minutes < 2 * 24 * 60) return Math.floor(minutes / 60) + " h before the report";
  return Math.floor(minutes / 60 / 24) + " d before the report";
}

// remarksOf returns remarks as a list.
function remarksOf(indexes) {
  if (!indexes || indexes.length === 0) return null;
  return make("ul", { class: "notes" }, indexes.map((i) => make("li", null, linesOf(report.remarks[i]))));
}
