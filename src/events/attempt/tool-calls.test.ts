import { describe, expect, it } from 'vitest';
import { expectInOrder, expectValid } from '../contract/emitted-invariants.contract.js';
import { codex, translateLines } from '../contract/translate-lines.contract.js';

describe('tool calls', () => {
  it('are paired by id', () => {
    const stdout = ['a', 'b'].map((id) => codex.command('started', id));
    const { of } = translateLines({
      stdout: [...stdout, codex.command('completed', 'b'), codex.command('completed', 'a')],
    });
    expect(of('assistant.tool_call').map(({ tool_call_id, status }) => `${tool_call_id} ${status}`)).toEqual([
      'a started',
      'b started',
      'b completed',
      'a completed',
    ]);
  });

  it('report input, output and exit code', () => {
    const { rasp } = translateLines({
      stdout: [codex.command('started', 'a', 'pwd'), codex.command('completed', 'a', 'pwd')],
    });
    expect(rasp('tool.call.completed')).toEqual([
      { tool_call_id: 'a', name: 'command_execution', input: { command: 'pwd' }, output: 'out\n', exit_code: 0 },
    ]);
  });

  it('get a start event and a warning if the start was not printed', () => {
    const { emitted, warnings, of } = translateLines({ stdout: [codex.command('completed', 'a')] });
    expectInOrder(emitted);
    expect(of('assistant.tool_call').map(({ status }) => status)).toEqual(['started', 'completed']);
    expect(warnings).toContain('TOOL_CALL_START_MISSING');
  });

  it('can reuse an id after the end', () => {
    const callRecords = [codex.command('started', 'a'), codex.command('completed', 'a')];
    const { emitted, warnings } = translateLines({ stdout: [...callRecords, ...callRecords] });
    expectInOrder(emitted);
    expect(warnings).not.toContain('TOOL_CALL_START_MISSING');
  });

  it('are started once, even if thousands are started before they end', () => {
    const ids = Array.from({ length: 4100 }, (_, index) => `c${index}`);
    const endRecords = ids.map((id) => ({ type: 'item.completed', item: { id, type: 'command_execution' } }));
    const { emitted, warnings, of } = translateLines({
      stdout: [codex.thread(), ...ids.map((id) => codex.command('started', id)), ...endRecords, codex.completed()],
    });
    expectInOrder(emitted);
    expect(new Set(of('assistant.tool_call').map(({ name }) => name))).toEqual(new Set(['command_execution']));
    expect(warnings).toEqual([]);
  });

  it('cause a warning each if they never end', () => {
    const stdout = Array.from({ length: 4100 }, (_, index) => codex.command('started', `c${index}`));
    const { emitted, warnings } = translateLines({ stdout });
    expect(warnings.filter((code) => code === 'TOOL_CALL_UNFINISHED')).toHaveLength(4100);
    expectValid(emitted.slice(-50));
  });
});
