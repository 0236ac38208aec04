/** Metrics of the files with which Temporal is reached. */
import { Gauge, type Registry } from 'prom-client';

export interface TemporalMetrics {
  /** Whether the files of certificates or of the API key for Temporal hold something else than what is in use. */
  readonly temporalCertificates: (isOutdated: boolean) => void;
  /** Whether the files of keys for payloads hold something that cannot be used. */
  readonly codecKeys: (isOutdated: boolean) => void;
}

export function temporalMetrics(registry: Registry, prefix: string): TemporalMetrics {
  const certificates = new Gauge({
    name: `${prefix}temporal_certificates_outdated`,
    help: '1 while the files of certificates or of the API key for Temporal hold something else than what is in use: half of a pair, or what Temporal does not let the operator in with. Worth an alert when it lasts.',
    registers: [registry],
  });
  const keys = new Gauge({
    name: `${prefix}temporal_codec_keys_outdated`,
    help: '1 while the files of keys for payloads hold something that cannot be used, so that the former keys stay in use. Worth an alert when it lasts.',
    registers: [registry],
  });
  return {
    temporalCertificates: isOutdated => certificates.set(isOutdated ? 1 : 0),
    codecKeys: isOutdated => keys.set(isOutdated ? 1 : 0),
  };
}
