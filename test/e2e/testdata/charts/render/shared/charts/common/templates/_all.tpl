{{- define "common.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
{{- end }}

{{- define "common.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-{{ .Chart.Name }}
  labels: {{- include "common.labels" . | nindent 4 }}
spec:
  selector:
    matchLabels: {app: shared}
  template:
    metadata:
      labels: {app: shared}
    spec:
      containers:
      - name: main
        image: nginx:1.25
        {{- with .Values.env }}
        env: {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end }}

{{- define "common.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .root.Release.Name }}-{{ .root.Chart.Name }}
spec:
  selector: {app: shared}
  ports:
  - {port: {{ .port }}}
{{- end }}
