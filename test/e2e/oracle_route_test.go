package e2e

// route says which Helms a case uses, and how they write.
type route struct {
	name string
	// installs4 says that Helm 4 deploys before the edits, upgrades4 that Helm 4 is predicted.
	installs4, upgrades4 bool
	// install are further arguments of the installation.
	install []string
	// otherHelmBetween says that the other Helm made the second revision.
	otherHelmBetween bool
	// serverSide and force are --server-side and --force-conflicts of the predicted Helm 4; replace is --force, takeOwnership is
	// --take-ownership.
	serverSide                    string
	force, replace, takeOwnership bool
}

// routes returns the routes of one engine, equally many for each. Most cases use the first; the fix oracle uses the first three.
func routes(by4 bool) []route {
	clientSide := []string{"--client-side"}
	if !by4 {
		return []route{
			{name: "helm 3"},
			{name: "helm 4 client-side", installs4: true, upgrades4: true, install: clientSide, serverSide: "auto"},
			{name: "helm 3 after helm 4", installs4: true},
			{name: "helm 3 --force", replace: true},
			{name: "helm 3 --take-ownership", takeOwnership: true},
			{name: "helm 3 --force --take-ownership", replace: true, takeOwnership: true},
			{name: "helm 4 client-side --force", installs4: true, upgrades4: true, install: clientSide, serverSide: "auto", replace: true},
			{name: "helm 4 client-side --take-ownership after helm 3", upgrades4: true, serverSide: "auto", takeOwnership: true},
			{name: "helm 4 --server-side=false after helm 4", installs4: true, upgrades4: true, serverSide: "false"},
			{name: "helm 4 auto after helm 4 and helm 3", installs4: true, upgrades4: true, serverSide: "auto", otherHelmBetween: true},
		}
	}
	return []route{
		{name: "helm 4", installs4: true, upgrades4: true, serverSide: "auto"},
		{name: "helm 4 --force-conflicts", installs4: true, upgrades4: true, serverSide: "auto", force: true},
		{name: "helm 4 --server-side after helm 3", upgrades4: true, serverSide: "true"},
		{name: "helm 4 --take-ownership", installs4: true, upgrades4: true, serverSide: "auto", takeOwnership: true},
		{name: "helm 4 --take-ownership --force-conflicts", installs4: true, upgrades4: true, serverSide: "auto", takeOwnership: true, force: true},
		{name: "helm 4 --server-side --force-conflicts after helm 3", upgrades4: true, serverSide: "true", force: true},
		{name: "helm 4 --server-side after helm 4 client-side", installs4: true, upgrades4: true, install: clientSide, serverSide: "true"},
		{name: "helm 4 --server-side after helm 4 and helm 3", installs4: true, upgrades4: true, serverSide: "true", otherHelmBetween: true},
		{name: "helm 4 --server-side after helm 3 and helm 4", upgrades4: true, serverSide: "true", otherHelmBetween: true},
		{name: "helm 4 --server-side --take-ownership after helm 3", upgrades4: true, serverSide: "true", takeOwnership: true},
	}
}

// appliesServerSide reports whether the predicted Helm applies server-side.
func (r route) appliesServerSide() bool {
	return r.upgrades4 && (r.serverSide == "true" || r.serverSide == "auto" && len(r.install) == 0)
}

// flags returns the flags of helmdrift for an upgrade on the route.
func (r route) flags() []string { return r.flagsFor("upgrade") }

// flagsFor returns the flags of helmdrift for a verb: upgrade, install, rollback, or "again" for an upgrade to the deployed chart.
func (r route) flagsFor(verb string) []string {
	out := []string{"--helm-version", "3"}
	if r.upgrades4 {
		out = []string{"--helm-version", "4"}
	}
	return append(out, r.helmFlags(verb)...)
}

// helmFlags returns the flags of Helm for a verb. The flags of helmdrift are the same.
func (r route) helmFlags(verb string) []string {
	var out []string
	if r.upgrades4 && r.serverSide != "auto" {
		out = append(out, "--server-side="+r.serverSide)
	}
	if r.force {
		out = append(out, "--force-conflicts")
	}
	switch {
	case r.replace && r.upgrades4:
		out = append(out, "--force-replace")
	case r.replace:
		out = append(out, "--force")
	}
	if r.takeOwnership && verb != "rollback" && verb != "again" {
		out = append(out, "--take-ownership")
	}
	return out
}
