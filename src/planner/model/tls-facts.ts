/** What is known of the certificates of a cluster that asks for TLS. */
import type { CertificateSource } from '../../api/derived/tls.ts';
import type { CERTIFICATE_FAULTS } from '../../api/obstacles/certificates.ts';
import type { TrustingRole } from '../../objects/trusted.ts';

/** What is known of one certificate and the Secret that holds it. Names and dates, never contents. */
export interface CertificateFacts extends CertificateSource {
  readonly exists: boolean;
  /** Made by the operator for this very cluster. */
  readonly owned: boolean;
  /** Keys that the Secret lacks. */
  readonly missing: readonly string[];
  /** What speaks against what it holds, by key of the Secret; `kind` is a reason of the condition TLSReady. */
  readonly faults: readonly {
    readonly key: string;
    readonly kind: keyof typeof CERTIFICATE_FAULTS;
    readonly detail: string;
  }[];
  /** Fingerprints of the authorities that it holds (objects/trusted.ts); undefined when they cannot be read. */
  readonly authorities?: readonly string[] | undefined;
  /** Of a certificate that members verify: which of the authorities that the Secrets give them have signed it. */
  readonly signers?: readonly string[] | undefined;
  /** The DNS names that it is valid for. */
  readonly dnsNames?: readonly string[] | undefined;
  /** When it expires, RFC 3339; undefined when it cannot be read. */
  readonly notAfter: string | undefined;
  readonly expiresSoon: boolean;
}

/** A Secret of TLS.auto that is to be made, or created again, and why. */
export interface CertificateToIssue {
  readonly secret: string;
  readonly why: string;
  /** What would sign it: its Secret, its fingerprint, and the role whose authorities members verify it with. */
  readonly authority?: {
    readonly secret: string;
    readonly fingerprints: readonly string[];
    readonly role: TrustingRole;
  };
}

/** The certificates of a cluster that asks for TLS. */
export interface TlsFacts {
  readonly certificates: readonly CertificateFacts[];
  readonly toIssue: readonly CertificateToIssue[];
  /** Secrets, and Certificates, of names that are needed and belong to something else. */
  readonly taken: readonly string[];
  /** Secrets of authorities of a cluster that has formed, which are gone or cannot be used: nothing can be renewed. */
  readonly authoritiesLost: readonly string[];
  /** Secrets of authorities that have less than a year left, and when they end (RFC 3339). */
  readonly authoritiesEnding?: readonly { readonly secret: string; readonly notAfter: string }[];
  /**
   * By how many milliseconds the operator's clock is ahead of the API server's (negative: behind), where something would be issued or
   * renewed and they differ so much that neither can be trusted with that.
   */
  readonly clockAheadMs?: number;
  /** With TLS.certManager: what is asked of it, and what has become of that. */
  readonly requests?: CertificateRequests | undefined;
}

/** Certificates of cert-manager.io, by their names, which are those of their Secrets. */
type CertificateRequests =
  /** The Kubernetes cluster does not have the kind. */
  | { readonly served: false }
  | {
      readonly served: true;
      /** To be created, or changed because the first field that is named differs. */
      readonly toRequest: readonly {
        readonly certificate: string;
        readonly why: string;
        /** It was asked of another issuer. */
        readonly otherIssuer?: true;
      }[];
      /** What cert-manager says of those that are not ready, by name. */
      readonly pending: Readonly<Record<string, string>>;
    };
