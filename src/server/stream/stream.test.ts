import { createServer as createTcpServer } from 'node:net';
import { EventSource } from 'eventsource';
import { HttpAgent } from '@ag-ui/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../listen.js';
import { openServer } from '../fixtures/open-server.js';
import { startToldRun } from '../fixtures/told-run.js';

void createTcpServer;

async function open() {
  const server = await openServer();
  const listening = await listen(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    server.end();
    await listening.close(0);
  });
  return { ...server, url: listening.url };
}

describe('a stream', () => {
  it('EventSource', async () => {
    const { store, url } = await open();
    const run = await startToldRun(store, 'run-1');
    await run.tell(4);
    const source = new EventSource(`${url}/v1/runs/run-1/events`);
    const seen: string[] = [];
    source.addEventListener('message', (e) => void seen.push(e.lastEventId));
    const ended = new Promise<string>((resolve) => {
      source.addEventListener('end', (e) => {
        source.close();
        resolve(String(e.data));
      });
    });
    await run.tell(2);
    await run.tell();
    await run.end();
    expect(await ended).toBe('{"status":"success"}');
    expect(seen).toEqual(run.events.filter(({ protocol }) => protocol === 'fcmp').map(({ event }) => String(event.seq)));
    const again = await fetch(`${url}/v1/runs/run-1/events`, { headers: { 'last-event-id': seen.at(-1) ?? '' } });
    expect(again.status).toBe(204);
    const text = await (await fetch(`${url}/v1/runs/run-1/events?protocol=agui`)).text();
    console.log(text);
    const agent = new HttpAgent({ url: `${url}/v1/runs/run-1/events?protocol=agui` });
    const types: string[] = [];
    const result = await agent.runAgent({}, { onEvent: ({ event }) => void types.push(event.type) });
    console.log(types, result);
  });
});
