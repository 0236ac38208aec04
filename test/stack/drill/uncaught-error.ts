/** A fault in an operator that runs: an error that its own event loop throws and nobody catches, put there by Node's inspector. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { poll } from '../poll.ts';

const execute = promisify(execFile);

/** Runs in the network of the pod, where the inspector listens on the loopback. */
const SCRIPT = `
const [{ webSocketDebuggerUrl }] = await (await fetch('http://127.0.0.1:9229/json/list')).json();
const socket = new WebSocket(webSocketDebuggerUrl);
await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }));
const expression = "setTimeout(() => { throw new Error('thrown by a drill'); }); process._debugEnd()";
socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
await new Promise(resolve => Object.assign(socket, { onmessage: resolve, onclose: resolve }));
process.exit(0);
`;

/** @param pid of an operator, as this host sees it */
export async function throwUncaught(pid: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const node = [process.execPath, '--input-type=module', '-e', SCRIPT];
  await poll(async () => {
    await execute('nsenter', ['--target', String(pid), '--net', ...node]);
    return true;
  });
}
