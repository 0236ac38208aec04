{{/*
Names leave room for suffixes ("-temporal-frontend") within the 63 characters of a Service. One that is cut ends with a hash, so
that two long names never become one.
*/}}
{{- define "etcd-operator.fullname" -}}
{{- $name := .Release.Name -}}
{{- if .Values.fullnameOverride -}}
{{- $name = .Values.fullnameOverride -}}
{{- else if not (contains .Chart.Name .Release.Name) -}}
{{- $name = printf "%s-%s" .Release.Name .Chart.Name -}}
{{- end -}}
{{- if gt (len $name) 45 -}}
{{- $name = printf "%s-%s" (trunc 36 $name | trimSuffix "-" | trimSuffix ".") (sha256sum $name | trunc 8) -}}
{{- end -}}
{{- $name | replace "." "-" -}}
{{- end -}}

{{- define "etcd-operator.selector" -}}
app.kubernetes.io/name: etcd-operator
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "etcd-operator.commonLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: etcd-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "etcd-operator.labels" -}}
app.kubernetes.io/name: etcd-operator
{{ include "etcd-operator.commonLabels" . }}
{{- end -}}

{{- define "etcd-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "etcd-operator.fullname" .) -}}
{{- else -}}
{{- required "serviceAccount.name is empty and serviceAccount.create is false: name the ServiceAccount that exists" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "etcd-operator.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with .Values.image.registry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}
{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "etcd-operator.temporalAddress" -}}
{{- if .Values.temporal.bundled -}}
{{- printf "%s-temporal-frontend.%s.svc:7233" (include "etcd-operator.fullname" .) .Release.Namespace -}}
{{- else -}}
{{- .Values.temporal.address -}}
{{- end -}}
{{- end -}}

{{/*
Operators that share a Temporal namespace must not take each other's tasks. That of a list does not follow from the list, which may grow: workflows
stay at the queue that they were started with. A dot is in no namespace. Empty: what the operator uses by itself.
*/}}
{{- define "etcd-operator.taskQueue" -}}
{{- if .Values.temporal.taskQueue -}}
{{- .Values.temporal.taskQueue -}}
{{- else if .Values.watchNamespace -}}
{{- printf "etcd-operator-%s" .Values.watchNamespace -}}
{{- else if .Values.watchNamespaces -}}
{{- printf "etcd-operator.%s.%s" .Release.Namespace (include "etcd-operator.fullname" .) -}}
{{- end -}}
{{- end -}}

{{/* The namespaces that are watched, with commas between them; empty: all. */}}
{{- define "etcd-operator.watched" -}}
{{- .Values.watchNamespace | default (join "," (uniq .Values.watchNamespaces)) -}}
{{- end -}}

{{/* Operators of several namespaces in one namespace each hold a Lease of their own. */}}
{{- define "etcd-operator.leaseName" -}}
{{- if and .Values.watchNamespace (ne .Values.watchNamespace .Release.Namespace) -}}
{{- printf "etcd-operator-watcher-%s" .Values.watchNamespace -}}
{{- else if .Values.watchNamespaces -}}
{{- printf "etcd-operator-watcher.%s" (include "etcd-operator.fullname" .) -}}
{{- else -}}
etcd-operator-watcher
{{- end -}}
{{- end -}}

{{/* The name of what is of the whole Kubernetes cluster: releases of one name in two namespaces must not share it. */}}
{{- define "etcd-operator.clusterRoleName" -}}
{{- if include "etcd-operator.watched" . -}}
{{- printf "%s-%s-nodes" .Release.Namespace (include "etcd-operator.fullname" .) -}}
{{- else -}}
{{- include "etcd-operator.fullname" . -}}
{{- end -}}
{{- end -}}

{{- define "etcd-operator.subjects" -}}
- kind: ServiceAccount
  name: {{ include "etcd-operator.serviceAccountName" . | quote }}
  namespace: {{ .Release.Namespace | quote }}
{{- end -}}
