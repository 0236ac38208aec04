/** What to do about an object that the API server does not take, by the words with which each of its admission plugins refuses. Pure. */

const SPECIFICATION = 'correct what the message objects to in the specification';

/** How each plugin begins, and what helps. `$1`: the name of what refuses. */
const WAYS: readonly (readonly [RegExp, string])[] = [
  // plugin/pkg/admission/resourcequota/controller.go
  [
    /exceeded quota: ([^\s,]+),/,
    'raise ResourceQuota $1, or delete something else that it counts, or ask for less in the specification',
  ],
  [
    /failed quota: ([^\s,:]+):/,
    'set the requests and limits that ResourceQuota $1 demands in spec.pod.resources',
  ],
  // plugin/pkg/admission/limitranger/admission.go
  [
    /(?:minimum|maximum) \S+ usage per \w+ is|max limit to request ratio per \w+ is/,
    'change the LimitRange of the namespace, or the resources that the specification asks for',
  ],
  // k8s.io/apiserver/pkg/admission/plugin/policy/validating
  [
    /ValidatingAdmissionPolicy '([^']+)'/,
    'change ValidatingAdmissionPolicy $1, or what it objects to in the specification',
  ],
  // k8s.io/apiserver/pkg/admission/plugin/webhook/errors
  [
    /admission webhook "([^"]+)" denied/,
    'change what webhook $1 demands, or what it objects to in the specification',
  ],
  [
    /violates PodSecurity/,
    'set spec.pod.securityContext as the level demands, or change the level of the namespace (label pod-security.kubernetes.io/enforce)',
  ],
  [/no PriorityClass with name/, 'create the PriorityClass, or name another one in the specification'],
  [/ cannot (?:create|update|patch|delete) resource /, 'give the service account of the operator this right'],
  [/ is invalid: /, SPECIFICATION],
];

/** The refusal, and what to do about it where that can be known. */
export function withWayOn(message: string): string {
  for (const [words, way] of WAYS) {
    const found = words.exec(message);
    if (found !== null) return `${message}; to go on, ${way.replace('$1', found[1] ?? '')}`;
  }
  return message;
}
