import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { claimRuns } from '../../orders/dispatch/index.js';
import { WORKER_PROTOCOL } from '../api/index.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { connect } from './connection.js';
import { openRemotePorts } from './remote-store.js';

const TOKEN = 'a-worker-token-with-32-characters';
const [MAJOR = 0, MINOR = 0] = WORKER_PROTOCOL.split('.').map(Number);

/** How the other side differs: its version, and whether it adds fields to its messages. */
interface Difference {
  readonly worker: string;
  readonly isWorkerNewer?: boolean;
  readonly isServerNewer?: boolean;
}

const addField = (text: string): string => JSON.stringify({ ...(JSON.parse(text) as object), added_later: { x: [1] } });
const addToLines = (text: string): string =>
  text.replaceAll(/^data: (.*)$/gm, (_, json: string) => `data: ${addField(json)}`);

/** Starts a relay that changes the messages between a worker and a server as other versions would write them. */
async function relay(target: string, { worker, isWorkerNewer, isServerNewer }: Difference): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const sent = (await buffer(incoming)).toString();
      const body = isWorkerNewer === true ? addField(sent) : sent;
      const headers = { ...incoming.headers, 'sluice-protocol': worker, 'content-length': Buffer.byteLength(body) };
      const forwarded = send(new URL(incoming.url ?? '', target), { method: 'POST', headers });
      outgoing.once('close', () => forwarded.destroy());
      forwarded.on('error', () => outgoing.destroy()).end(body);
      const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
      const change = isServerNewer === true ? addToLines : String;
      if (response.headers['content-type']?.startsWith('text/event-stream') === true) {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        response.setEncoding('utf8').on('data', (text: string) => outgoing.write(change(text)));
        response.once('close', () => outgoing.end());
        return;
      }
      const answer = (await buffer(response)).toString();
      outgoing.writeHead(response.statusCode ?? 500).end(isServerNewer === true ? addField(answer) : answer);
    })().catch(() => outgoing.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each<Difference & { readonly who: string }>([
  { who: 'a newer worker', worker: `${MAJOR}.${MINOR + 1}`, isWorkerNewer: true },
  { who: 'a newer server', worker: `${MAJOR}.${MINOR}`, isServerNewer: true },
])('$who executes a run from its claim to its end', async (difference) => {
  const { url, store, work } = await openListeningServer({
    settings: { tokens: [{ name: 'fleet', scopes: ['worker'], value: TOKEN }] },
    work: { leaseMs: 3000 },
  });
  const data = await makeFolder({});
  const connection = connect({ url: await relay(url, difference), token: TOKEN });
  const self = { host: 'elsewhere', version: '0.0.0', engines: [] };
  const remote = await openRemotePorts({ connection, data, filters: {}, token: TOKEN }, self);
  onTestFinished(() => remote.close());
  const worker = claimRuns({ ...remote, runs: { data }, leaseMs: 3000 });
  onTestFinished(async () => worker.stop({ graceMs: 0 }));
  // Once it is idle, it gets its run through the stream.
  await expect.poll(async () => (await store.listWorkers(store.now())).length).toBe(1);
  const spec = { engine: 'command', command: ['/bin/sh', '-c', 'sleep 0.3; echo done'], workdir: work } as const;
  await store.createRun({ id: 'run-1', spec, state: 'queued', now: store.now() });
  await expect.poll(async () => (await store.findRun('run-1'))?.result?.status).toBe('success');
  const events = await store.read({ runId: 'run-1', protocol: 'fcmp', limit: 100 });
  expect(events.at(-1)?.event).toMatchObject({ type: 'conversation.completed' });
});

it('refuses a worker that is two versions apart', async () => {
  const { url } = await openListeningServer({
    settings: { tokens: [{ name: 'fleet', scopes: ['worker'], value: TOKEN }] },
  });
  const connection = connect({ url: await relay(url, { worker: `${MAJOR}.${MINOR + 2}` }), token: TOKEN });
  onTestFinished(() => connection.close());
  const report = { id: 'x', host: 'x', version: '0', engines: [], capacity: 0, busy: 0, state: 'starting' };
  await expect(connection.send('/v1/worker/report', report)).rejects.toMatchObject({ code: 'PROTOCOL_UNSUPPORTED' });
});

it('names the header with the version if a request lacks it', async () => {
  const { url } = await openListeningServer({
    settings: { tokens: [{ name: 'fleet', scopes: ['worker'], value: TOKEN }] },
  });
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const refused = await fetch(`${url}/v1/worker/place`, { method: 'POST', headers, body: '{}' });
  expect(await refused.json()).toMatchObject({
    code: 'PROTOCOL_UNSUPPORTED',
    detail: expect.stringMatching(
      /^The header "sluice-protocol" names version "".*this server speaks \d+\.\d+\./,
    ) as unknown,
  });
});
