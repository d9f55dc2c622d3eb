import { MAX_BACKOFF_MS } from './bounds.js';
import { SluiceError } from '../base/index.js';
import { isContainer } from './limits.js';
import { checkOptions, OPTIONS, type ParseOptions } from './options.js';
import type { ParseError } from './parse-error.js';
import { createCommentError, parseAsync } from './parse.js';
import type { Repair } from './repair.js';
import type { ParseResult, Warning } from './result.js';
import { renderRetryPrompt, type RetryPrompt } from './retry-prompt.js';
import { checkSchema, type StandardSchema } from './schema.js';

/** The arguments passed to the caller's function on each attempt. */
export interface ModelCall {
  readonly prompt: string;
  readonly systemMessage: string | undefined;
  readonly temperature: number;
  readonly maxTokens: number | undefined;
  /** Aborted by the caller's signal, and after `timeoutMs`. */
  readonly signal: AbortSignal | undefined;
  /** From 1. */
  readonly attempt: number;
}

/** A model's answer and its usage, in any units: the numbers of all attempts are summed by name. */
export interface ModelAnswer {
  readonly text: string | null;
  readonly usage?: object | undefined;
}

/** One attempt, successful or not, as `onAttempt` receives it. */
export interface AttemptReport<T> {
  readonly attempt: number;
  readonly prompt: string;
  readonly raw: string;
  readonly result: ParseResult<T>;
}

/** Options of {@link generateAndParse}; all options of `parse` too. */
export interface GenerateOptions<T> extends ParseOptions {
  /** Passed to `call`, and repeated when asking again. Default empty: `call` has its own. */
  readonly prompt?: string;
  readonly systemMessage?: string;
  /** Default 0.7. */
  readonly temperature?: number;
  /** Passed to `call`. */
  readonly maxTokens?: number;
  /** Maximum number of calls after the first. Default 1; 0: no retries. */
  readonly maxRetries?: number;
  /** Maximum wait for one answer; after that `CALL_TIMED_OUT` is thrown. Default 0: no limit. */
  readonly timeoutMs?: number;
  /** Delay before the second attempt, doubled for each further attempt, up to a minute. Default 0. */
  readonly backoffMs?: number;
  readonly signal?: AbortSignal;
  /** Called after every attempt. Errors it throws are ignored, so no answer is lost. */
  readonly onAttempt?: (report: AttemptReport<T>) => unknown;
  /** Default `'en'`. */
  readonly retryPrompt?: RetryPrompt;
  /** Return a {@link GenerateResult} instead of the value alone. Default false. */
  readonly detailed?: boolean;
}

/** The options of {@link generateAndParse}, to check them; their values are checked when they are used. */
const GENERATE_OPTIONS: Readonly<Record<keyof GenerateOptions<unknown>, string>> = {
  ...OPTIONS,
  prompt: 'any',
  systemMessage: 'any',
  temperature: 'any',
  maxTokens: 'any',
  maxRetries: 'any',
  timeoutMs: 'any',
  backoffMs: 'any',
  signal: 'any',
  onAttempt: 'any',
  retryPrompt: 'any',
  detailed: 'any',
};

/** A value, and the attempts and repairs that led to it. */
export interface GenerateResult<T> {
  readonly value: T;
  /** Number of calls. */
  readonly attempts: number;
  /** Sums over all attempts, by the names the model's provider uses. */
  readonly usage: Readonly<Record<string, number>>;
  /** The repairs of the answer that passed. */
  readonly repairs: readonly Repair[];
  readonly warnings: readonly Warning[];
}

/**
 * Asks a model, parses the answer, and asks again with the error if that fails. Works with any provider: `call` is any
 * function that returns text, or `{ text, usage }`. A rejected `call` is not retried; an abort throws the signal's
 * reason. The last attempt's error contains the answer as `raw`.
 *
 * @example
 * const verdict = await generateAndParse(
 *   ({ prompt, signal }) => model.complete(prompt, { signal }),
 *   z.object({ verdict: z.enum(['buy', 'hold', 'sell']) }),
 *   { prompt: 'Judge this company. Answer as JSON.' },
 * )
 */
export function generateAndParse<T>(
  call: (request: ModelCall) => Promise<string | ModelAnswer>,
  schema: StandardSchema<unknown, T>,
  options: GenerateOptions<T> & { readonly detailed: true },
): Promise<GenerateResult<T>>;
export function generateAndParse<T>(
  call: (request: ModelCall) => Promise<string | ModelAnswer>,
  schema: StandardSchema<unknown, T>,
  options?: GenerateOptions<T> & { readonly detailed?: false },
): Promise<T>;
export async function generateAndParse<T>(
  call: (request: ModelCall) => Promise<string | ModelAnswer>,
  schema: StandardSchema<unknown, T>,
  options: GenerateOptions<T> = {},
): Promise<T | GenerateResult<T>> {
  checkOptions({ call: (call as unknown) ?? null }, { call: 'function' });
  checkOptions(options, GENERATE_OPTIONS);
  const {
    prompt: originalPrompt = '',
    systemMessage,
    temperature = 0.7,
    maxTokens,
    maxRetries = 1,
    timeoutMs = 0,
    backoffMs = 0,
    signal,
    onAttempt,
    retryPrompt = 'en',
    detailed,
    ...parseOptions
  } = options;
  if (![maxRetries, timeoutMs, backoffMs].every((count) => Number.isInteger(count) && count >= 0))
    throw new SluiceError('INVALID_OPTION', 'maxRetries, timeoutMs and backoffMs must be non-negative integers.');
  checkSchema(schema);
  const usage: Record<string, number> = {};
  let prompt = originalPrompt;
  for (let attempt = 1; ; attempt++) {
    const answer = await rejectOnAbort(
      (combinedSignal) => call({ prompt, systemMessage, temperature, maxTokens, signal: combinedSignal, attempt }),
      signal,
      timeoutMs,
    );
    const { text, usage: callUsage = {} } = toModelAnswer(answer);
    for (const [name, amount] of Object.entries(callUsage))
      if (typeof amount === 'number') usage[name] = (usage[name] ?? 0) + amount;
    const result = await parseAsync(text, schema, parseOptions);
    report(onAttempt, { attempt, prompt, raw: text ?? '', result });
    if (result.ok) {
      const { value, repairs, warnings } = result;
      return detailed === true ? { value, attempts: attempt, usage, repairs, warnings } : value;
    }
    const error: ParseError = result.status === 'failed' ? result.error : createCommentError(parseOptions.label);
    if (attempt > maxRetries) throw Object.defineProperty(error, 'raw', { value: text });
    prompt = renderRetryPrompt(retryPrompt, error, schema, parseOptions.profile, originalPrompt);
    const wait = Math.min(backoffMs * 2 ** (attempt - 1), MAX_BACKOFF_MS);
    if (wait > 0) await pause(wait, signal);
  }
}

/** Waits. An abort ends the wait and clears the timer; a pending timer would keep the process running. */
async function pause(duration: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      timer = setTimeout(resolve, duration);
    });
  await rejectOnAbort(wait, signal).finally(() => clearTimeout(timer));
}

/** Calls the listener. Its errors, synchronous or not, are ignored, so the answer is not lost. */
function report<T>(listener: GenerateOptions<T>['onAttempt'], attempt: AttemptReport<T>): void {
  const notify = async (): Promise<unknown> => listener?.(attempt);
  notify().catch(() => undefined);
}

/** Converts the result of `call` to an answer. `parse` rejects the text if it is not a string. */
function toModelAnswer(answer: string | ModelAnswer): ModelAnswer {
  return typeof answer !== 'string' && isContainer(answer) && 'text' in answer ? answer : { text: answer as string };
}

/**
 * Resolves to the work's result, or rejects with the signal's reason as soon as it is aborted or times out, even if the
 * work ignores the signal.
 */
async function rejectOnAbort<T>(
  work: (signal: AbortSignal | undefined) => Promise<T>,
  callerSignal: AbortSignal | undefined,
  timeoutMs = 0,
): Promise<T> {
  const timeout = new AbortController();
  const signal =
    timeoutMs > 0
      ? AbortSignal.any([timeout.signal, ...(callerSignal === undefined ? [] : [callerSignal])])
      : callerSignal;
  signal?.throwIfAborted();
  const finished = new AbortController();
  const expire = (): void =>
    timeout.abort(new SluiceError('CALL_TIMED_OUT', `No answer within ${timeoutMs} ms (timeoutMs).`));
  const timer = timeoutMs > 0 ? setTimeout(expire, timeoutMs) : undefined;
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: finished.signal });
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    clearTimeout(timer);
    finished.abort();
    signal?.throwIfAborted();
  }
}
