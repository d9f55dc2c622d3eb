import { describe, expect, it } from 'vitest';
import { selectRasp } from '../../contract/emitted-invariants.contract.js';
import { createTranslator } from '../../translator.js';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { toBytes, translateLines as translate } from '../../contract/translate-lines.contract.js';
import type { Scenario, Translated } from '../../contract/translate-lines.contract.js';

describeEngineContract('iflow', new URL('./fixtures/', import.meta.url));

const translateLines = (scenario: Scenario) => translate({ engine: 'iflow', ...scenario });

const info = (session = 'session-1', fields: object = {}) => [
  '<Execution Info>',
  JSON.stringify(
    { 'session-id': session, assistantRounds: 2, tokenUsage: { input: 10, output: 2, total: 12 }, ...fields },
    null,
    2,
  ),
  '</Execution Info>',
];

const RETRY = 'Attempt 1 failed with status 429. Retrying with backoff... Error: 429';

/** Returns the confidence of each event of a type. */
function listConfidences({ emitted }: Translated, type: string): readonly number[] {
  return selectRasp(emitted).flatMap(({ event, source }) => (event.type === type ? [source.confidence] : []));
}

describe('the confidence of iflow', () => {
  it('is 0.7 for a regular expression match', () => {
    const translated = translateLines({ stderr: ['Resuming session session-1'] });
    expect(listConfidences(translated, 'lifecycle.run.status')).toEqual([0.7]);
    const broken = translateLines({
      stderr: ['<Execution Info>', '{"session-id": "session-1", oops', '</Execution Info>'],
    });
    expect(listConfidences(broken, 'lifecycle.run.status')).toEqual([0.7]);
  });

  it('is 0.8 for a JSON block that can be parsed', () => {
    expect(listConfidences(translateLines({ stderr: info() }), 'lifecycle.run.status')).toEqual([0.8]);
    expect(listConfidences(translateLines({ stdout: ['So: {"ok": true}'] }), 'agent.message.final')).toEqual([0.8]);
    expect(
      listConfidences(translateLines({ stdout: ['```json', '{"ok": true}', '```'] }), 'agent.message.final'),
    ).toEqual([0.8]);
  });

  it.each([
    ['on stdout, ended by the block', { stdout: ['Hello.'], stderr: info() }, 0.6],
    ['on stderr, ended by the block', { stdout: info(), stderr: ['Hello.'] }, 0.5],
    ['on stdout, ended by the block on stdout', { stdout: ['Hello.', ...info()] }, 0.6],
    ['on stdout, without a block', { stdout: ['Hello.'] }, 0.45],
    ['on stdout, with a session instead of a block', { stdout: ['Resuming session session-1', 'Hello.'] }, 0.45],
    ['on stderr, without a block', { stderr: ['Hello.'] }, 0.3],
    ['on stderr, with a retry instead of a block', { stderr: [RETRY, 'Hello.'] }, 0.3],
  ])('is between 0.3 and 0.6 for plain text %s', (_, scenario, confidence) => {
    const translated = translateLines(scenario);
    expect(listConfidences(translated, 'agent.message.final')).toEqual([confidence]);
    const isLow = confidence < 0.5;
    expect(translated.warnings.includes('LOW_CONFIDENCE_PARSE')).toBe(isLow);
    expect(translated.rasp('raw.stdout').length + translated.rasp('raw.stderr').length).toBe(isLow ? 1 : 0);
  });
});

describe('iflow messages', () => {
  it('can have JSON directly after them', () => {
    const translated = translateLines({ stdout: ['Working on it.{"answer":7,"__SKILL_DONE__":true}', ...info()] });
    expect(translated.of('assistant.message.final')).toMatchObject([
      { text: 'Working on it.{"answer":7,"__SKILL_DONE__":true}', structured_payload: { answer: 7 } },
    ]);
    expect(translated.types.at(-1)).toBe('conversation.completed');
  });

  it('can have the block directly after them', () => {
    const translated = translateLines({ stdout: [`Hello.${info().join('')}Bye.`] });
    expect(translated.of('assistant.message.final').map(({ text }) => text)).toEqual(['Hello.', 'Bye.']);
    expect(translated.warnings).toContain('OUTPUT_AFTER_END');
  });

  it('keep their blank lines, except at the end', () => {
    const translated = translateLines({ stdout: ['', 'One', '', '  ', 'Two', '', ''], stderr: info() });
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'One\n\n  \nTwo' }]);
    expect(
      translated
        .of('assistant.message.delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe('One\n\n  \nTwo');
  });

  it('are on stdout, and stderr is the log, even if it comes first', () => {
    const translated = translateLines({ stderr: ['starting'], stdout: ['Hello.'] });
    expect(translated.of('assistant.message.final').map(({ text }) => text)).toEqual(['Hello.']);
    expect(translated.of('raw.stderr')).toMatchObject([{ text: 'starting' }]);
  });

  it('are read from stderr if stdout is empty, with a warning', () => {
    const translated = translateLines({ stdout: info(), stderr: ['Which language?', '', 'English?'] });
    expect(translated.of('user.input.required')).toMatchObject([{ prompt: 'Which language?\n\nEnglish?' }]);
    expect(translated.of('diagnostic.warning')).toMatchObject([
      { code: 'STREAM_DRIFT_OBSERVED', subject: 'execution_info', confidence: 0.5 },
      { code: 'STREAM_DRIFT_OBSERVED', subject: 'message', confidence: 0.5 },
    ]);
  });

  it('are read from stderr although they end with a blank line', () => {
    const { of } = translateLines({ stderr: ['Hello.', '', ''] });
    expect(of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
  });

  it('are read live from stderr if it has much output and stdout has none', () => {
    const lines = Array.from({ length: 400 }, () => 'x'.repeat(1000));
    const translated = translateLines({ stderr: lines, end: { exitCode: 0 } });
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: lines.join('\n') }]);
    expect(translated.warnings.filter((code) => code === 'STREAM_DRIFT_OBSERVED')).toHaveLength(1);
  });

  it('do not complete the run if they only quote a skill', () => {
    const translated = translateLines({
      stdout: ['<skill_content>{"__SKILL_DONE__": true}</skill_content> read.'],
      stderr: info(),
    });
    expect(translated.types.at(-1)).toBe('user.input.required');
  });

  it('are not read from bytes that are not text', () => {
    const translated = translateLines({ stdout: ['\u0000\u0001garbage', 'Hello.'], stderr: info() });
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(translated.of('raw.stdout')).toHaveLength(1);
  });
});

describe('the iflow block', () => {
  it.each(['stdout', 'stderr'] as const)('ends the invocation on %s, and names session and tokens', (stream) => {
    const translated = translateLines({
      stdout: ['Hello.'],
      ...(stream === 'stdout' ? { stdout: ['Hello.', ...info()] } : { stderr: info() }),
    });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 'session-1' }]);
    expect(translated.of('user.input.required')).toMatchObject([
      { usage: { scope: 'total', input_tokens: 10, output_tokens: 2, total_tokens: 12 } },
    ]);
    expect(translated.warnings.includes('STREAM_DRIFT_OBSERVED')).toBe(stream === 'stdout');
  });

  it('can be on one line', () => {
    const translated = translateLines({ stderr: [info().join('').replaceAll('\n', '')] });
    expect(translated.rasp('lifecycle.run.status')).toMatchObject([
      { session_id: 'session-1', usage: { input_tokens: 10, output_tokens: 2 } },
    ]);
  });

  it('ends the invocation even if it cannot be parsed, and its session is still found', () => {
    const translated = translateLines({
      stdout: ['Hello.'],
      stderr: ['<Execution Info>', '{"session-id": "session-1", oops', '</Execution Info>'],
    });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 'session-1' }]);
    expect(translated.of('diagnostic.warning')).toMatchObject([
      { code: 'LOW_CONFIDENCE_PARSE', confidence: 0.3 },
      { code: 'IFLOW_EXECUTION_INFO_PARSE_FAILED', confidence: 0.3 },
    ]);
    expect(translated.types.at(-1)).toBe('user.input.required');
  });

  it('does not end the invocation if it is truncated', () => {
    const translated = translateLines({
      stdout: ['Hello.'],
      stderr: ['<Execution Info>', '{"session-id": "session-1",'],
    });
    expect(translated.warnings).toEqual(
      expect.arrayContaining(['IFLOW_EXECUTION_INFO_PARSE_FAILED', 'EARLY_END_OF_STREAM']),
    );
  });

  it('counts as the real one if another was opened before and never closed', () => {
    const translated = translateLines({ stdout: ['I print <Execution Info> at the end.', ...info('session-2')] });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 'session-2' }]);
    expect(translated.types.at(-1)).toBe('user.input.required');
  });

  it('is abandoned when it does not end', () => {
    const translated = translateLines({
      stdout: ['<Execution Info>', ...Array.from({ length: 300 }, () => 'x'.repeat(1000)), 'Hello.'],
    });
    expect(translated.warnings).toContain('IFLOW_EXECUTION_INFO_PARSE_FAILED');
    expect(translated.of('assistant.message.final')).toHaveLength(1);
  });

  it('warns about unknown fields', () => {
    const translated = translateLines({ stderr: info('session-1', { mood: 'fine' }) });
    expect(translated.translator.drift()).toMatchObject({ unknown_fields: { '<Execution Info>.mood': 1 } });
  });
});

describe('the session of iflow', () => {
  it('is known from the line that resumes it', () => {
    const translated = translateLines({ stderr: ['Resuming session session-1...'], stdout: ['Hello.'] });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 'session-1' }]);
  });

  it.each(['stdout', 'stderr'] as const)('is known from a line on %s that starts with an emoji', (stream) => {
    const line = 'ℹ️  Resuming session session-6a1b (6 messages loaded)';
    const translated = translateLines({
      stdout: ['Hello.'],
      [stream]: [line, ...(stream === 'stdout' ? ['Hello.'] : [])],
    });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 'session-6a1b' }]);
    expect(translated.rasp('lifecycle.run.status')).toMatchObject([{ status: 'resuming_session' }]);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
  });

  it('is known from a line that names it', () => {
    expect(translateLines({ stderr: ['session-id: session-1'] }).of('conversation.started')).toEqual([
      { session_id: 'session-1' },
    ]);
  });

  it('is not taken from a message once it is known', () => {
    const translated = translateLines({
      stdout: ['Resuming session session-1', 'Hello.', 'session-id: evil', 'Resuming session evil'],
    });
    expect(translated.warnings).not.toContain('SESSION_ID_CHANGED');
    expect(translated.of('assistant.message.final')).toMatchObject([
      { text: 'Hello.\nsession-id: evil\nResuming session evil' },
    ]);
  });

  it('causes a warning if the block names another session', () => {
    const translated = translateLines({ stdout: ['Resuming session session-1'], stderr: info('session-2') });
    expect(translated.warnings).toContain('SESSION_ID_CHANGED');
  });
});

describe('the iflow log', () => {
  const retry = [RETRY, '    at retry (x.js:1:2) {', '  status: 429', '}'];

  it.each(['stdout', 'stderr'] as const)('reports a retry on %s, which is not a failure', (stream) => {
    const translated = translateLines(
      stream === 'stdout'
        ? { stdout: [...retry, 'Hello.'], stderr: info() }
        : { stdout: ['Hello.'], stderr: [...retry, ...info()] },
    );
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([
      { retrying: true, attempt: 1, http_status: 429 },
    ]);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(translated.types.at(-1)).toBe('user.input.required');
  });

  it("reports iFlow's own errors on any stream", () => {
    const translated = translateLines({
      stdout: ['Error when talking to iFlow API: 401 Unauthorized'],
      end: { exitCode: 1 },
    });
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ code: 'ENGINE_AUTH_HINT', severity: 'error' }]);
    expect(translated.of('conversation.failed')).toMatchObject([{ error: { code: 'ENGINE_AUTH_FAILED' } }]);
  });

  describe('an error at the end of stdout', () => {
    const lines = ['Hello.', 'Error: no such model', '    at run (x.js:1:2)'];

    it('is an engine error if the process failed', () => {
      const { rasp, of, translator } = translateLines({ stdout: lines, end: { exitCode: 1 } });
      expect(rasp('diagnostic.engine.error')).toMatchObject([
        { message: 'Error: no such model\n    at run (x.js:1:2)', severity: 'error', retrying: false },
      ]);
      expect(of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
      expect(of('conversation.failed')[0]?.error.message).toContain('no such model');
      expect(translator.coverage().stdout.unclaimed).toEqual([]);
    });

    it('is part of the answer if the process succeeded', () => {
      const { rasp, of } = translateLines({ stdout: lines });
      expect(rasp('diagnostic.engine.error')).toEqual([]);
      expect(of('assistant.message.final')).toMatchObject([{ text: lines.join('\n') }]);
    });

    it('is part of the answer if the agent continues', () => {
      const { rasp, of } = translateLines({ stdout: [...lines, 'That is fixed now.'], end: { exitCode: 1 } });
      expect(rasp('diagnostic.engine.error')).toEqual([]);
      expect(of('assistant.message.final')).toMatchObject([{ text: [...lines, 'That is fixed now.'].join('\n') }]);
    });

    it('is part of the answer if blank lines fill the memory', () => {
      const { rasp, of } = translateLines({ stdout: [...lines, '\n'.repeat(64 * 1024)], end: { exitCode: 1 } });
      expect(rasp('diagnostic.engine.error')).toEqual([]);
      expect(of('assistant.message.final')).toMatchObject([{ text: lines.join('\n') }]);
    });

    it('is the same error if the translator is drained first', () => {
      const translator = createTranslator({ engine: 'iflow', runId: 'run-1', attempt: 1, clock: () => 0 });
      const exit = { exitCode: 1, signal: null };
      const emitted = [...translator.push('stdout', toBytes(lines)), ...translator.drain(exit).events];
      emitted.push(...translator.end(exit));
      expect(emitted).toEqual(translateLines({ stdout: lines, end: exit }).emitted);
    });
  });

  it('reads a line about an error as a log on stderr, and as a message on stdout', () => {
    const translated = translateLines({
      stdout: ['Error: that is what the test prints.'],
      stderr: ['Error: no such model'],
    });
    expect(translated.rasp('diagnostic.engine.error').map(({ message }) => message)).toEqual(['Error: no such model']);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Error: that is what the test prints.' }]);
  });
});
