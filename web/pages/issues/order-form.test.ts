import { expect, test } from 'vitest';
import { checkOrderForm, EMPTY_ORDER_FORM, fillOrderForm } from './order-form.js';
import type { OrderForm } from './order-form.js';

const form = (changes: Partial<OrderForm>): OrderForm => ({
  ...EMPTY_ORDER_FORM,
  issueRef: 'acme/shop#12',
  role: 'backend',
  worker: 'codex-cli',
  repoDir: '/srv/shop',
  instructions: 'Keep the order of the list.',
  ...changes,
});

test('a form with the least becomes the least request', () => {
  expect(checkOrderForm(form({}))).toEqual({
    request: {
      issue_ref: 'acme/shop#12',
      role: 'backend',
      worker: 'codex-cli',
      repo_dir: '/srv/shop',
      instructions: 'Keep the order of the list.',
    },
    wrong: {},
  });
});

test('an order that was given comes out of the form as it went in, without its run', () => {
  const order = {
    ...checkOrderForm(form({})).request,
    constraints: ['No new dependency.', 'Tests stay.'],
    spec_ref: 'docs/spec.md',
    contracts_ref: 'docs/api.md',
    depends_on: ['acme/shop#7'],
    priority: 5,
    isolation: 'worktree',
    checks: ['unit', 'lint'],
    paths: ['src/**'],
    expects: 'report',
    race: ['codex-cli', 'claude-code'],
  };
  expect(
    checkOrderForm(fillOrderForm({ ...order, run_id: '2026-11-15-backend-0001', request_id: 'x' })).request,
  ).toEqual(order);
});

test.each([
  ['default', undefined],
  ['repository', 'repository'],
  ['worktree', 'worktree'],
])('isolation %s is sent as %s', (isolation, expected) => {
  const { request } = checkOrderForm(form({ isolation }));
  expect(request?.isolation).toBe(expected);
  expect(fillOrderForm({ ...request }).isolation).toBe(isolation);
});

test.each([
  ['', undefined],
  ['3', 3],
  [' codex-cli , claude-code', ['codex-cli', 'claude-code']],
])('race %j is sent as %j', (race, expected) => {
  const { request, wrong } = checkOrderForm(form({ race }));
  expect(wrong).toEqual({});
  expect(request.race).toEqual(expected);
  expect(checkOrderForm(fillOrderForm({ ...request })).request).toEqual(request);
});

test.each([
  ['race', { race: '1' }],
  ['race', { race: '9' }],
  ['race', { race: 'codex-cli' }],
  ['race', { race: 'codex-cli,' }],
  ['issueRef', { issueRef: 'shop 12' }],
  ['role', { role: 'a role' }],
  ['worker', { worker: '' }],
  ['repoDir', { repoDir: 'shop' }],
  ['instructions', { instructions: '\n' }],
  ['priority', { priority: '1001' }],
] as const)('what is wrong with %s is said there alone', (field, changes) => {
  expect(Object.keys(checkOrderForm(form(changes)).wrong)).toEqual([field]);
});
