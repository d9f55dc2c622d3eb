import { expect, test } from 'vitest';
import { checkOrderForm, fillOrderForm, EMPTY_ORDER_FORM } from './order-form.js';
import type { OrderForm } from './order-form.js';

const form = (changes: Partial<OrderForm>): OrderForm => ({
  ...EMPTY_ORDER_FORM,
  issueRef: 'acme/shop#12',
  role: 'backend',
  worker: 'codex-cli',
  repository: '/srv/shop',
  instructions: 'Keep the order of the list.',
  ...changes,
});

const SHOP = 'https://git.example.org/shop.git';

test('a repository is sent as a URL or as a folder, and is restored to its field', () => {
  const { request, errors } = checkOrderForm(form({ repository: ` ${SHOP} ` }), [SHOP]);
  expect([request.repo, request.repo_dir, errors]).toEqual([SHOP, undefined, {}]);
  // The stored order has the URL in both fields until a worker has a worktree for it.
  expect(fillOrderForm({ ...request, repo_dir: SHOP }).repository).toBe(SHOP);
});

test('an unconfigured URL is refused with the configured ones, and only once they are known', () => {
  const unknown = form({ repository: 'ssh://git@git.example.org/other.git' });
  expect(checkOrderForm(unknown, [SHOP]).errors.repository).toBe(
    `This repository is not configured. Add its URL to "repos" in the configuration. Configured: ${SHOP}.`,
  );
  expect(checkOrderForm(unknown, []).errors.repository).toContain('None are configured.');
  expect(checkOrderForm(unknown).errors).toEqual({});
});

test('a form with only the required fields becomes a minimal request', () => {
  expect(checkOrderForm(form({}))).toEqual({
    request: {
      issue_ref: 'acme/shop#12',
      role: 'backend',
      worker: 'codex-cli',
      repo_dir: '/srv/shop',
      instructions: 'Keep the order of the list.',
    },
    errors: {},
  });
});

test('an earlier order passes through the form unchanged, without its run', () => {
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
  const { request, errors } = checkOrderForm(form({ race }));
  expect(errors).toEqual({});
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
  ['repository', { repository: 'shop' }],
  ['repository', { repository: 'https://git.example.org/other.git' }],
  ['isolation', { repository: SHOP, isolation: 'repository' }],
  ['instructions', { instructions: '\n' }],
  ['priority', { priority: '1001' }],
] as const)('an error in %s is shown only there', (field, changes) => {
  expect(Object.keys(checkOrderForm(form(changes), [SHOP]).errors)).toEqual([field]);
});
