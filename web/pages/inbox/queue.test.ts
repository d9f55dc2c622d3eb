import { describe, expect, test } from 'vitest';
import type { WaitingEntry } from '../../../src/server/api/index.js';
import { describeAction, findDenial, findNext, groupEntries, listBulkActions, searchEntries } from './queue.js';
import { getEntryText } from '../../data/waiting.js';

const AT = '2026-11-15T06:30:00.000Z';
const createRunFields = {
  at: AT,
  run: 'r1',
  engine: 'codex',
  task: 'Paint the shed.',
  issue_ref: null,
  interaction_id: 'q1',
  seq: 4,
  held_until: AT,
  expires_at: AT,
};
const QUESTION: WaitingEntry = { kind: 'question', id: 'q', text: 'Green or blue?', options: [], ...createRunFields };
const PERMISSION: Extract<WaitingEntry, { kind: 'permission' }> = {
  kind: 'permission',
  id: 'p',
  text: 'Allow bash?',
  tool: 'bash',
  command: null,
  changes: [],
  options: [
    { id: 'always', label: 'Always', kind: 'allow_always' },
    { id: 'once', label: 'Once', kind: 'allow_once' },
    { id: 'never', label: 'Never', kind: 'reject_always' },
    { id: 'no', label: 'No', kind: 'reject_once' },
  ],
  ...createRunFields,
};
const SINK: WaitingEntry = {
  kind: 'sink',
  id: 's',
  at: AT,
  text: '401',
  sink: 'hook',
  state: 'broken',
  open: 1,
  dead: 2,
};
const result = (id: string, acceptable: boolean): WaitingEntry => ({
  kind: 'result',
  id,
  at: AT,
  text: 'No result file.',
  run: 'r2',
  run_id: '2026-11-15-dev-0001',
  issue_ref: 'acme/shop#7',
  code: 'output_missing',
  next: 'Retry.',
  acceptable,
});

describe('the queue', () => {
  test('is grouped: waiting agents, deliveries, results', () => {
    const groups = groupEntries([result('a', true), SINK, QUESTION, PERMISSION]);
    expect(groups.map(({ title, entries }) => [title, entries.map(({ id }) => id).join(' ')])).toEqual([
      ['Waiting agents', 'q p'],
      ['Deliveries', 's'],
      ['Results to review', 'a'],
    ]);
  });

  test('is searched for all words, ignoring case', () => {
    const allEntries = [QUESTION, PERMISSION, SINK, result('a', true)];
    expect(searchEntries(allEntries, ' SHED green ').map(({ id }) => id)).toEqual(['q']);
    expect(searchEntries(allEntries, 'output_missing')).toHaveLength(1);
    expect(searchEntries(allEntries, '')).toBe(allEntries);
  });

  test('offers the actions that all selected entries have in common', () => {
    expect(listBulkActions([result('a', true), result('b', false)])).toEqual(['retry', 'reject']);
    expect(listBulkActions([result('a', true)])).toEqual(['accept', 'retry', 'reject']);
    expect(listBulkActions([PERMISSION])).toEqual(['deny']);
    expect(listBulkActions([SINK, result('a', true)])).toEqual([]);
    expect(listBulkActions([QUESTION])).toEqual([]);
    expect(listBulkActions([])).toEqual([]);
  });

  test('denies a permission request once, or not at all', () => {
    expect(findDenial(PERMISSION)).toMatchObject({ id: 'no' });
    expect(findDenial({ ...PERMISSION, options: PERMISSION.options.slice(0, 3) })).toBeUndefined();
  });

  test.each([
    [{ command: 'npm\ntest' }, 'Wants to run npm test'],
    [{ changes: [{ path: 'src/total.ts', added: 3, removed: 3 }] }, 'Wants to edit src/total.ts, +3 −3'],
    [
      {
        changes: [
          { path: 'a.ts', added: 1, removed: 0 },
          { path: 'b.ts', added: 2, removed: 5 },
        ],
      },
      'Wants to edit 2 files (a.ts, …), +3 −5',
    ],
    [{ changes: [{ path: 'a.ts', added: null, removed: null }] }, 'Wants to edit a.ts, too long to count'],
    [{}, 'Wants to use bash'],
  ])('describes a permission request in words: %o', (fields, text) => {
    expect(getEntryText({ ...PERMISSION, ...fields })).toBe(text);
  });

  test('continues with the next entry that is not decided yet, and starts over at the end', () => {
    const entries = [SINK, QUESTION, result('a', true)];
    expect(findNext(entries, 's', new Set(['s', 'q']))?.id).toBe('a');
    expect(findNext(entries, 'a', new Set(['a']))?.id).toBe('s');
    expect(findNext(entries, 'gone', new Set())?.id).toBe('s');
    expect(findNext([SINK], 's', new Set(['s']))).toBeUndefined();
  });

  test('describes the action that is about to be sent', () => {
    expect(describeAction('reject', [result('a', true), result('b', true)])).toBe('Rejecting 2 results');
    expect(describeAction('redeliver', [SINK])).toBe('Redelivering 1 sink');
  });
});
