/** Secrets with credentials that stores of each type accept as they are written, and that no store knows. */
export const SECRETS = {
  S3: { credentials: '[default]\naws_access_key_id = some-id\naws_secret_access_key = some-key\n' },
  ABS: { 'storage-account': 'some', 'storage-key': Buffer.from('some key').toString('base64') },
  GCS: { 'access-token': 'some-token' },
  OSS: { accessKeyID: 'some-id', accessKeySecret: 'some-key' },
} as const;
