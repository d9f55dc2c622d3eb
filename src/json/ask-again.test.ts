import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { expectError } from './fixtures/outcome.js';
import { type AttemptReport, generateAndParse, type ModelCall, parse, ParseError } from './index.js';

const Verdict = z.object({ verdict: z.enum(['buy', 'hold', 'sell']), confidence: z.number() });
const GOOD = '{"verdict": "hold", "confidence": 0.5}';
const VALUE = { verdict: 'hold', confidence: 0.5 };

/** A model that returns these answers in order and records its prompts. */
function modelSaying(...answers: string[]): {
  readonly call: (request: ModelCall) => Promise<string>;
  readonly asked: ModelCall[];
} {
  const asked: ModelCall[] = [];
  const call = async (request: ModelCall): Promise<string> => {
    asked.push(request);
    return answers[asked.length - 1] ?? 'nothing left to say';
  };
  return { call, asked };
}

function voteToVerdict(value: unknown): unknown {
  const { vote, ...rest } = value as Record<string, unknown>;
  return { ...rest, verdict: vote };
}

describe('generateAndParse: ask, parse, ask again with the error', () => {
  const PROMPT = '请评估这家公司。Answer as JSON.';

  test('a good first answer needs one call, with the default options', async () => {
    const { call, asked } = modelSaying(GOOD);
    expect(await generateAndParse(call, Verdict, { prompt: PROMPT })).toEqual(VALUE);
    expect(asked).toEqual([
      { prompt: PROMPT, systemMessage: undefined, temperature: 0.7, signal: undefined, attempt: 1 },
    ]);
  });

  test('system message, temperature and signal are passed in every attempt', async () => {
    const { call, asked } = modelSaying('oops', GOOD);
    const { signal } = new AbortController();
    await generateAndParse(call, Verdict, {
      prompt: PROMPT,
      systemMessage: 'You are a judge.',
      temperature: 0,
      signal,
    });
    expect(asked.map(({ prompt: _, ...rest }) => rest)).toEqual([
      { systemMessage: 'You are a judge.', temperature: 0, signal, attempt: 1 },
      { systemMessage: 'You are a judge.', temperature: 0, signal, attempt: 2 },
    ]);
  });

  test('the default is one retry: two calls at most', async () => {
    const { call, asked } = modelSaying('no', 'still no', GOOD);
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT })).rejects.toMatchObject({ code: 'NO_JSON' });
    expect(asked).toHaveLength(2);
  });

  test.each([
    [0, 1],
    [1, 2],
    [3, 4],
  ])('maxRetries %i: at most %i calls, then the last error', async (maxRetries, calls) => {
    const answers = ['no', '{"verdict": "maybe"}', '{"verdict": ', '[{"verdict": 1}]'];
    const { call, asked } = modelSaying(...answers);
    const failed = generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries });
    const last = expectError(parse(answers[calls - 1] ?? '', Verdict));
    await expect(failed).rejects.toMatchObject({ name: 'ParseError', code: last.code, message: last.message });
    expect(asked.map(({ attempt }) => attempt)).toEqual(Array.from({ length: calls }, (_, index) => index + 1));
  });

  test('maxRetries n: a later answer that passes is returned', async () => {
    const { call, asked } = modelSaying('no', 'no', 'no', GOOD);
    expect(await generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 5 })).toEqual(VALUE);
    expect(asked).toHaveLength(4);
  });

  test('the English wording: what was wrong, the error summary, what to do, then the original prompt', async () => {
    const { call, asked } = modelSaying('{"verdict": "maybe", "confidence": 1}', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT, retryPrompt: 'en' });
    const error = expectError(parse('{"verdict": "maybe", "confidence": 1}', Verdict));
    const retry = asked[1]?.prompt ?? '';
    expect(retry).toMatch(/^Your previous output could not be parsed/);
    expect(retry).toContain(error.message);
    expect(retry).toContain('verdict');
    expect(retry.indexOf(error.message)).toBeLessThan(retry.indexOf(PROMPT));
    expect(retry.endsWith(PROMPT)).toBe(true);
  });

  test('the Chinese wording', async () => {
    const { call, asked } = modelSaying('对不起', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT, retryPrompt: 'zh' });
    const retry = asked[1]?.prompt ?? '';
    expect(retry).toMatch(/^你上一次的输出无法解析为合法 JSON。\n错误信息：\[NO_JSON\]/);
    expect(retry).toContain('请严格按要求重新输出，仅输出 JSON 对象，不要包含任何额外文字、Markdown 标记或代码块。');
    expect(retry.endsWith(PROMPT)).toBe(true);
  });

  test('English is the default', async () => {
    const { call, asked } = modelSaying('no', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT });
    expect(asked[1]?.prompt).toMatch(/^Your previous output/);
  });

  test.each(['en', 'zh'] as const)(
    'no history (%s): neither the earlier answer nor an earlier correction is repeated',
    async (retryPrompt) => {
      const secret = 'marker-of-the-first-answer';
      const { call, asked } = modelSaying(`Well, ${secret}, no JSON`, '{"verdict": "maybe"}', GOOD);
      await generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 2, retryPrompt });
      const [, second = '', third = ''] = asked.map(({ prompt }) => prompt);
      expect(second).not.toContain(secret);
      expect(third).not.toContain(expectError(parse('no', Verdict)).message);
      expect(third).toContain('SCHEMA_MISMATCH');
      expect(third.split(PROMPT)).toHaveLength(2);
    },
  );

  test('a custom wording gets the error and the original prompt', async () => {
    const { call, asked } = modelSaying('no', 'no', GOOD);
    await generateAndParse(call, Verdict, {
      prompt: PROMPT,
      maxRetries: 2,
      retryPrompt: (error, prompt) => `${error.code}|${prompt}`,
    });
    expect(asked.map(({ prompt }) => prompt)).toEqual([PROMPT, `NO_JSON|${PROMPT}`, `NO_JSON|${PROMPT}`]);
  });

  test('the summary in the prompt is bounded, however long the error', async () => {
    const Wide = z.object(
      Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${'field'.repeat(400)}${index}`, z.string()])),
    );
    const { call, asked } = modelSaying('{}');
    await expect(generateAndParse(call, Wide, { prompt: PROMPT })).rejects.toThrow(ParseError);
    expect(asked[1]?.prompt.length).toBeLessThan(3000);
  });

  test('onAttempt receives every attempt, failed or not', async () => {
    const reports: AttemptReport<unknown>[] = [];
    const { call, asked } = modelSaying('no', '{"verdict": "maybe"}', GOOD);
    await generateAndParse(call, Verdict, {
      prompt: PROMPT,
      maxRetries: 2,
      onAttempt: (report) => reports.push(report),
    });
    expect(reports.map(({ attempt, raw, result }) => [attempt, raw, result.status])).toEqual([
      [1, 'no', 'failed'],
      [2, '{"verdict": "maybe"}', 'failed'],
      [3, GOOD, 'success'],
    ]);
    expect(reports.map(({ prompt }) => prompt)).toEqual(asked.map(({ prompt }) => prompt));
  });

  test('the last failed attempt is visible to onAttempt too', async () => {
    const onAttempt = vi.fn<(report: AttemptReport<unknown>) => void>();
    const { call } = modelSaying('no', 'no');
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, onAttempt })).rejects.toThrow(ParseError);
    expect(onAttempt).toHaveBeenCalledTimes(2);
  });

  test('a rejected call is not retried, and its reason is thrown unchanged', async () => {
    const reason = new Error('429');
    const call = vi.fn<(request: ModelCall) => Promise<string>>().mockRejectedValue(reason);
    const onAttempt = vi.fn<(report: AttemptReport<unknown>) => void>();
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 3, onAttempt })).rejects.toBe(reason);
    expect(call).toHaveBeenCalledTimes(1);
    expect(onAttempt).not.toHaveBeenCalled();
  });

  test('a call rejected in a later attempt ends the retries', async () => {
    const reason = new Error('connection lost');
    const call = vi.fn<(request: ModelCall) => Promise<string>>().mockResolvedValueOnce('no').mockRejectedValue(reason);
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 5 })).rejects.toBe(reason);
    expect(call).toHaveBeenCalledTimes(2);
  });

  test('aborted before the call: calls nothing and throws the reason', async () => {
    const { call, asked } = modelSaying(GOOD);
    const reason = new Error('user went away');
    const signal = AbortSignal.abort(reason);
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, signal })).rejects.toBe(reason);
    expect(asked).toHaveLength(0);
  });

  test('aborted during a call that still answers: the reason is thrown, the answer is not used', async () => {
    const controller = new AbortController();
    const reason = new Error('too late');
    const onAttempt = vi.fn<(report: AttemptReport<unknown>) => void>();
    const call = async (): Promise<string> => {
      controller.abort(reason);
      return GOOD;
    };
    await expect(
      generateAndParse(call, Verdict, { prompt: PROMPT, signal: controller.signal, onAttempt }),
    ).rejects.toBe(reason);
    expect(onAttempt).not.toHaveBeenCalled();
  });

  test('aborted during a call that never answers: the reason is thrown without waiting for it', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const asking = generateAndParse(() => new Promise<string>(() => {}), Verdict, {
      prompt: PROMPT,
      signal: controller.signal,
    });
    controller.abort(reason);
    await expect(asking).rejects.toBe(reason);
  });

  test('aborted during a call that rejects with another error: the reason is thrown', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = async (): Promise<string> => {
      controller.abort(reason);
      throw new Error('socket closed');
    };
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, signal: controller.signal })).rejects.toBe(reason);
  });

  test('aborted between attempts: no further call', async () => {
    const controller = new AbortController();
    const { call, asked } = modelSaying('no', GOOD);
    const onAttempt = (): void => controller.abort();
    const asking = generateAndParse(call, Verdict, { prompt: PROMPT, signal: controller.signal, onAttempt });
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
    expect(asked).toHaveLength(1);
  });

  test('all parse options are accepted: profile, normalizers, label, allowPartial', async () => {
    const { call } = modelSaying('<json>{"vote": "hold", "confidence": 0.5');
    const options = {
      prompt: PROMPT,
      profile: 'tagged',
      allowPartial: true,
      normalizers: [voteToVerdict],
      maxRetries: 0,
    } as const;
    expect(await generateAndParse(call, Verdict, options)).toEqual(VALUE);
  });

  test('a comment of profile tagged is a failed attempt: NO_JSON, asked again', async () => {
    const { call, asked } = modelSaying('no tag', `<json>${GOOD}</json>`);
    expect(await generateAndParse(call, Verdict, { prompt: PROMPT, profile: 'tagged' })).toEqual(VALUE);
    expect(asked[1]?.prompt).toContain('NO_JSON');
  });

  test('awaits an asynchronous schema', async () => {
    const Slow = Verdict.refine(async ({ confidence }) => confidence < 1);
    const { call } = modelSaying('{"verdict": "hold", "confidence": 2}', GOOD);
    expect(await generateAndParse(call, Slow, { prompt: PROMPT })).toEqual(VALUE);
  });

  test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])(
    'refuses maxRetries %s before the model is called',
    async (maxRetries) => {
      const { call, asked } = modelSaying('no JSON');
      await expect(generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      });
      expect(asked).toEqual([]);
    },
  );
});
