import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { expectError } from './fixtures/outcome.js';
import { type AttemptReport, generateAndParse, type ModelCall, parse, ParseError } from './index.js';

const Verdict = z.object({ verdict: z.enum(['buy', 'hold', 'sell']), confidence: z.number() });
const GOOD = '{"verdict": "hold", "confidence": 0.5}';
const VALUE = { verdict: 'hold', confidence: 0.5 };

/** A model that returns these answers in order and records its prompts. */
function createScriptedModel(...answers: string[]): {
  readonly call: (request: ModelCall) => Promise<string>;
  readonly requests: ModelCall[];
} {
  const requests: ModelCall[] = [];
  const call = async (request: ModelCall): Promise<string> => {
    requests.push(request);
    return answers[requests.length - 1] ?? 'nothing left to say';
  };
  return { call, requests };
}

function voteToVerdict(value: unknown): unknown {
  const { vote, ...rest } = value as Record<string, unknown>;
  return { ...rest, verdict: vote };
}

describe('generateAndParse: call, parse, retry with the error', () => {
  const PROMPT = '请评估这家公司。Answer as JSON.';

  test('calls once, with the default options, if the first answer is good', async () => {
    const { call, requests } = createScriptedModel(GOOD);
    expect(await generateAndParse(call, Verdict, { prompt: PROMPT })).toEqual(VALUE);
    expect(requests).toEqual([
      { prompt: PROMPT, systemMessage: undefined, temperature: 0.7, signal: undefined, attempt: 1 },
    ]);
  });

  test('passes the system message, temperature and signal in every attempt', async () => {
    const { call, requests } = createScriptedModel('oops', GOOD);
    const { signal } = new AbortController();
    await generateAndParse(call, Verdict, {
      prompt: PROMPT,
      systemMessage: 'You are a judge.',
      temperature: 0,
      signal,
    });
    expect(requests.map(({ prompt: _, ...rest }) => rest)).toEqual([
      { systemMessage: 'You are a judge.', temperature: 0, signal, attempt: 1 },
      { systemMessage: 'You are a judge.', temperature: 0, signal, attempt: 2 },
    ]);
  });

  test('retries once by default: at most two calls', async () => {
    const { call, requests } = createScriptedModel('no', 'still no', GOOD);
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT })).rejects.toMatchObject({ code: 'NO_JSON' });
    expect(requests).toHaveLength(2);
  });

  test.each([
    ['no JSON', 'no'],
    ['broken JSON', '{"verdict": ]'],
    ['a truncated answer', '{"verdict": "ho'],
    ['a schema mismatch', '{"verdict": "maybe"}'],
    ['an empty answer', ''],
  ])('the number of calls is the same for every error: %s', async (_, answer) => {
    for (const [maxRetries, calls] of [
      [undefined, 2],
      [0, 1],
      [2, 3],
    ] as const) {
      const { call, requests } = createScriptedModel(answer, answer, answer, answer);
      const options = { prompt: PROMPT, ...(maxRetries === undefined ? {} : { maxRetries }) };
      await expect(generateAndParse(call, Verdict, options)).rejects.toThrow(ParseError);
      expect(requests).toHaveLength(calls);
    }
  });

  test('the temperature is 0.7 by default, in a retry too', async () => {
    const { call, requests } = createScriptedModel('no', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT });
    expect(requests.map(({ temperature }) => temperature)).toEqual([0.7, 0.7]);
  });

  test.each([
    [0, 1],
    [1, 2],
    [3, 4],
  ])('maxRetries %i: makes at most %i calls, then throws the last error', async (maxRetries, calls) => {
    const answers = ['no', '{"verdict": "maybe"}', '{"verdict": ', '[{"verdict": 1}]'];
    const { call, requests } = createScriptedModel(...answers);
    const failed = generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries });
    const last = expectError(parse(answers[calls - 1] ?? '', Verdict));
    await expect(failed).rejects.toMatchObject({ name: 'ParseError', code: last.code, message: last.message });
    expect(requests.map(({ attempt }) => attempt)).toEqual(Array.from({ length: calls }, (_, index) => index + 1));
  });

  test('maxRetries n: returns a later answer that passes', async () => {
    const { call, requests } = createScriptedModel('no', 'no', 'no', GOOD);
    expect(await generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 5 })).toEqual(VALUE);
    expect(requests).toHaveLength(4);
  });

  test('the English prompt: what was wrong, the error summary, what to do, then the original prompt', async () => {
    const { call, requests } = createScriptedModel('{"verdict": "maybe"}', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT, retryPrompt: 'en' });
    const error = expectError(parse('{"verdict": "maybe"}', Verdict));
    const retry = requests[1]?.prompt ?? '';
    expect(retry).toMatch(/^Your previous output could not be parsed/);
    expect(retry).toContain(error.message);
    expect(error.message).toMatch(/verdict: .*; confidence: /);
    expect(retry).toContain('verdict');
    expect(retry.indexOf(error.message)).toBeLessThan(retry.indexOf(PROMPT));
    expect(retry.endsWith(PROMPT)).toBe(true);
  });

  test('the Chinese prompt', async () => {
    const { call, requests } = createScriptedModel('对不起', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT, retryPrompt: 'zh' });
    const retry = requests[1]?.prompt ?? '';
    expect(retry).toMatch(/^你上一次的输出无法解析为合法 JSON。\n错误信息：\[NO_JSON\]/);
    expect(retry).toContain('请严格按要求重新输出，仅输出 JSON 对象，不要包含任何额外文字、Markdown 标记或代码块。');
    expect(retry.endsWith(PROMPT)).toBe(true);
  });

  test.each([
    ['no JSON', '对不起', {}],
    ['broken JSON', '{"verdict": ]', {}],
    ['a truncated answer', '{"verdict": "yes', {}],
    ['a schema mismatch', '{"verdict": "maybe", "confidence": 1}', {}],
    ['an empty answer', ' ', {}],
    [
      'a normalizer that throws',
      GOOD,
      {
        normalizers: [
          () => {
            throw new Error('总分超出范围\n应为 0 到 100');
          },
        ],
      },
    ],
  ])('the Chinese prompt has the whole message: %s', async (_, answer, options) => {
    const { call, requests } = createScriptedModel(answer, GOOD);
    // The normalizer that throws does so again.
    await generateAndParse(call, Verdict, { prompt: PROMPT, retryPrompt: 'zh', ...options }).catch(() => undefined);
    const { code, message } = expectError(parse(answer, Verdict, options));
    expect(requests[1]?.prompt).toContain(`错误信息：[${code}] ${message}\n`);
  });

  test('defaults to English', async () => {
    const { call, requests } = createScriptedModel('no', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT });
    expect(requests[1]?.prompt).toMatch(/^Your previous output/);
  });

  test.each(['en', 'zh'] as const)(
    'sends no history (%s): repeats neither an earlier answer nor an earlier correction',
    async (retryPrompt) => {
      const secret = 'marker-of-the-first-answer';
      const { call, requests } = createScriptedModel(`Well, ${secret}, no JSON`, '{"verdict": "maybe"}', GOOD);
      await generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 2, retryPrompt });
      const [, second = '', third = ''] = requests.map(({ prompt }) => prompt);
      expect(second).not.toContain(secret);
      expect(third).not.toContain(expectError(parse('no', Verdict)).message);
      expect(third).toContain('SCHEMA_MISMATCH');
      expect(third.split(PROMPT)).toHaveLength(2);
    },
  );

  test('sends no history: the start of a truncated answer is not repeated', async () => {
    const { call, requests } = createScriptedModel('{"verdict": "hold", "note": "marker-of-the-first-answer', GOOD);
    await generateAndParse(call, Verdict, { prompt: PROMPT });
    expect(requests[1]?.prompt).toContain('TRUNCATED');
    expect(requests[1]?.prompt).not.toContain('marker-of-the-first-answer');
  });

  test('passes the error and the original prompt to a custom prompt function', async () => {
    const { call, requests } = createScriptedModel('no', 'no', GOOD);
    await generateAndParse(call, Verdict, {
      prompt: PROMPT,
      maxRetries: 2,
      retryPrompt: (error, prompt) => `${error.code}|${prompt}`,
    });
    expect(requests.map(({ prompt }) => prompt)).toEqual([PROMPT, `NO_JSON|${PROMPT}`, `NO_JSON|${PROMPT}`]);
  });

  test('bounds the summary in the prompt, however long the error', async () => {
    const Wide = z.object(
      Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${'field'.repeat(400)}${index}`, z.string()])),
    );
    const { call, requests } = createScriptedModel('{}');
    await expect(generateAndParse(call, Wide, { prompt: PROMPT })).rejects.toThrow(ParseError);
    expect(requests[1]?.prompt.length).toBeLessThan(3000);
  });

  test('calls onAttempt for every attempt, failed or not', async () => {
    const reports: AttemptReport<unknown>[] = [];
    const { call, requests } = createScriptedModel('no', '{"verdict": "maybe"}', GOOD);
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
    expect(reports.map(({ prompt }) => prompt)).toEqual(requests.map(({ prompt }) => prompt));
  });

  test('calls onAttempt for the last failed attempt too', async () => {
    const onAttempt = vi.fn<(report: AttemptReport<unknown>) => void>();
    const { call } = createScriptedModel('no', 'no');
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, onAttempt })).rejects.toThrow(ParseError);
    expect(onAttempt).toHaveBeenCalledTimes(2);
  });

  test('does not retry a rejected call, and throws its reason unchanged', async () => {
    const reason = new Error('429');
    const call = vi.fn<(request: ModelCall) => Promise<string>>().mockRejectedValue(reason);
    const onAttempt = vi.fn<(report: AttemptReport<unknown>) => void>();
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 3, onAttempt })).rejects.toBe(reason);
    expect(call).toHaveBeenCalledTimes(1);
    expect(onAttempt).not.toHaveBeenCalled();
  });

  test('stops retrying when a later call is rejected', async () => {
    const reason = new Error('connection lost');
    const call = vi.fn<(request: ModelCall) => Promise<string>>().mockResolvedValueOnce('no').mockRejectedValue(reason);
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries: 5 })).rejects.toBe(reason);
    expect(call).toHaveBeenCalledTimes(2);
  });

  test('aborted before the call: throws the reason without calling the model', async () => {
    const { call, requests } = createScriptedModel(GOOD);
    const reason = new Error('user went away');
    const signal = AbortSignal.abort(reason);
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, signal })).rejects.toBe(reason);
    expect(requests).toHaveLength(0);
  });

  test('aborted during a call that still answers: throws the reason and ignores the answer', async () => {
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

  test('aborted during a call that never answers: throws the reason without waiting', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const pending = generateAndParse(() => new Promise<string>(() => {}), Verdict, {
      prompt: PROMPT,
      signal: controller.signal,
    });
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
  });

  test('aborted during a call that rejects with another error: throws the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = async (): Promise<string> => {
      controller.abort(reason);
      throw new Error('socket closed');
    };
    await expect(generateAndParse(call, Verdict, { prompt: PROMPT, signal: controller.signal })).rejects.toBe(reason);
  });

  test('aborted between attempts: makes no further call', async () => {
    const controller = new AbortController();
    const { call, requests } = createScriptedModel('no', GOOD);
    const onAttempt = (): void => controller.abort();
    const pending = generateAndParse(call, Verdict, { prompt: PROMPT, signal: controller.signal, onAttempt });
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    expect(requests).toHaveLength(1);
  });

  test('accepts all parse options: profile, normalizers, label, allowPartial', async () => {
    const { call } = createScriptedModel('<json>{"vote": "hold", "confidence": 0.5');
    const options = {
      prompt: PROMPT,
      profile: 'tagged',
      allowPartial: true,
      normalizers: [voteToVerdict],
      maxRetries: 0,
    } as const;
    expect(await generateAndParse(call, Verdict, options)).toEqual(VALUE);
  });

  test('treats a comment in profile tagged as a failed attempt: retries with NO_JSON', async () => {
    const { call, requests } = createScriptedModel('no tag', `<json>${GOOD}</json>`);
    expect(await generateAndParse(call, Verdict, { prompt: PROMPT, profile: 'tagged' })).toEqual(VALUE);
    expect(requests[1]?.prompt).toContain('NO_JSON');
  });

  test('awaits an asynchronous schema', async () => {
    const Slow = Verdict.refine(async ({ confidence }) => confidence < 1);
    const { call } = createScriptedModel('{"verdict": "hold", "confidence": 2}', GOOD);
    expect(await generateAndParse(call, Slow, { prompt: PROMPT })).toEqual(VALUE);
  });

  test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])(
    'rejects maxRetries %s before calling the model',
    async (maxRetries) => {
      const { call, requests } = createScriptedModel('no JSON');
      await expect(generateAndParse(call, Verdict, { prompt: PROMPT, maxRetries })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      });
      expect(requests).toEqual([]);
    },
  );
});
