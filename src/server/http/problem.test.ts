import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../api/endpoint.js';
import { ENDPOINTS } from '../api/endpoints.js';
import { LEAD_ERROR_CODES, ORDERS_ERROR_CODES, OrdersError } from '../../orders/orders-error.js';
import { RunSpecError } from '../../runs/spec/check-run-spec.js';
import { STORE_ERROR_CODES } from '../../store/store-error.js';
import { describeProblem, STATUS_BY_CODE, RequestError } from './problem.js';

describe('a problem', () => {
  it('has type, title, status, code, request id and a message', () => {
    expect(describeProblem(new RequestError('RUN_NOT_FOUND', 'No such run.'), 'r-1')).toEqual({
      type: 'urn:sluice:problem:RUN_NOT_FOUND',
      title: 'Not found',
      status: 404,
      code: 'RUN_NOT_FOUND',
      detail: 'No such run.',
      request_id: 'r-1',
    });
  });

  it('has the issues and the active run if they are known', () => {
    const spec = new RunSpecError([{ path: ['contract', 0], message: 'no' }]);
    expect(describeProblem(spec, 'r')).toMatchObject({ status: 400, issues: [{ path: 'contract.0', message: 'no' }] });
    const problems = Array.from({ length: 200 }, () => ({ code: 'INVALID_VALUE', message: 'no', path: 'role' }));
    const order = new OrdersError('INVALID_WORK_REQUEST', 'no', { problems });
    expect(describeProblem(order, 'r').issues).toHaveLength(100);
    expect(describeProblem(new RequestError('CONFLICT', 'late', { active_run_id: 'run-2' }), 'r')).toMatchObject({
      active_run_id: 'run-2',
    });
  });

  it.each([new Error('secret'), new TypeError('secret'), 'secret', null, undefined, { code: 'RUN_NOT_FOUND' }])(
    'hides the message of an unknown error: %s',
    (error) => {
      const problem = describeProblem(error, 'r');
      expect(problem).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
      expect(JSON.stringify(problem)).not.toContain('secret');
    },
  );
});

describe('the codes', () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

  it.each(Object.entries<Endpoint>(ENDPOINTS))('listed for %s are known', (_, { problems = [] }) => {
    for (const code of problems) expect(STATUS_BY_CODE).toHaveProperty(code);
  });

  it.each(Object.keys(STATUS_BY_CODE))('%s is documented in docs/errors.md', (code) => {
    expect(page.includes(`| \`${code}\` |`)).toBe(true);
  });

  it('of lower rooms have a status, unless they are never caused by a request', () => {
    const withoutStatus = [
      // Detected when the server starts, or in stored data.
      'INVALID_STORE_URL',
      'STORE_TOO_NEW',
      'STORE_TOO_OLD',
      'UNKNOWN_GIT_FILTER',
      'STORE_INCOMPLETE',
      'STORE_FAILED',
      'STORE_DAMAGED',
      'PACKAGE_MISSING',
      // Only schedules set the rule that causes it.
      'ISSUE_UNDECIDED',
      // Only commands have these errors.
      'BACKUP_FAILED',
      'COPY_UNSUPPORTED',
      'MIGRATION_IN_USE',
      'MIGRATION_FAILED',
      'INVALID_CONFIG',
    ];
    const codes = [...STORE_ERROR_CODES, ...LEAD_ERROR_CODES, ...ORDERS_ERROR_CODES];
    expect(codes.filter((code) => !Object.hasOwn(STATUS_BY_CODE, code)).toSorted()).toEqual(withoutStatus.toSorted());
  });
});
