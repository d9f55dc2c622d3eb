import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import { withFields } from './fixtures/schemas.js';
import { generateAndParse, type GenerateOptions, type ModelAnswer, type ModelCall, type ParseError } from './index.js';

const Line = z.object({ line: z.number() });
const GOOD = '{"line": 3}';
const PROMPT = 'Which line?';

/** Returns the prompt of the second call, given the answer to the first. */
async function getRetryPrompt(
  answer: string,
  options: Partial<GenerateOptions<unknown>> = {},
  schema = Line,
): Promise<string> {
  const callLog: string[] = [];
  const call = async ({ prompt }: ModelCall): Promise<string> => {
    callLog.push(prompt);
    return callLog.length === 1 ? answer : `<json>${GOOD}</json>`;
  };
  await generateAndParse<unknown>(call, schema, { prompt: PROMPT, ...options, detailed: false }).catch(() => undefined);
  return callLog[1] ?? '';
}

describe('the retry prompt', () => {
  test('requests tags if the profile requires them', async () => {
    expect(await getRetryPrompt('no tag', { profile: 'tagged' })).toContain(
      'the JSON object only, between <json> and </json>,',
    );
    expect(await getRetryPrompt('no tag', { profile: 'tagged', retryPrompt: 'zh' })).toContain(
      '仅输出 <json> 与 </json> 之间的 JSON 对象',
    );
    expect(await getRetryPrompt('no')).not.toContain('<json>');
  });

  test.each([
    [z.array(z.number()), 'the JSON array only'],
    [z.object({}), 'the JSON object only'],
    [z.number(), 'the JSON value only'],
    [withFields('line'), 'the JSON value only'],
  ])('requests the root type', async (schema, form) => {
    expect(await getRetryPrompt('no', {}, schema as typeof Line)).toContain(form);
  });

  test('requests an object if the profile requires one', async () => {
    expect(await getRetryPrompt('[1]', { profile: 'unified' }, withFields('line') as never)).toContain(
      'the JSON object only',
    );
  });

  test('shows the schema, but not the rejected value', async () => {
    const retry = await getRetryPrompt('{"line": "three"}');
    expect(retry).not.toContain('three');
    expect(retry).toContain('JSON Schema: {');
    expect(retry).toContain('"line":{"type":"number"}');
  });

  test('is bounded: a long schema is omitted', async () => {
    const Wide = z.object(Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`field${index}`, z.string()])));
    const retry = await getRetryPrompt(
      JSON.stringify({ text: 'x'.repeat(10_000) }),
      {},
      Wide as unknown as typeof Line,
    );
    expect(retry).not.toContain('JSON Schema');
    expect(retry.length).toBeLessThan(3000);
  });

  test('requests a shorter answer if the answer was truncated', async () => {
    expect(await getRetryPrompt('{"line": ')).toContain('Answer more briefly.');
    expect(await getRetryPrompt('{"line": ', { retryPrompt: 'zh' })).toContain('请缩短内容。');
    expect(await getRetryPrompt('no')).not.toContain('briefly');
  });

  test('accepts an answer with its usage; the detailed form sums the usage of all attempts', async () => {
    const answers: ModelAnswer[] = [
      { text: 'no', usage: { inputTokens: 10, outputTokens: 2, model: 'm' } },
      { text: `Sure: {"line": 3,}`, usage: { inputTokens: 20, outputTokens: 5 } },
    ];
    const detailed = await generateAndParse(async () => answers.shift() ?? { text: '' }, Line, {
      prompt: PROMPT,
      detailed: true,
    });
    expectTypeOf(detailed.value).toEqualTypeOf<{ line: number }>();
    expect(detailed).toMatchObject({
      value: { line: 3 },
      attempts: 2,
      usage: { inputTokens: 30, outputTokens: 7 },
      warnings: [{ code: 'OUTPUT_REPAIRED_GENERIC' }],
    });
    expect(detailed.repairs.map(({ kind }) => kind)).toEqual(['extracted', 'extra_comma']);
  });

  test.each([[42], [{}], [{ text: 5 }], [[]]])('rejects an answer that is not text as misuse: %j', async (answer) => {
    let calls = 0;
    const call = async () => {
      calls += 1;
      return answer as unknown as string;
    };
    await expect(generateAndParse(call, z.object({}), { prompt: 'x' })).rejects.toMatchObject({ code: 'INVALID_TEXT' });
    expect(calls).toBe(1);
  });

  test('treats a missing text as an empty answer', async () => {
    const asking = generateAndParse(async () => ({ text: null }), Line, { prompt: PROMPT, maxRetries: 0 });
    await expect(asking).rejects.toMatchObject({ code: 'EMPTY_INPUT' });
  });

  test("rejects a client's response object in place of its text as misuse", async () => {
    const call = (async () => ({ choices: [] })) as unknown as () => Promise<string>;
    await expect(generateAndParse(call, Line, { prompt: PROMPT })).rejects.toMatchObject({ code: 'INVALID_TEXT' });
  });

  test('passes maxTokens to the call', async () => {
    const call = vi.fn<(request: ModelCall) => Promise<string>>().mockResolvedValue(GOOD);
    await generateAndParse(call, Line, { prompt: PROMPT, maxTokens: 500 });
    expect(call).toHaveBeenCalledWith(expect.objectContaining({ maxTokens: 500 }));
  });
});

describe('time', () => {
  test('aborts a call that takes too long with a typed error', async () => {
    let reason: unknown;
    const call = ({ signal }: ModelCall): Promise<string> =>
      new Promise(() => {
        signal?.addEventListener('abort', () => (reason = signal.reason));
      });
    const asking = generateAndParse(call, Line, { prompt: PROMPT, timeoutMs: 5 });
    await expect(asking).rejects.toMatchObject({ code: 'CALL_TIMED_OUT' });
    expect(reason).toMatchObject({ code: 'CALL_TIMED_OUT' });
  });

  test('the caller’s signal still aborts a call that has a timeout', async () => {
    const controller = new AbortController();
    const asking = generateAndParse(() => new Promise<string>(() => {}), Line, {
      prompt: PROMPT,
      timeoutMs: 60_000,
      signal: controller.signal,
    });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(asking).rejects.toBe(reason);
  });

  test('waits longer before each retry, and an abort ends the wait', async () => {
    vi.useFakeTimers();
    try {
      const callLog: number[] = [];
      const controller = new AbortController();
      const call = async (): Promise<string> => {
        callLog.push(Date.now());
        return 'no';
      };
      const options = { prompt: PROMPT, maxRetries: 9, backoffMs: 40_000, signal: controller.signal };
      const asking = generateAndParse(call, Line, options).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(170_000);
      controller.abort('enough');
      expect(await asking).toBe('enough');
      expect(vi.getTimerCount()).toBe(0);
      expect(callLog.map((time) => time - (callLog[0] ?? 0))).toEqual([0, 40_000, 100_000, 160_000]);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each(['timeoutMs', 'backoffMs', 'maxRetries'])(
    'rejects a %s that is not a non-negative integer',
    async (name) => {
      const call = vi.fn<() => Promise<string>>();
      const asking = generateAndParse(call, Line, { prompt: PROMPT, [name]: Number.NaN });
      await expect(asking).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      expect(call).not.toHaveBeenCalled();
    },
  );
});

test('the last error contains the answer in a property that logs do not show', async () => {
  const asking = generateAndParse(async () => 'I cannot.', Line, { prompt: PROMPT });
  const error = await asking.catch((thrown: unknown) => thrown as ParseError);
  expect(error).toMatchObject({ code: 'NO_JSON', raw: 'I cannot.' });
  expect(JSON.stringify(error)).not.toContain('I cannot.');
});

test.each([
  [
    'at once',
    () => {
      throw new Error('a broken logger');
    },
  ],
  ['later', async () => Promise.reject(new Error('a broken logger'))],
])('an onAttempt that throws %s loses nothing', async (_, onAttempt) => {
  const answers = ['no', GOOD];
  const call = async (): Promise<string> => answers.shift() ?? '';
  expect(await generateAndParse(call, Line, { prompt: PROMPT, onAttempt })).toEqual({ line: 3 });
});

test('works without options: the function has its own prompt', async () => {
  expect(await generateAndParse(async () => GOOD, Line)).toEqual({ line: 3 });
});

test('works without a schema, also when it has to ask again', async () => {
  const answers = ['no', GOOD];
  const call = async (): Promise<string> => answers.shift() ?? '';
  expect(await (generateAndParse as (...given: unknown[]) => Promise<unknown>)(call)).toEqual({ line: 3 });
});

test.each([[[]], [[{ prompt: PROMPT }, Line]]])('says that the function is missing: %j', async (given) => {
  const asking = (generateAndParse as (...given: unknown[]) => Promise<unknown>)(...given);
  await expect(asking).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: 'Invalid option call. Expected: function.',
  });
});

test('answers an unknown option with its own options', async () => {
  const options = { promt: PROMPT } as object;
  await expect(generateAndParse(async () => GOOD, Line, options)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('maxRetries'),
  });
});
