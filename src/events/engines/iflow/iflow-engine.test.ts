import { describe, expect, it } from 'vitest';
import { raspOf } from '../../contract/emitted-invariants.contract.js';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { tell as tellStory } from '../../contract/translate-lines.contract.js';
import type { Story, Told } from '../../contract/translate-lines.contract.js';

describeEngineContract('iflow', new URL('./fixtures/', import.meta.url));

const tell = (story: Story) => tellStory({ engine: 'iflow', ...story });

const info = (session = 'session-1', more: object = {}) => [
  '<Execution Info>',
  JSON.stringify(
    { 'session-id': session, assistantRounds: 2, tokenUsage: { input: 10, output: 2, total: 12 }, ...more },
    null,
    2,
  ),
  '</Execution Info>',
];

/** How sure the reading of each event of a type was. */
function confidences({ emitted }: Told, type: string): readonly number[] {
  return raspOf(emitted).flatMap(({ event, source }) => (event.type === type ? [source.confidence] : []));
}

describe('the confidence of iflow', () => {
  it('is 0.7 for what a regular expression finds', () => {
    const told = tell({ stderr: ['Resuming session session-1'] });
    expect(confidences(told, 'lifecycle.run.status')).toEqual([0.7]);
  });

  it('is 0.8 for a JSON block that can be read', () => {
    expect(confidences(tell({ stderr: info() }), 'lifecycle.run.status')).toEqual([0.8]);
    expect(confidences(tell({ stdout: ['So: {"ok": true}'] }), 'agent.message.final')).toEqual([0.8]);
    expect(confidences(tell({ stdout: ['```json', '{"ok": true}', '```'] }), 'agent.message.final')).toEqual([0.8]);
  });

  it.each([
    ['on stdout, ended by the block', { stdout: ['Hello.'], stderr: info() }, 0.6],
    ['on stderr, ended by the block', { stdout: info(), stderr: ['Hello.'] }, 0.5],
    ['on stdout, without a block', { stdout: ['Hello.'] }, 0.45],
    ['on stderr, without a block', { stderr: ['Hello.'] }, 0.3],
  ])('is between 0.3 and 0.6 for free text %s', (_, story, confidence) => {
    const told = tell(story);
    expect(confidences(told, 'agent.message.final')).toEqual([confidence]);
    const isLow = confidence < 0.5;
    expect(told.warnings.includes('LOW_CONFIDENCE_PARSE')).toBe(isLow);
    expect(told.rasp('raw.stdout').length + told.rasp('raw.stderr').length).toBe(isLow ? 1 : 0);
  });
});

describe('the words of iflow', () => {
  it('may have JSON glued to them', () => {
    const told = tell({ stdout: ['Working on it.{"answer":7,"__SKILL_DONE__":true}', ...info()] });
    expect(told.of('assistant.message.final')).toMatchObject([
      { text: 'Working on it.{"answer":7,"__SKILL_DONE__":true}', structured_payload: { answer: 7 } },
    ]);
    expect(told.types.at(-1)).toBe('conversation.completed');
  });

  it('may have the block glued to them', () => {
    const told = tell({ stdout: [`Hello.${info().join('')}Bye.`] });
    expect(told.of('assistant.message.final').map(({ text }) => text)).toEqual(['Hello.', 'Bye.']);
    expect(told.warnings).toContain('OUTPUT_AFTER_END');
  });

  it('keep their blank lines, and lose none at the end', () => {
    const told = tell({ stdout: ['', 'One', '', '  ', 'Two', '', ''], stderr: info() });
    expect(told.of('assistant.message.final')).toMatchObject([{ text: 'One\n\n  \nTwo' }]);
    expect(
      told
        .of('assistant.message.delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe('One\n\n  \nTwo');
  });

  it('are on stdout, and stderr is its log, wherever that begins', () => {
    const told = tell({ stderr: ['starting'], stdout: ['Hello.'] });
    expect(told.of('assistant.message.final').map(({ text }) => text)).toEqual(['Hello.']);
    expect(told.of('raw.stderr')).toMatchObject([{ text: 'starting' }]);
  });

  it('are on stderr where stdout says nothing, with a warning', () => {
    const told = tell({ stdout: info(), stderr: ['Which language?', '', 'English?'] });
    expect(told.of('user.input.required')).toMatchObject([{ prompt: 'Which language?\n\nEnglish?' }]);
    expect(told.rasp('diagnostic.parser.warning')).toMatchObject([
      { code: 'STREAM_DRIFT_OBSERVED', subject: 'execution_info' },
      { code: 'STREAM_DRIFT_OBSERVED', subject: 'message' },
    ]);
  });

  it('are on stderr, live, where that has said much and stdout nothing', () => {
    const lines = Array.from({ length: 400 }, () => 'x'.repeat(1000));
    const told = tell({ stderr: lines, end: { exitCode: 0 } });
    expect(told.of('assistant.message.final')).toMatchObject([{ text: lines.join('\n') }]);
    expect(told.warnings.filter((code) => code === 'STREAM_DRIFT_OBSERVED')).toHaveLength(1);
  });

  it('do not finish the work where they only quote a skill', () => {
    const told = tell({ stdout: ['<skill_content>{"__SKILL_DONE__": true}</skill_content> read.'], stderr: info() });
    expect(told.types.at(-1)).toBe('user.input.required');
  });

  it('are not made of bytes that are no text', () => {
    const told = tell({ stdout: ['\u0000\u0001garbage', 'Hello.'], stderr: info() });
    expect(told.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(told.of('raw.stdout')).toHaveLength(1);
  });
});

describe('the block of iflow', () => {
  it.each(['stdout', 'stderr'] as const)('ends the invocation on %s, and names session and tokens', (stream) => {
    const told = tell({
      stdout: ['Hello.'],
      ...(stream === 'stdout' ? { stdout: ['Hello.', ...info()] } : { stderr: info() }),
    });
    expect(told.of('conversation.started')).toEqual([{ session_id: 'session-1' }]);
    expect(told.of('user.input.required')).toMatchObject([
      { usage: { scope: 'total', input_tokens: 10, output_tokens: 2, total_tokens: 12 } },
    ]);
    expect(told.warnings.includes('STREAM_DRIFT_OBSERVED')).toBe(stream === 'stdout');
  });

  it('may stand on one line', () => {
    const told = tell({ stderr: [info().join('')] });
    expect(told.of('conversation.started')).toEqual([{ session_id: 'session-1' }]);
  });

  it('ends the invocation even if it cannot be read, and its session is still found', () => {
    const told = tell({
      stdout: ['Hello.'],
      stderr: ['<Execution Info>', '{"session-id": "session-1", oops', '</Execution Info>'],
    });
    expect(told.of('conversation.started')).toEqual([{ session_id: 'session-1' }]);
    expect(told.warnings).toEqual(['LOW_CONFIDENCE_PARSE', 'IFLOW_EXECUTION_INFO_PARSE_FAILED']);
    expect(told.types.at(-1)).toBe('user.input.required');
  });

  it('does not end the invocation if it is cut off', () => {
    const told = tell({ stdout: ['Hello.'], stderr: ['<Execution Info>', '{"session-id": "session-1",'] });
    expect(told.warnings).toEqual(expect.arrayContaining(['IFLOW_EXECUTION_INFO_PARSE_FAILED', 'EARLY_END_OF_STREAM']));
  });

  it('counts as the real one if another was opened before and never closed', () => {
    const told = tell({ stdout: ['I print <Execution Info> at the end.', ...info('session-2')] });
    expect(told.of('conversation.started')).toEqual([{ session_id: 'session-2' }]);
    expect(told.types.at(-1)).toBe('user.input.required');
  });

  it('is given up when it does not end', () => {
    const told = tell({
      stdout: ['<Execution Info>', ...Array.from({ length: 300 }, () => 'x'.repeat(1000)), 'Hello.'],
    });
    expect(told.warnings).toContain('IFLOW_EXECUTION_INFO_PARSE_FAILED');
    expect(told.of('assistant.message.final')).toHaveLength(1);
  });

  it('warns about fields it does not know', () => {
    const told = tell({ stderr: info('session-1', { mood: 'fine' }) });
    expect(told.translator.drift()).toMatchObject({ unknown_fields: { '<Execution Info>.mood': 1 } });
  });
});

describe('the session of iflow', () => {
  it('is known from the line that resumes it', () => {
    const told = tell({ stderr: ['Resuming session session-1...'], stdout: ['Hello.'] });
    expect(told.of('conversation.started')).toEqual([{ session_id: 'session-1' }]);
  });

  it('is known from a line that names it', () => {
    expect(tell({ stderr: ['session-id: session-1'] }).of('conversation.started')).toEqual([
      { session_id: 'session-1' },
    ]);
  });

  it('is not taken from what the agent says once it is known', () => {
    const told = tell({
      stdout: ['Resuming session session-1', 'Hello.', 'session-id: evil', 'Resuming session evil'],
    });
    expect(told.warnings).not.toContain('SESSION_ID_CHANGED');
    expect(told.of('assistant.message.final')).toMatchObject([
      { text: 'Hello.\nsession-id: evil\nResuming session evil' },
    ]);
  });

  it('is warned about when the block names another', () => {
    const told = tell({ stdout: ['Resuming session session-1'], stderr: info('session-2') });
    expect(told.warnings).toContain('SESSION_ID_CHANGED');
  });
});

describe('the log of iflow', () => {
  const retry = [
    'Attempt 1 failed with status 429. Retrying with backoff... Error: 429',
    '    at retry (x.js:1:2) {',
    '  status: 429',
    '}',
  ];

  it.each(['stdout', 'stderr'] as const)('tells a retry on %s, which is no failure', (stream) => {
    const told = tell(
      stream === 'stdout'
        ? { stdout: [...retry, 'Hello.'], stderr: info() }
        : { stdout: ['Hello.'], stderr: [...retry, ...info()] },
    );
    expect(told.rasp('diagnostic.engine.error')).toMatchObject([{ retrying: true, attempt: 1, http_status: 429 }]);
    expect(told.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(told.types.at(-1)).toBe('user.input.required');
  });

  it('tells the errors of iFlow itself wherever they stand', () => {
    const told = tell({ stdout: ['Error when talking to iFlow API: 401 Unauthorized'], end: { exitCode: 1 } });
    expect(told.rasp('diagnostic.engine.error')).toMatchObject([{ code: 'ENGINE_AUTH_HINT', severity: 'error' }]);
    expect(told.of('conversation.failed')).toMatchObject([{ error: { code: 'PROCESS_EXIT_NON_ZERO' } }]);
  });

  it('takes a line about an error for a log on stderr, and for the agent on stdout', () => {
    const told = tell({ stdout: ['Error: that is what the test prints.'], stderr: ['Error: no such model'] });
    expect(told.rasp('diagnostic.engine.error').map(({ message }) => message)).toEqual(['Error: no such model']);
    expect(told.of('assistant.message.final')).toMatchObject([{ text: 'Error: that is what the test prints.' }]);
  });
});
