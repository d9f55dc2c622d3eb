import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openListeningServer } from '../fixtures/open-listening-server.js';

const tokens = [{ name: 'ada', scopes: ['read', 'run'], value: 'ada-ada-ada-ada-ada' }] as const;

describe('a request whose body does not arrive', () => {
  it('has its connection closed if it was refused', async () => {
    const { url } = await openListeningServer({ settings: { tokens } });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(
      `POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    let received = '';
    for await (const chunk of socket.setEncoding('utf8')) received += String(chunk);
    expect(received).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('is counted as refused if its client disconnects', async () => {
    const { url, meter } = await openWithMeter();
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      () => socket.destroy(),
    );
    expect(await meter.first).toMatchObject({ endpoint: 'parse', status: 400 });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

/** A server whose first counted request can be awaited. */
async function openWithMeter() {
  let report: (request: unknown) => void = () => undefined;
  const first = new Promise((resolve) => {
    report = resolve;
  });
  const meter = {
    countParse: () => undefined,
    countRequest: (counted: unknown) => report(counted),
    render: async () => '',
  };
  return { ...(await openListeningServer({ meter })), meter: { first } };
}
