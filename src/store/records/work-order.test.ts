import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { WORK_ORDER_SCHEMA, WORK_REQUEST_SCHEMA } from './work-order.js';
import type { WorkOrder, WorkRequest } from './work-order.js';
import { WORK_RESULT_SCHEMA } from './work-result.js';
import type { WorkResult } from './work-result.js';

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });

describe('the order and result schemas', () => {
  test('match the published files', async () => {
    const print = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;
    await expect(print(WORK_ORDER_SCHEMA)).toMatchFileSnapshot('../../../schemas/work-order.json');
    await expect(print(WORK_RESULT_SCHEMA)).toMatchFileSnapshot('../../../schemas/work-result.json');
  });

  test("define an order as a request with a folder, a run id and a retry's starting point", () => {
    const { run_id: _, start_commit: __, start_run: ___, start_folder: ____, ...fields } = WORK_ORDER_SCHEMA.properties;
    expect(fields).toEqual(WORK_REQUEST_SCHEMA.properties);
    expect(WORK_ORDER_SCHEMA.required).toEqual([...WORK_REQUEST_SCHEMA.required, 'repo_dir', 'run_id']);
  });

  test('define the types', () => {
    expectTypeOf<WorkOrder>().toExtend<WorkRequest>();
    expectTypeOf<WorkOrder['depends_on']>().toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf<WorkResult['status']>().toEqualTypeOf<'ok' | 'fail' | 'blocked'>();
    expectTypeOf<WorkResult['changes']>().toEqualTypeOf<{ readonly pr?: string; readonly commit?: string }>();
    expectTypeOf<WorkResult['tests']>().toEqualTypeOf<
      | {
          readonly command: string;
          readonly result: 'pass' | 'fail' | 'n/a' | 'not_run' | 'not_recognised';
          readonly evidence: string;
        }
      | 'n/a'
      | undefined
    >();
  });

  test('require tests unless the status is blocked', () => {
    const validate = ajv.compile(WORK_RESULT_SCHEMA);
    const result = { issue_ref: 'a/b#1', run_id: '2026-11-15-qa-0001', changes: {}, summary: '' };
    expect(validate({ ...result, status: 'blocked' })).toBe(true);
    expect(validate({ ...result, status: 'ok' })).toBe(false);
    expect(validate({ ...result, status: 'ok', tests: 'n/a' })).toBe(true);
    expect(validate({ ...result, status: 'ok', tests: 'none' })).toBe(false);
  });

  test.each([
    ['pass', true],
    ['fail', true],
    ['n/a', true],
    ['not_run', false],
    ['not_recognised', false],
  ])('accept only pass, fail and n/a as test results: %s', (outcome, isAccepted) => {
    const validate = ajv.compile(WORK_RESULT_SCHEMA);
    const tests = { command: 'npm test', result: outcome, evidence: '' };
    const result = { issue_ref: 'a/b#1', run_id: '2026-11-15-qa-0001', status: 'ok', changes: {}, tests, summary: '' };
    expect(validate(result)).toBe(isAccepted);
  });
});
