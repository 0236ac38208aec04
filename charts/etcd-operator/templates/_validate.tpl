{{/* What values.schema.json cannot say: values that contradict each other. */}}
{{- define "etcd-operator.validate" -}}
{{- $temporal := .Values.temporal -}}
{{- if and (not $temporal.address) (not $temporal.bundled) -}}
{{- fail "temporal.address is empty: set it to host:port of your Temporal's frontend (for example --set temporal.address=temporal-frontend.temporal.svc:7233), or for a trial set temporal.bundled=true" -}}
{{- end -}}
{{- if and $temporal.address $temporal.bundled -}}
{{- fail (printf "temporal.address is %q and temporal.bundled is true: leave out one of them" $temporal.address) -}}
{{- end -}}
{{- if and $temporal.tls.enabled $temporal.bundled -}}
{{- fail "temporal.tls.enabled and temporal.bundled are true: the bundled Temporal has no TLS; leave out one of them" -}}
{{- end -}}
{{- if and $temporal.apiKey.secretName $temporal.bundled -}}
{{- fail (printf "temporal.apiKey.secretName is %q and temporal.bundled is true: the bundled Temporal has no TLS and takes no API key; leave out one of them" $temporal.apiKey.secretName) -}}
{{- end -}}
{{- if and $temporal.tls.secretName (not $temporal.tls.enabled) -}}
{{- fail (printf "temporal.tls.secretName is %q and temporal.tls.enabled is false: set temporal.tls.enabled=true" $temporal.tls.secretName) -}}
{{- end -}}
{{- if ne (empty $temporal.tls.certKey) (empty $temporal.tls.keyKey) -}}
{{- fail "temporal.tls.certKey and temporal.tls.keyKey go together: set both, or empty both for no client certificate" -}}
{{- end -}}
{{- if and $temporal.codec.server.enabled (not $temporal.codec.secretName) -}}
{{- fail "temporal.codec.server.enabled is true and temporal.codec.secretName is empty: name the Secret with the keys" -}}
{{- end -}}
{{- if and .Values.watchNamespace .Values.watchNamespaces -}}
{{- fail (printf "watchNamespace is %q and watchNamespaces is %s: leave out one of them" .Values.watchNamespace (toJson .Values.watchNamespaces)) -}}
{{- end -}}
{{- $own := include "etcd-operator.selector" . | fromYaml -}}
{{- range $label, $_ := .Values.podLabels -}}
{{- if hasKey $own $label -}}
{{- fail (printf "podLabels sets %s, by which the Deployment selects its pods: leave it out" $label) -}}
{{- end -}}
{{- end -}}
{{- $names := dict -}}
{{- range include "etcd-operator.environment" . | fromYamlArray -}}
{{- if hasKey $names .name -}}
{{- fail (printf "the variable %s is in env, and set by the chart or given twice: set it by its own value (README.md of the chart), and once" .name) -}}
{{- end -}}
{{- $_ := set $names .name true -}}
{{- end -}}
{{- end -}}
