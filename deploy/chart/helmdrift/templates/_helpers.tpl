{{/* The name of the objects: that of the release, with the name of the chart unless it has it already. */}}
{{- define "helmdrift.name" -}}
{{- if contains "helmdrift" .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-helmdrift" .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "helmdrift.account" -}}
{{- default (include "helmdrift.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "helmdrift.labels" -}}
app.kubernetes.io/name: helmdrift
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* A word of a shell command: as it is, or in quotes. */}}
{{- define "helmdrift.word" -}}
{{- if regexMatch "^[A-Za-z0-9_./:=,@%+-]+$" . -}}{{ . }}{{- else -}}'{{ . | replace "'" "'\\''" }}'{{- end -}}
{{- end -}}

{{/* The arguments of helmdrift for a scope, as a list in JSON. The scope is the name of a namespace; empty means all. */}}
{{- define "helmdrift.arguments" -}}
{{- $v := .root.Values -}}
{{- $args := list "diff" -}}
{{- if .scope -}}{{- $args = concat $args (list "--namespace" .scope) -}}{{- else -}}{{- $args = append $args "--all-namespaces" -}}{{- end -}}
{{- $args = concat $args (list "--fail-on" $v.failOn) -}}
{{- range $flag := list "selector" "filter" "exclude" -}}
{{- with index $v.selection $flag -}}{{- $args = concat $args (list (printf "--%s" $flag) .) -}}{{- end -}}
{{- end -}}
{{- with $v.selection.status -}}{{- $args = concat $args (list "--status" (join "," .)) -}}{{- end -}}
{{- if $v.config -}}{{- $args = concat $args (list "--config" "/etc/helmdrift/config.yaml") -}}{{- end -}}
{{- if eq $v.metrics.mode "pushgateway" -}}
{{- $args = concat $args (list "--output" "prometheus") -}}
{{- else if ne $v.output "text" -}}
{{- $args = concat $args (list "--output" $v.output) -}}
{{- end -}}
{{- if eq $v.metrics.mode "textfile" -}}
{{- $name := $v.metrics.textfile.name -}}
{{- if .scope -}}{{- $name = printf "%s-%s.prom" (trimSuffix ".prom" $name) .scope -}}{{- end -}}
{{- $args = concat $args (list "--report" (printf "prometheus=/metrics/%s" $name)) -}}
{{- end -}}
{{- concat $args $v.extraArgs | toJson -}}
{{- end -}}

{{/* What a mode needs and the schema cannot say. */}}
{{- define "helmdrift.check" -}}
{{- $m := .Values.metrics -}}
{{- if eq $m.mode "pushgateway" -}}
{{- $_ := required "metrics.pushgateway.url is needed with metrics.mode=pushgateway" $m.pushgateway.url -}}
{{- $_ := required "clusterName is needed with metrics.mode=pushgateway: it is the group of the metrics" .Values.clusterName -}}
{{- end -}}
{{- if and (eq $m.mode "textfile") (not $m.textfile.volume) -}}
{{- fail "metrics.textfile.volume is needed with metrics.mode=textfile" -}}
{{- end -}}
{{- if and (eq .Values.rbac.scope "namespaces") (not .Values.rbac.namespaces) -}}
{{- fail "rbac.namespaces is needed with rbac.scope=namespaces" -}}
{{- end -}}
{{- end -}}
