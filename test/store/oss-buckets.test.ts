/** The bucket becomes a part of the host that requests for OSS are signed and sent to. */
import { expect, it } from 'vitest';
import { AllowedAddresses } from '../../src/store/addresses.ts';
import { openStore } from '../../src/store/open.ts';

const SECRET = { accessKeyID: 'an-id', accessKeySecret: 'a-secret' };
const opened = (bucket: string, endpoint?: string) =>
  openStore({ type: 'OSS', path: `${bucket}/key`, ...(endpoint !== undefined && { endpoint }) }, SECRET, {
    secretHosts: new AllowedAddresses([]),
  });

it.each([
  'evil.example#',
  'evil.example?',
  'evil.example\\',
  'x@evil.example',
  'evil.example:80@x',
  'evil.example%2f',
  'Bucket',
  '-a-',
  'a b',
  'a\n',
  'x'.repeat(64),
])('the bucket %j is refused before anything is sent', async bucket => {
  for (const endpoint of [undefined, 'oss-eu-central-1.aliyuncs.com', 'https://oss-cn-beijing.aliyuncs.com'])
    await expect(opened(bucket, endpoint)).rejects.toThrow(/is not a valid OSS bucket name/);
});

it('buckets as OSS names them are taken', async () => {
  for (const bucket of ['abc', 'backups-2', '0-a', 'x'.repeat(63)]) await (await opened(bucket)).close();
});
