/** Obstacles that certificates are. Pure data; see catalogue.ts. */
import { type ReasonRows, WAIT } from './rows.ts';

const REISSUE =
  'Write a valid certificate to the Secret that the message names; the operator picks it up automatically.';

/** What can be wrong with what a Secret holds. */
export const CERTIFICATE_FAULTS = {
  Malformed: ['The value of a key in a Secret is not valid PEM.', REISSUE],
  KeyMismatch: ['A private key does not match its certificate.', REISSUE],
  NotTrusted: [
    'A certificate is not signed by the authority that the other side trusts.',
    'Issue the certificate with that authority, or write the correct authority to the Secret.',
  ],
  Expired: ['A certificate has expired.', REISSUE],
  NotYetValid: ['A certificate is not valid yet.', REISSUE],
  WrongNames: [
    'A certificate lacks names under which the members are reached.',
    'Issue it again with the names that the message lists.',
  ],
  WrongUsage: [
    'The extended key usage of a certificate does not allow its purpose.',
    'Issue it again: servers need server auth, clients client auth, peers both.',
  ],
  Unsupported: [
    'A key or a signature has a type that etcd, or the Go version with which it is built, refuses: SHA-1, RSA keys below 1024 bits, curves other than those of NIST, DSA.',
    REISSUE,
  ],
} as const satisfies ReasonRows;

/** With these TLS is not ready. */
export const TLS_OBSTACLES = {
  ...CERTIFICATE_FAULTS,
  Issuing: ['The operator, or cert-manager, is issuing certificates.', WAIT],
  CertManagerMissing: [
    'spec.TLS.certManager is set, but the Kubernetes cluster does not serve cert-manager.io/v1. Existing certificates keep working and are not renewed.',
    'Install cert-manager.',
  ],
  SecretMissing: [
    'A Secret that spec.TLS names does not exist; a new cluster is not created without it.',
    'Create the Secret that the message names, in the namespace of the cluster.',
  ],
  KeyMissing: ['A Secret lacks a key.', 'Add the key that the message names to the Secret.'],
  AuthorityLost: [
    'An authority of TLS.auto is lost: existing certificates keep working and cannot be renewed.',
    'Restore the Secret that the message names from a copy; without one, hibernate the cluster and wake it: it gets a new authority, which clients need too.',
  ],
  AuthorityExchanged: [
    'A certificate is signed by an authority that running members do not trust: they read authorities only when they start. New connections fail. Until this is fixed, nothing is restarted, added or signed.',
    'Restore what the message names, and roll out the new authority to the members first; or hibernate the cluster and resume it.',
  ],
  ModeSwitched: [
    'spec.TLS requests a mode other than the one of the running cluster; nothing is changed.',
    'Restore the previous mode; to switch, create a new cluster and restore a backup into it.',
  ],
} as const satisfies ReasonRows;

/** These stop changes only; the certificates are used meanwhile. */
export const RENEWAL_OBSTACLES = {
  IssuerChanged: [
    'spec.TLS.certManager names an issuer other than the one of the certificates. The operator does not use it while members run, because they would not trust its authority.',
    'Hibernate the cluster and resume it when TLSReady is True; or write the issuer to the Certificates yourself if its authority is the same; or name the previous issuer again.',
  ],
  ClocksDiffer: [
    "Certificates are due, but the clock of the operator's machine differs from the API server's by more than an hour, so nothing is issued or renewed.",
    'Correct the clocks of the machines of the operator and of the API server.',
  ],
} as const satisfies ReasonRows;
