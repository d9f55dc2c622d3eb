import { expect, it } from 'vitest';
import { readJson, openServer } from '../fixtures/open-server.js';

it('GET /v1/engines lists the values that a request may contain', async () => {
  const settings = { commands: ['node'], env: ['OPENAI_*'] };
  const credentials = { user: 'x-access-token', token: 'secret-of-the-forge' };
  const repos = [{ url: 'https://git.example.org/shop.git', push: true, maxBytes: 1, credentials }];
  const { get, work } = await openServer({ settings, repos });
  const offer = await readJson(get('/v1/engines'));
  expect(offer).toMatchObject({ commands: ['node'], env: ['OPENAI_*'], permissions: ['safe', 'workspace', 'ask'] });
  expect(offer['roots']).toEqual([work]);
  expect(offer['engines']).toContainEqual({ name: 'codex', input: 'prompt', can_ask: true, asks_permission: true });
  expect([offer['checks'], offer['repos']]).toEqual([[], ['https://git.example.org/shop.git']]);
  expect(JSON.stringify(offer)).not.toContain(credentials.token);
  expect(offer['engines']).toContainEqual({
    name: 'command',
    input: 'command',
    can_ask: false,
    asks_permission: false,
  });
  expect(offer['engines']).toContainEqual({
    name: 'gemini-acp',
    input: 'prompt',
    can_ask: true,
    asks_permission: true,
  });
  expect(offer['workers']).toContainEqual({ name: 'scripted', type: 'script' });
  expect(offer['workers']).toContainEqual({ name: 'codex-cli', type: 'codex-cli' });
});

it('GET /v1/engines lists all configured permissions, and lists a wrapper that is named like an agent only once', async () => {
  const wrappers = { 'codex-cli': { type: 'codex-cli', permissions: 'safe' } } as const;
  const { get } = await openServer({ wrappers, settings: { allowBypass: true } });
  const offer = await readJson(get('/v1/engines'));
  expect(offer['permissions']).toEqual(['safe', 'workspace', 'bypass', 'ask']);
  const names = (offer['workers'] as { name: string }[]).map(({ name }) => name);
  expect(names.filter((name) => name === 'codex-cli')).toHaveLength(1);
});
