import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  sampleDecision,
  sampleExecution,
  NOW,
  sampleSettlement,
  sampleSubmission,
} from '../../store/contract/fixtures/order-samples.js';
import type { ExecutionRecord } from '../../store/records/order-record.js';
import { formatCsvCell } from '../export/export-executions.js';
import { openServer } from '../fixtures/open-server.js';

async function openExecutions(rows: readonly Partial<ExecutionRecord>[]) {
  const server = await openServer({ clock: () => NOW });
  for (const [index, change] of rows.entries()) {
    const { record } = await server.store.submitOrder(sampleSubmission({ issue_ref: `local#${index}` }));
    const execution = sampleExecution(record, sampleDecision('advance'), change);
    await server.store.settleOrder(sampleSettlement(record, 'advance', { execution }));
  }
  return server;
}

/** The cells of a CSV file, parsed according to RFC 4180. */
function readCsv(text: string): string[][] {
  const rows = text.match(/(?:"(?:[^"]|"")*"|[^"\r\n])*\r\n/g) ?? [];
  expect(rows.join('')).toBe(text);
  return rows.map((row) =>
    [...row.slice(0, -2).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
    ),
  );
}

describe('the executions export', () => {
  it('is a table with a row for every execution, newest first', async () => {
    const { get } = await openExecutions([{ reason: 'one, "two"\nthree' }, { exit_code: -1, command: ['a', 'b c'] }]);
    const response = await get('/v1/executions/export');
    expect(response.headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/);
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="sluice-audit-2026-11-15.csv"');
    const [columns = [], ...rows] = readCsv(await response.text());
    const column = (name: string) => rows.map((row) => row[columns.indexOf(name)]);
    expect(column('issue_ref')).toEqual(['local#1', 'local#0']);
    expect(column('reason')[1]).toBe('one, "two"\nthree');
    expect(column('exit_code')).toEqual(['-1', '0']);
    expect(column('command')[0]).toBe('["a","b c"]');
    expect(column('signal')).toEqual(['', '']);
  });

  it('has a line of JSON for every execution if NDJSON is requested', async () => {
    const { get, store } = await openExecutions([{}, {}]);
    const response = await get('/v1/executions/export?format=ndjson');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await response.text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual((await store.listExecutions({})).items);
  });

  it('has the same rows as the list with the same filters', async () => {
    const { get } = await openExecutions([{ worker: 'a' }, { worker: 'b' }]);
    const rows = async (query: string) =>
      (await (await get(`/v1/executions/export?format=ndjson&${query}`)).text()).split('\n').length - 1;
    expect(await rows('worker=a')).toBe(1);
    expect(await rows('since=2026-11-16')).toBe(0);
    expect(await rows('decision=advance&until=2026-11-16')).toBe(2);
    expect((await get('/v1/executions/export?format=pdf')).status).toBe(400);
    expect((await get('/v1/executions/export?limit=1')).status).toBe(400);
  });

  it('is loaded page by page', async () => {
    const { get } = await openExecutions(Array.from({ length: 520 }, () => ({})));
    const response = await get('/v1/executions/export?format=ndjson');
    const ids = (await response.text()).trimEnd().split('\n');
    expect(new Set(ids).size).toBe(520);
  });

  it('contains no formulas', async () => {
    const { get } = await openExecutions([
      { reason: '=HYPERLINK("http://evil.example")', worker: '@x', result_code: '-1' },
    ]);
    const [columns = [], row = []] = readCsv(await (await get('/v1/executions/export')).text());
    expect(row[columns.indexOf('reason')]).toBe(`'=HYPERLINK("http://evil.example")`);
    expect([row[columns.indexOf('worker')], row[columns.indexOf('result_code')]]).toEqual(["'@x", "'-1"]);
  });
});

describe('a cell', () => {
  it('contains any text in full, and no cell starts like a formula', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('=', '"', ',', '\n', '\r', '\t', 'a') })),
        (text) => {
          const [[cell = ''] = []] = readCsv(`${formatCsvCell(text)}\r\n`);
          expect(cell).not.toMatch(/^[=+\-@\t\r\n]/);
          expect(cell.replace(/^'/, '')).toBe(text.replace(/^'/, '').replaceAll('\0', '\u{FFFD}'));
        },
      ),
    );
  });

  it('keeps numbers as numbers', () => {
    expect([formatCsvCell(-1), formatCsvCell(12.5), formatCsvCell(null), formatCsvCell([1])]).toEqual([
      '-1',
      '12.5',
      '',
      '"[1]"',
    ]);
  });
});
