import { SluiceError } from '../base/index.js';
import type { ParseOptions } from './options.js';
import type { ParseError } from './parse-error.js';
import { createCommentError, parseAsync } from './parse.js';
import type { ParseResult } from './result.js';
import type { StandardSchema } from './schema.js';

/** What the caller's function is given for each attempt. */
export interface ModelCall {
  readonly prompt: string;
  readonly systemMessage: string | undefined;
  readonly temperature: number;
  readonly signal: AbortSignal | undefined;
  /** From 1. */
  readonly attempt: number;
}

/** One attempt as `onAttempt` sees it, failed ones included. */
export interface AttemptReport<T> {
  readonly attempt: number;
  readonly prompt: string;
  readonly raw: string;
  readonly result: ParseResult<T>;
}

/** Options of {@link generateAndParse}; all options of `parse` too. */
export interface GenerateOptions<T> extends ParseOptions {
  readonly prompt: string;
  readonly systemMessage?: string;
  /** Default 0.7. */
  readonly temperature?: number;
  /** Calls after the first one, at most. Default 1; 0 asks once. */
  readonly maxRetries?: number;
  readonly signal?: AbortSignal;
  readonly onAttempt?: (report: AttemptReport<T>) => void;
  /** Default `'en'`. */
  readonly retryPrompt?: RetryPrompt;
}

/**
 * Asks a model, parses what it says, and asks again with the error if that fails. Knows no provider: `call` is any
 * function that returns text. A rejected `call` is not retried; an abort throws the signal's reason.
 *
 * @example
 * const verdict = await generateAndParse(
 *   ({ prompt, signal }) => model.complete(prompt, { signal }),
 *   z.object({ verdict: z.enum(['buy', 'hold', 'sell']) }),
 *   { prompt: 'Judge this company. Answer as JSON.' },
 * )
 */
export async function generateAndParse<T>(
  call: (request: ModelCall) => Promise<string>,
  schema: StandardSchema<unknown, T>,
  options: GenerateOptions<T>,
): Promise<T> {
  const { systemMessage, temperature = 0.7, maxRetries = 1, signal, onAttempt, retryPrompt = 'en' } = options;
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw new SluiceError('INVALID_OPTION', 'maxRetries must be a whole number from 0');
  let { prompt } = options;
  for (let attempt = 1; ; attempt++) {
    const raw = await untilAborted(() => call({ prompt, systemMessage, temperature, signal, attempt }), signal);
    const result = await parseAsync(raw, schema, options);
    onAttempt?.({ attempt, prompt, raw, result });
    if (result.ok) return result.value;
    const error: ParseError = result.status === 'failed' ? result.error : createCommentError(options.label);
    if (attempt > maxRetries) throw error;
    prompt = renderRetryPrompt(retryPrompt, error, options.prompt);
  }
}

/** The work's result, or the signal's reason as soon as it is aborted, whether or not the work takes notice. */
async function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  const finished = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: finished.signal });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    finished.abort();
    signal?.throwIfAborted();
  }
}

/** How the corrective prompt is worded: English, Chinese, or by a function of one's own. */
export type RetryPrompt = 'en' | 'zh' | ((error: ParseError, prompt: string) => string);

/** Enough of an error message to correct by; the rest would only crowd the prompt. */
const LONGEST_SUMMARY = 2000;

/** What was wrong, how the error is introduced, and what to do. */
const WORDINGS = {
  en: [
    'Your previous output could not be parsed as valid JSON.',
    'Error: ',
    'Answer again with the JSON object only, without any other text, Markdown or code fence.',
  ],
  zh: [
    '你上一次的输出无法解析为合法 JSON。',
    '错误信息：',
    '请严格按要求重新输出，仅输出 JSON 对象，不要包含任何额外文字、Markdown 标记或代码块。',
  ],
} as const;

/** The prompt of a further attempt: what was wrong, then the original prompt. Earlier answers are not repeated. */
function renderRetryPrompt(wording: RetryPrompt, error: ParseError, prompt: string): string {
  if (typeof wording === 'function') return wording(error, prompt);
  const [wrong, label, task] = WORDINGS[wording];
  const message = `[${error.code}] ${error.message}`;
  const summary = message.length > LONGEST_SUMMARY ? `${message.slice(0, LONGEST_SUMMARY)}…` : message;
  return `${wrong}\n${label}${summary}\n${task}\n\n${prompt}`;
}
