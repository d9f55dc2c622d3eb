import { describe, expect, it } from 'vitest';
import { readDrift, readSdkFields } from '../scripts/known-fields.js';
import { KNOWN_FIELDS } from '../src/events/engines/known-fields.js';

describe('the fields of published types', () => {
  it('are read by type and subtype, without fields of nested objects', () => {
    const source = [
      'export declare type SDKStatusMessage = {',
      "    type: 'system';",
      "    subtype: 'status';",
      '    /**',
      '     * not_a_field: only a comment',
      '     */',
      '    status?: string;',
      '    inner: {',
      '        deep: string;',
      '    }[];',
      '};',
      'export declare type SDKOther = {',
      '    name: string;',
      '};',
      '',
    ].join('\n');
    expect([...readSdkFields(source)]).toEqual([['system(status)', ['type', 'subtype', 'status', 'inner']]]);
  });

  it('are listed for the records that Claude Code prints most', () => {
    expect(Object.keys(KNOWN_FIELDS.claude)).toEqual(
      expect.arrayContaining(['assistant', 'user', 'result', 'stream_event', 'system(init)', 'system(task_started)']),
    );
  });
});

it('every field of the recordings is known', () => {
  expect(readDrift().fields).toEqual([]);
});
