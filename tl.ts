import { Client, Connection } from '@temporalio/client';
import { readFileSync } from 'node:fs';
import { timedActivities } from './test/support/drill/timeline.ts';
const state = JSON.parse(readFileSync(process.env['HOME'] + '/.cache/etcd-operator/stacks/' + process.argv[2] + '/state.json','utf8'));
const connection = await Connection.connect({ address: process.argv[4] ?? state.temporalAddress });
const client = new Client({ connection, namespace: 'etcd-operator' });
const filter = process.argv[3] ?? '';
let n = 0;
for await (const wf of client.workflow.list({ query: filter })) {
  const { events } = await client.workflow.getHandle(wf.workflowId, wf.runId).fetchHistory();
  const all = timedActivities(events ?? []);
  const t0 = wf.startTime.getTime();
  console.log('==', wf.type, wf.workflowId, wf.status.name, wf.startTime.toISOString(), 'until', wf.closeTime?.toISOString());
  for (const a of all) console.log(((a.begun - t0)/1000).toFixed(2).padStart(7), '+wait', ((a.taken-a.begun)/1000).toFixed(2), '+ran', ((a.ended-a.taken)/1000).toFixed(2), a.name, a.about);
  if (++n >= Number(process.env['N'] ?? 4)) break;
}
await connection.close();
