# Functions for the situations of the pages; see TestDocs.

# situation FILE runs a script of the situation, if there is one. It must succeed.
situation() {
	[ -f "$1" ] || return 0
	(set -euo pipefail; . "$1") > .situation 2>&1 || { cat .situation; echo "$1 failed"; exit 1; }
}

# restore_code sets $? to the exit code of the command before, so that "echo $?" prints it.
code=0
restore_code() { return "$code"; }

# type_answer ANSWER types an answer when the question is on the screen.
type_answer() {
	for _ in {1..1200}; do
		grep -qsF '[y/N]' .screen && break
		sleep 0.1
	done
	echo "$1"
}

# on_terminal ANSWER FILE runs a command on a terminal, where it may ask.
on_terminal() {
	rm -f .screen
	type_answer "$1" | script -qefc "stty cols 200; . ./$2" .screen
	return "${PIPESTATUS[1]}"
}

# ready waits until the Deployments of prod are rolled out. It is faster than helm --wait, which looks every two seconds.
ready() { kubectl rollout status deployment -n prod > /dev/null; }

# install NAME CHART ... installs a release in prod and waits until its pods are ready.
install() { helm install "$@" -n prod --create-namespace > /dev/null && ready; }

# edit MANAGER KIND/NAME PATCH edits an object of prod under the name of a program.
edit() { kubectl patch "$2" -n prod --field-manager "$1" --type merge -p "$3" > /dev/null; }

# finish uninstalls everything, so that the next page has a cluster of its own.
finish() {
	helm list -A -a | awk 'NR > 1 { print $1, $2 }' > .releases
	while read -r release namespace; do helm uninstall "$release" -n "$namespace" > /dev/null; done < .releases
	for namespace in $(awk '{ print $2 }' .releases | sort -u); do
		kubectl wait pods --all -n "$namespace" --for delete --timeout 60s > /dev/null 2>&1
	done
}
