{{ define "tpls.greeting" }}hello from {{ .Template.Name }}{{ end }}
