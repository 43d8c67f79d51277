{{/* The labels of every object. */}}
{{- define "fleet.labels" -}}
{{ include "fleet.selector" . }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: shop
{{- end }}

{{/* The labels by which Services and workloads find their pods. */}}
{{- define "fleet.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* The name of an object of the release. */}}
{{- define "fleet.name" -}}
{{ printf "%s-%s" .root.Release.Name .name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The pod of a workload. */}}
{{- define "fleet.pod" -}}
metadata:
  labels: {{- include "fleet.selector" . | nindent 4 }}
  annotations: {{- toYaml .root.Values.podAnnotations | nindent 4 }}
spec:
  {{- with .root.Values.podSecurityContext }}
  securityContext: {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationGracePeriodSeconds: 45
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  nodeSelector: {{- toYaml .root.Values.nodeSelector | nindent 4 }}
  tolerations: {{- toYaml .root.Values.tolerations | nindent 4 }}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector:
            matchLabels: {{- include "fleet.selector" . | nindent 14 }}
  containers:
  - name: app
    image: "{{ .root.Values.image.registry }}/{{ .root.Values.image.repository }}:{{ .root.Values.image.tag }}"
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: ["--component={{ .name }}", "--config=/etc/app/app.yaml"]
    ports:
    - {name: http, containerPort: {{ .root.Values.ports.http }}}
    - {name: metrics, containerPort: {{ .root.Values.ports.metrics }}, protocol: TCP}
    env:
    - name: POD_NAME
      valueFrom: {fieldRef: {fieldPath: metadata.name}}
    - name: DATABASE_PASSWORD
      valueFrom: {secretKeyRef: {name: {{ .root.Release.Name }}-main, key: password}}
    {{- range $name, $value := .root.Values.env }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
    {{- if not .restartPolicy }}
    startupProbe:
      httpGet: {path: /healthz, port: http}
      failureThreshold: 30
    livenessProbe:
      httpGet: {path: /healthz, port: http}
      periodSeconds: 15
      timeoutSeconds: 3
    readinessProbe:
      httpGet: {path: /ready, port: http}
      periodSeconds: 5
    lifecycle:
      preStop: {exec: {command: [sh, -c, sleep 10]}}
    {{- end }}
    resources: {{- toYaml .root.Values.resources | nindent 6 }}
    securityContext: {{- toYaml .root.Values.securityContext | nindent 6 }}
    volumeMounts:
    - {name: config, mountPath: /etc/app, readOnly: true}
    - {name: tmp, mountPath: /tmp}
    {{- range .mounts }}
    - {name: {{ . }}, mountPath: /var/lib/app}
    {{- end }}
  - name: proxy
    image: {{ .root.Values.proxy.image }}
    args: [--admin-port={{ .root.Values.proxy.adminPort }}, --log-level=warning]
    ports:
    - {name: admin, containerPort: {{ .root.Values.proxy.adminPort }}}
    {{- if not .restartPolicy }}
    livenessProbe:
      tcpSocket: {port: admin}
    {{- end }}
    resources: {{- toYaml .root.Values.proxyResources | nindent 6 }}
    securityContext: {{- toYaml .root.Values.securityContext | nindent 6 }}
    volumeMounts:
    - {name: tmp, mountPath: /tmp}
  volumes:
  - name: config
    configMap: {name: {{ .root.Release.Name }}-main}
  - name: tmp
    emptyDir: {sizeLimit: 256Mi}
{{- end }}
