{{/* The name of everything in a release: once if the release is called like the chart. */}}
{{- define "sluice.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change: selectors use them. Takes (list $ "server"). */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ (index . 0).Chart.Name }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
{{- end -}}

{{/* The address of the servers, as pods of the cluster reach it. */}}
{{- define "sluice.address" -}}
https://{{ include "sluice.name" . }}.{{ .Release.Namespace }}.svc:7171
{{- end -}}

{{/* The configuration file: the settings of the chart win over those of `config`. */}}
{{- define "sluice.config" -}}
{{- $tls := dict "cert" "/etc/sluice/tls/tls.crt" "key" "/etc/sluice/tls/tls.key" -}}
{{- $own := dict "server" (dict "tls" $tls) -}}
{{- if .Values.placement.enabled -}}
{{- $_ := set $own "placements" (dict "kubernetes" (include "sluice.placement" . | fromJson)) -}}
{{- end -}}
{{- mergeOverwrite (deepCopy .Values.config) $own | toPrettyJson -}}
{{- end -}}

{{/* What the `restricted` pod security standard requires. */}}
{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Where pods may run. Takes the values of a component. */}}
{{- define "sluice.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The claim for a component's data folder. */}}
{{- define "sluice.dataClaim" -}}
- metadata: { name: data }
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .className }}
    storageClassName: {{ . }}
    {{- end }}
    resources: { requests: { storage: {{ .size }} } }
{{- end -}}

{{- define "sluice.database" -}}
- name: SLUICE_DATABASE
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.database }}, key: url } }
{{- end -}}

{{- define "sluice.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The labels of the pods of placed runs. */}}
{{- define "sluice.placedLabels" -}}
app.kubernetes.io/managed-by: sluice
app.kubernetes.io/name: sluice-run
{{- end -}}

{{/*
`placements.kubernetes` of the configuration, as JSON; `placement.settings` win. The pods of placed runs trust the
authority of the servers.
*/}}
{{- define "sluice.placement" -}}
{{- $authority := dict "name" "authority" "secret" (dict "secretName" .Values.secrets.tls "items" (list (dict "key" "ca.crt" "path" "ca.crt"))) -}}
{{- $worker := dict "name" "worker"
  "env" (list (dict "name" "NODE_EXTRA_CA_CERTS" "value" "/etc/sluice/authority/ca.crt"))
  "volumeMounts" (list (dict "name" "authority" "mountPath" "/etc/sluice/authority" "readOnly" true)) -}}
{{- $pod := dict "containers" (list $worker) "volumes" (list $authority) -}}
{{- with .Values.images.pullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- $own := dict "namespace" .Release.Namespace "server" (include "sluice.address" .) "template" (dict "spec" $pod)
  "worker_image" .Values.images.worker "image" .Values.images.agent -}}
{{- mergeOverwrite $own (deepCopy .Values.placement.settings) | toJson -}}
{{- end -}}
