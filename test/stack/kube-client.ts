import { type ClientOptions, type ClosableKubeClient, createKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { silentLogger } from '../../src/kube/port.ts';

/** Acts as the user whom a kubeconfig names. To be closed, or its connections keep the process alive. */
export function kubeClientOf(
  kubeconfig: string,
  options: Omit<ClientOptions, 'credentials'> = {},
): ClosableKubeClient {
  const credentials = new FileCredentials({ source: { file: kubeconfig }, logger: silentLogger });
  return createKubeClient({ credentials, ...options });
}
