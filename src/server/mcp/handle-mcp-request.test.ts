import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/index.js';
import type { Client } from '../client/index.js';
import { handleMcpRequest } from './index.js';

describe('handleMcpRequest', () => {
  it('calls no tool for a client with an older protocol revision that has already disconnected', async () => {
    let calls = 0;
    const client = { getSession: async () => ({ scopes: [`scope ${(calls += 1)}`] }) } as unknown as Client;
    const post = {
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      signal: AbortSignal.abort(),
    };
    const session = { client, mayDecide: false, logger: silentLogger };
    await expect(handleMcpRequest(session, post)).rejects.toThrow(/abort/u);
    expect(calls).toBe(0);
  });
});
