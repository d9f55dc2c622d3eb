import { expect, it } from 'vitest';
import { openServer } from '../fixtures/open-server.js';

it('GET /v1/budgets shows budget usage, and counts a run for the token that requested it', async () => {
  const tokens = [{ name: 'ci', scopes: ['read', 'run'], value: 'x'.repeat(32) }] as const;
  const budgets = { day: { tokens: 100, cost: 2 }, callers: { ci: { tokens: 10 } } };
  const { get, post, store, work } = await openServer({ settings: { tokens, budgets } });
  const headers = { authorization: `Bearer ${'x'.repeat(32)}` };
  const started = await post('/v1/runs', { engine: 'codex', prompt: 'x', workdir: work }, headers);
  const { id } = (await started.json()) as { readonly id: string };
  expect(await store.findRequest(id)).toEqual({ caller: 'ci', issueRef: null });
  await store.spendBudget({ run: id, tokens: 7, cost: 0.5, limits: [] });
  expect(await (await get('/v1/budgets', headers)).json()).toEqual({
    items: [
      {
        scope: 'day',
        name: '',
        tokens: { limit: 100, used: 7, held: 7 },
        cost: { limit: 2, used: 0.5, held: 0.5 },
      },
      { scope: 'caller', name: 'ci', tokens: { limit: 10, used: 7, held: 7 }, cost: null },
    ],
    waiting: [],
  });
});
