import { expect, test } from 'vitest';
import { buildExportUrl, readExecutionFilter } from './executions-page.js';

const read = (text: string) => readExecutionFilter(new URLSearchParams(text));

test('an address without filters requests everything', () => {
  expect(read('row=1&decision=&worker=+')).toEqual({});
});

test('every filter in the address is applied', () => {
  expect(read('issue_ref=acme/shop%237&run_id=r&worker=codex-cli&decision=blocked')).toEqual({
    issue_ref: 'acme/shop#7',
    run_id: 'r',
    worker: 'codex-cli',
    decision: 'blocked',
  });
});

test('days are local and include the whole last day', () => {
  expect(read('from=2026-11-14&to=2026-11-15')).toEqual({
    since: new Date(2026, 10, 14).toISOString(),
    until: new Date(2026, 10, 16).toISOString(),
  });
});

test.each(['to=2026-11', 'from=0000-01-01', 'decision=maybe'])('%s is ignored', (text) => {
  expect(read(text)).toEqual({});
});

test('the export URL has the same filters as the list', () => {
  expect(buildExportUrl(read('issue_ref=acme/shop%237'), 'csv')).toBe(
    '/v1/executions/export?format=csv&issue_ref=acme%2Fshop%237',
  );
});
