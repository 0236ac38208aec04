{{/* The operator's environment: what the chart sets, then `config`, then NODE_OPTIONS, then `env`. */}}
{{- define "etcd-operator.environment" -}}
{{- $temporal := .Values.temporal -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: TEMPORAL_ADDRESS
  value: {{ include "etcd-operator.temporalAddress" . | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ $temporal.namespace | quote }}
{{- with $temporal.retentionDays }}
- name: TEMPORAL_RETENTION_DAYS
  value: {{ int64 . | quote }}
{{- end }}
{{- with include "etcd-operator.taskQueue" . }}
- name: TASK_QUEUE
  value: {{ . | quote }}
{{- end }}
{{- with $temporal.apiKey }}
{{- if .secretName }}
- name: TEMPORAL_API_KEY_PATH
  value: {{ printf "/etc/temporal-api-key/%s" .key | quote }}
{{- end }}
{{- end }}
{{- include "etcd-operator.temporalTls" $temporal.tls }}
{{- if $temporal.codec.secretName }}
- name: TEMPORAL_CODEC_KEYS
  value: /etc/temporal-codec
{{- end }}
{{- with $temporal.codec.server }}
{{- if .enabled }}
- name: TEMPORAL_CODEC_SERVER_PORT
  value: "8081"
{{- with .origins }}
- name: TEMPORAL_CODEC_SERVER_ORIGINS
  value: {{ join "," . | quote }}
{{- end }}
{{- if .encodes }}
- name: TEMPORAL_CODEC_SERVER_ENCODES
  value: "true"
{{- end }}
{{- end }}
{{- end }}
{{- with include "etcd-operator.watched" . }}
- name: WATCH_NAMESPACE
  value: {{ . | quote }}
{{- end }}
{{- with include "etcd-operator.leaseName" . }}
{{- if ne . "etcd-operator-watcher" }}
- name: LEASE_NAME
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.config }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name | quote }}
  value: {{ include "etcd-operator.configValue" $value | quote }}
{{- end }}
{{- end }}
{{- with .Values.nodeOptions }}
- name: NODE_OPTIONS
  value: {{ . | quote }}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "etcd-operator.temporalTls" -}}
{{- if .enabled }}
- name: TEMPORAL_TLS
  value: "true"
{{- if .secretName }}
{{- with .caKey }}
- name: TEMPORAL_TLS_SERVER_CA_CERT_PATH
  value: {{ printf "/etc/temporal-tls/%s" . | quote }}
{{- end }}
{{- with .certKey }}
- name: TEMPORAL_TLS_CLIENT_CERT_PATH
  value: {{ printf "/etc/temporal-tls/%s" . | quote }}
{{- end }}
{{- with .keyKey }}
- name: TEMPORAL_TLS_CLIENT_KEY_PATH
  value: {{ printf "/etc/temporal-tls/%s" . | quote }}
{{- end }}
{{- end }}
{{- with .serverName }}
- name: TEMPORAL_TLS_SERVER_NAME
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Numbers of a file of values are floating point: without int64 a million would be 1e+06. */}}
{{- define "etcd-operator.configValue" -}}
{{- if kindIs "slice" . -}}
{{- join "," . -}}
{{- else if kindIs "float64" . -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}
