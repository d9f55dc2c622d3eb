import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CERTIFICATE } from '../../../test/postgres/worker-token.js';
import { isOutage } from '../../store/ports/index.js';
import { isSupportedProtocol } from '../handlers/worker.js';
import { connect } from './connection.js';

async function answer(status: number, body: string) {
  const requests: (string | undefined)[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(incoming.headers['sluice-protocol']?.toString());
    outgoing.writeHead(status).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const connection = connect({ url: `http://127.0.0.1:${port}`, token: 't' });
  onTestFinished(() => connection.close());
  return { connection, requests };
}

describe('a connection', () => {
  it.each(['http://sluice.example.org', 'ftp://localhost', 'https://user:word@localhost', 'localhost:7171', ''])(
    'refuses the address "%s"',
    (url) => expect(() => connect({ url, token: 't' })).toThrow(/unencrypted|Invalid server address/),
  );

  it.each(['http://127.0.0.1:7171', 'http://localhost:1', 'http://[::1]:1', 'https://sluice.example.org/base'])(
    'accepts the address "%s"',
    (url) => expect(() => connect({ url, token: 't' }).close()).not.toThrow(),
  );

  it('reports a server that is down, overloaded or behind a broken proxy as an outage', async () => {
    const closed = connect({ url: 'http://127.0.0.1:1', token: 't' });
    onTestFinished(() => closed.close());
    const problem = JSON.stringify({ code: 'SERVER_BUSY', detail: 'Too many requests.' });
    const connections = [closed, (await answer(503, problem)).connection, (await answer(502, '<html>')).connection];
    connections.push((await answer(429, problem)).connection, (await answer(200, 'not JSON')).connection);
    for (const connection of connections) {
      const error: unknown = await connection.send('/x', {}).catch((caught: unknown) => caught);
      expect(isOutage(error)).toBe(true);
    }
  });

  it('says what to do about a certificate whose authority is unknown', async () => {
    const [cert, key] = await Promise.all([CERTIFICATE.cert, CERTIFICATE.key].map(async (file) => readFile(file)));
    const server = createSecureServer({ cert, key }, (_, outgoing) => outgoing.end('{}'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const connection = connect({ url: `https://localhost:${(server.address() as AddressInfo).port}`, token: 't' });
    onTestFinished(() => connection.close());
    await expect(connection.send('/x', {})).rejects.toThrow(
      /certificate.* Name the file of its authority with --ca\.$/,
    );
  });

  it('reports a refusal with the code of the server', async () => {
    const { connection, requests } = await answer(403, JSON.stringify({ code: 'SCOPE_MISSING', detail: 'No.' }));
    await expect(connection.send('/x', {})).rejects.toMatchObject({ code: 'SCOPE_MISSING', message: 'No.' });
    expect(requests).toEqual(['1.0']);
  });
});

it.each([
  ['1.0', '1.0', true],
  ['1.1', '1.0', true],
  ['1.2', '1.3', true],
  ['1.0', '1.1', true],
  ['1.2', '1.0', false],
  ['1.0', '1.2', false],
  ['2.0', '1.0', false],
  ['', '1.0', false],
  ['1', '1.0', false],
])('version %s of the protocol and version %s: %s', (sent, own, isSupported) => {
  expect(isSupportedProtocol(sent, own)).toBe(isSupported);
});
