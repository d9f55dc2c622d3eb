import { describe, expect, it } from 'vitest';
import { readSdkFields } from '../scripts/claude-fields.js';
import { SDK_FIELDS } from '../src/events/engines/claude/sdk-fields.js';

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
    expect([...readSdkFields(source)]).toEqual([['system status', ['inner', 'status', 'subtype', 'type']]]);
  });

  it('exist for the records that Claude Code prints most', () => {
    expect(Object.keys(SDK_FIELDS)).toEqual(
      expect.arrayContaining(['assistant', 'user', 'result', 'stream_event', 'system init', 'system task_started']),
    );
  });
});
