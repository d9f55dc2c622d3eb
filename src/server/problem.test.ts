import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../api/endpoint.js';
import { ENDPOINTS } from '../api/endpoints.js';
import { LEAD_ERROR_CODES } from '../orders/lead/lead-error.js';
import { ORDERS_ERROR_CODES, OrdersError } from '../orders/orders-error.js';
import { RunSpecError } from '../runs/spec/check-run-spec.js';
import { STORE_ERROR_CODES } from '../store/store-error.js';
import { LateDecision } from './late-decision.js';
import { problemOf, STATUS_OF_CODE } from './problem.js';
import { RequestError } from './request-error.js';

describe('a problem', () => {
  it('has type, title, status, code, request id and a sentence', () => {
    expect(problemOf(new RequestError('RUN_NOT_FOUND', 'There is no such run.'), 'r-1')).toEqual({
      type: 'urn:sluice:problem:RUN_NOT_FOUND',
      title: 'Not found',
      status: 404,
      code: 'RUN_NOT_FOUND',
      detail: 'There is no such run.',
      request_id: 'r-1',
    });
  });

  it('carries what is known beside the sentence', () => {
    const spec = new RunSpecError([{ path: ['contract', 0], message: 'no' }]);
    expect(problemOf(spec, 'r')).toMatchObject({ status: 400, issues: [{ path: 'contract.0', message: 'no' }] });
    const problems = Array.from({ length: 200 }, () => ({ code: 'INVALID_VALUE', message: 'no', path: 'role' }));
    const order = new OrdersError('INVALID_WORK_REQUEST', 'no', { problems });
    expect(problemOf(order, 'r').issues).toHaveLength(100);
    expect(problemOf(new LateDecision(new Error('late'), 'run-2'), 'r')).toMatchObject({ active_run_id: 'run-2' });
  });

  it.each([new Error('secret'), new TypeError('secret'), 'secret', null, undefined, { code: 'RUN_NOT_FOUND' }])(
    'tells nothing of what it does not know: %s',
    (thrown) => {
      const problem = problemOf(thrown, 'r');
      expect(problem).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
      expect(JSON.stringify(problem)).not.toContain('secret');
    },
  );
});

describe('the codes', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

  it.each(Object.entries<Endpoint>(ENDPOINTS))('that %s names are known', (_, { problems = [] }) => {
    for (const code of problems) expect(STATUS_OF_CODE).toHaveProperty(code);
  });

  it.each(Object.keys(STATUS_OF_CODE))('%s is on the page', (code) => {
    expect(page.includes(`| \`${code}\` |`)).toBe(true);
  });

  it('of the floors below have a status, or are no caller’s fault', () => {
    const ours = [
      // Found when the server starts, or in what it has stored.
      'INVALID_STORE_URL',
      'STORE_TOO_NEW',
      'STORE_FAILED',
      'STORE_DAMAGED',
      'PACKAGE_MISSING',
      // Of commands that have no path here.
      'BACKUP_EXISTS',
      'BACKUP_FAILED',
      'BACKUP_UNSUPPORTED',
      'INVALID_WORK_ORDER',
      'INVALID_WRAPPERS',
    ];
    const codes = [...STORE_ERROR_CODES, ...LEAD_ERROR_CODES, ...ORDERS_ERROR_CODES];
    expect(codes.filter((code) => !Object.hasOwn(STATUS_OF_CODE, code)).toSorted()).toEqual(ours.toSorted());
  });
});
