{{/*
The rules of the account: get and list, and no other verb. deploy/kubernetes/rbac.yaml has the same; a test compares them. There is no
wildcard: it would include subresources, and get on pods/exec or nodes/proxy runs commands.
*/}}
{{- define "helmdrift.namespacedRules" -}}
# Records of Helm, the namespace itself, and objects of releases. Secrets are among them: Helm stores its records in Secrets.
- apiGroups: [""]
  resources: [configmaps, endpoints, limitranges, namespaces, persistentvolumeclaims, pods, podtemplates, replicationcontrollers, resourcequotas, secrets, serviceaccounts, services]
  verbs: [get, list]
- apiGroups: [apps]
  resources: [controllerrevisions, daemonsets, deployments, replicasets, statefulsets]
  verbs: [get, list]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list]
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [get, list]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, list]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [get, list]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [rolebindings, roles]
  verbs: [get, list]
- apiGroups: [resource.k8s.io]
  resources: [resourceclaims, resourceclaimtemplates]
  verbs: [get, list]
- apiGroups: [storage.k8s.io]
  resources: [csistoragecapacities]
  verbs: [get, list]
# Custom kinds that helmdrift itself knows: they say who scales a workload, and how Flux deploys a release.
- apiGroups: [keda.sh]
  resources: [scaledobjects]
  verbs: [get, list]
- apiGroups: [helm.toolkit.fluxcd.io]
  resources: [helmreleases]
  verbs: [get, list]
{{- end -}}

{{- define "helmdrift.clusterRules" -}}
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, list]
- apiGroups: [admissionregistration.k8s.io]
  resources:
  - mutatingadmissionpolicies
  - mutatingadmissionpolicybindings
  - mutatingwebhookconfigurations
  - validatingadmissionpolicies
  - validatingadmissionpolicybindings
  - validatingwebhookconfigurations
  verbs: [get, list]
# Definitions are objects of releases, and the schemas of custom kinds.
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get, list]
- apiGroups: [apiregistration.k8s.io]
  resources: [apiservices]
  verbs: [get, list]
- apiGroups: [certificates.k8s.io]
  resources: [certificatesigningrequests, clustertrustbundles]
  verbs: [get, list]
- apiGroups: [flowcontrol.apiserver.k8s.io]
  resources: [flowschemas, prioritylevelconfigurations]
  verbs: [get, list]
- apiGroups: [networking.k8s.io]
  resources: [ingressclasses, ipaddresses, servicecidrs]
  verbs: [get, list]
- apiGroups: [node.k8s.io]
  resources: [runtimeclasses]
  verbs: [get, list]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterrolebindings, clusterroles]
  verbs: [get, list]
- apiGroups: [resource.k8s.io]
  resources: [deviceclasses, resourceslices]
  verbs: [get, list]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [get, list]
- apiGroups: [storage.k8s.io]
  resources: [csidrivers, storageclasses, volumeattributesclasses]
  verbs: [get, list]
# Discovery and schemas. Kubernetes grants these to every account, unless an administrator has removed system:discovery.
- nonResourceURLs: [/api, /api/*, /apis, /apis/*, /openapi/v3, /openapi/v3/*, /version]
  verbs: [get]
{{- end -}}

{{- define "helmdrift.customRules" -}}
{{- range .Values.rbac.customResources }}
- apiGroups: [{{ .apiGroup | quote }}]
  resources: {{ .resources | toJson }}
  verbs: [get, list]
{{- end }}
{{- end -}}
