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

it('GET /v1/budgets lists a configured budget that nothing has used, and the unlisted tokens that have', async () => {
  const tokens = [{ name: 'ci', scopes: ['read', 'run'], value: 'x'.repeat(32) }] as const;
  const budgets = { issue: { tokens: 50 }, callers: { nightly: { cost: 1 }, '*': { tokens: 10 } } };
  const { get, post, store, work } = await openServer({ settings: { tokens, budgets } });
  const headers = { authorization: `Bearer ${'x'.repeat(32)}` };
  const list = async () => ((await (await get('/v1/budgets', headers)).json()) as { readonly items: unknown }).items;
  const nightly = { scope: 'caller', name: 'nightly', tokens: null, cost: { limit: 1, used: 0, held: 0 } };
  const issue = { scope: 'issue', name: '', tokens: { limit: 50, used: 0, held: 0 }, cost: null };
  const others = { scope: 'caller', name: '*', tokens: { limit: 10, used: 0, held: 0 }, cost: null };
  expect(await list()).toEqual([nightly, others, issue]);
  const started = await post('/v1/runs', { engine: 'codex', prompt: 'x', workdir: work }, headers);
  const { id } = (await started.json()) as { readonly id: string };
  await store.spendBudget({ run: id, tokens: 7, cost: 0, limits: [] });
  expect(await list()).toEqual([nightly, { ...others, name: 'ci', tokens: { limit: 10, used: 7, held: 7 } }, issue]);
});
