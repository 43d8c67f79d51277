# Functions for the situations of the pages; see TestDocs.

# situation FILE runs a script of the situation, if there is one. It must succeed.
situation() {
	[ -f "$1" ] || return 0
	(set -euo pipefail; . "$1") > .situation 2>&1 || { cat .situation; echo "$1 failed"; exit 1; }
}

# restore_code sets $? to the exit code of the command before, so that "echo $?" prints it.
code=0
restore_code() { return "$code"; }

# on_terminal ANSWER FILE runs a command on a terminal, where it may ask.
on_terminal() {
	echo "$1" | script -qec "stty cols 200; . ./$2" /dev/null
	return "${PIPESTATUS[1]}"
}

# install NAME CHART ... installs a release in prod and waits until its pods are ready.
install() { helm install "$@" -n prod --create-namespace --wait > /dev/null; }

# edit MANAGER KIND/NAME PATCH edits an object of prod under the name of a program.
edit() { kubectl patch "$2" -n prod --field-manager "$1" --type merge -p "$3" > /dev/null; }

# drift makes five of the six edits of make demo in the release web, and waits for the pods. Nobody deletes the Service.
drift() {
	kubectl scale deployment web -n prod --replicas 5
	kubectl set image deployment web -n prod web=nginx:1.27
	edit kubectl-edit secret/web-login '{"stringData":{"password":"hunter2"}}'
	edit k9s budgets.shop.example.com/web '{"spec":{"limit":30}}'
	kubectl delete service web -n prod
	kubectl rollout status deployment web -n prod
} > /dev/null

# finish uninstalls everything, so that the next page has a cluster of its own.
finish() {
	for namespace in $(helm list -A -a -o json | jq -r '.[].namespace' | sort -u); do
		helm list -a -q -n "$namespace" | xargs -r helm uninstall -n "$namespace" --wait --cascade foreground > /dev/null
	done
}
