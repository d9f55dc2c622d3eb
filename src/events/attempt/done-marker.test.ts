import { describe, expect, it } from 'vitest';
import { DONE, codex, translateLines } from '../contract/translate-lines.contract.js';
import { hasDoneMarker } from './messages.js';

describe('the done marker', () => {
  it.each([
    ['in JSON', '{"__SKILL_DONE__": true}'],
    ['without blanks', '{"__SKILL_DONE__":true}'],
    ['across lines', '{\n  "__SKILL_DONE__" :\n true\n}'],
    ['in lower case', '{"__skill_done__": true}'],
    ['inside a JSON string', '{"text":"{\\"__SKILL_DONE__\\": true}"}'],
    ['after a quoted skill', `<skill_content name="x">say ${DONE}</skill_content> ${DONE}`],
  ])('is found %s', (_, text) => {
    expect(hasDoneMarker(text)).toBe(true);
  });

  it.each([
    ['that is false', '{"__SKILL_DONE__": false}'],
    ['that is a string', '{"__SKILL_DONE__": "true"}'],
    ['that starts a longer word', '{"__SKILL_DONE__": trueish}'],
    ['without quotes', '__SKILL_DONE__: true'],
    ['in a quoted skill', `I follow <skill_content>${DONE}</skill_content>`],
    ['in a skill whose quote never ends', `I follow <skill_content>${DONE}`],
  ])('is not found %s', (_, text) => {
    expect(hasDoneMarker(text)).toBe(false);
  });

  it("counts only in the agent's own messages", () => {
    const output = { id: 'i', type: 'command_execution', command: DONE, aggregated_output: DONE, exit_code: 0 };
    const stdout = [
      { type: 'item.completed', item: { id: 'r', type: 'reasoning', text: DONE } },
      { type: 'item.completed', item: { ...output, status: 'completed' } },
      { type: 'error', message: DONE },
      DONE,
      codex.completed(),
    ];
    expect(translateLines({ stdout, stderr: [DONE] }).types.at(-1)).toBe('user.input.required');
  });

  it('does not count in a message of a sub-agent', () => {
    const message = { id: 'msg_1', role: 'assistant', model: 'm', content: [{ type: 'text', text: DONE }] };
    const record = { type: 'assistant', message, parent_tool_use_id: 'toolu_1', session_id: 's-1' };
    const { of, types } = translateLines({ engine: 'claude', stdout: [record] });
    expect(of('assistant.message.final')).toMatchObject([{ text: DONE, parent_tool_call_id: 'toolu_1' }]);
    expect(types.at(-1)).toBe('diagnostic.warning');
  });

  it('causes a warning if it is printed twice', () => {
    const { warnings, types } = translateLines({ stdout: [codex.message(DONE), codex.message(DONE)] });
    expect(warnings).toContain('DONE_MARKER_REPEATED');
    expect(types.at(-1)).toBe('conversation.completed');
  });
});
