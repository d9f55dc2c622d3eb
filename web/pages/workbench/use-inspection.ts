import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../../data/resource.js';
import type { InspectionInput, SchemaProblem } from './inspection.js';
import { parseOptions, schemaInput, inputText } from './workbench-state.js';
import type { TextReader, WorkerCall, WorkerResponse } from './text-reader.js';
// The build resolves this import to the file's URL; the file itself has no exports.
// oxlint-disable-next-line import/default
import address from './workbench-worker.js?worker&url';
import { t } from './texts.js';

const DEBOUNCE_MS = 150;

/** The parser state; the last result stays while the next one is computed. */
export interface InspectionState {
  readonly reading: TextReading | null;
  readonly schemaProblem: SchemaProblem | null;
  readonly failure: string | null;
  readonly busy: boolean;
}

export type InspectionHandle = ReturnType<typeof useInspection>;

const NOTHING: InspectionState = { reading: null, schemaProblem: null, failure: null, busy: false };

/** Parses the workbench input in a worker on every change, so the page stays responsive. */
export function useInspection() {
  const state = useSignal<InspectionState>({ ...NOTHING, busy: true });
  const retryCount = useSignal(0);
  const [link] = useState(() => openWorker(startWorker));
  // A canceled worker has lost the last reading, which the page still shows until the next one is available.
  const isLost = useRef(false);
  const input: InspectionInput = { text: inputText.value, schemaText: schemaInput.value, options: parseOptions.value };
  useEffect(() => () => link.close(), []);
  useEffect(() => {
    let isWanted = true;
    const read = async (): Promise<void> => {
      state.value = { ...state.peek(), busy: true };
      const next = await readText(link, input).catch((error: unknown) => asFailure(error).message);
      if (!isWanted || next === null) return;
      state.value = updateState(isLost.current ? NOTHING : state.peek(), next);
      isLost.current = false;
    };
    const timer = setTimeout(() => void read(), DEBOUNCE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
      if (link.cancel()) isLost.current = true;
    };
  }, [input.text, input.schemaText, input.options, retryCount.value]);
  return {
    ...state.value,
    retry: (): void => void (retryCount.value += 1),
    fail: (error: unknown): void => void (state.value = updateState(state.peek(), asFailure(error).message)),
  };
}

function updateState(before: InspectionState, next: Awaited<ReturnType<typeof readText>> | string): InspectionState {
  if (typeof next === 'string') return { ...NOTHING, failure: next };
  if (next !== null && 'text' in next) return { ...NOTHING, reading: next };
  return { ...before, busy: false, failure: null, schemaProblem: next?.schemaProblem ?? null };
}

/** Parsed input. More data can be requested until other input is parsed. */
export type TextReading = Extract<Awaited<ReturnType<typeof readText>>, { pushStream: unknown }>;

/** The number of the last reading: another worker must not mistake an earlier one for its own. */
let lastReading = 0;

/** Parses the input, or returns what is wrong with its schema; null if canceled. */
export async function readText({ call }: WorkerLink, input: InspectionInput) {
  lastReading += 1;
  const number = lastReading;
  const response = await call('read', number, input);
  if (response === null || response.schemaProblem !== undefined) return response;
  return {
    ...response,
    text: input.text,
    formatValue: async () => call('format', number),
    restartStream: async () => call('restart', number),
    pushStream: async (chunkLength: number, chunkCount: number) => call('push', number, chunkLength, chunkCount),
  };
}

type WorkerLike = Pick<Worker, 'postMessage' | 'terminate' | 'addEventListener'>;

/** A link to a worker that can be terminated at any time; the next request starts another worker. */
export type WorkerLink = ReturnType<typeof openWorker>;

/** Requests time out, because a browser can silently stop a worker that needs too much memory. */
const TIMEOUT_MS = 120_000;

const CANNOT_START = t.theParserWorkerCouldNot;
const TOO_SLOW = t.noResponseForMinutesThe(TIMEOUT_MS / 60_000);

interface PendingCall {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export function openWorker(start: () => WorkerLike) {
  const pending = new Map<number, PendingCall>();
  let worker: WorkerLike | null = null;
  let count = 0;

  function connect(): WorkerLike {
    const started = start();
    started.addEventListener('message', ({ data: { number, output, failure } }: MessageEvent<WorkerResponse>) => {
      const call = pending.get(number);
      pending.delete(number);
      clearTimeout(call?.timer);
      if (failure === undefined) call?.resolve(output);
      else call?.reject(new Error(failure));
    });
    // If the file is missing or blocked, the event has no message.
    started.addEventListener('error', ({ message = '' }: Partial<ErrorEvent>) => {
      if (started === worker) end(({ reject }) => reject(new Error(message === '' ? CANNOT_START : message)));
    });
    return started;
  }

  function end(settle: (call: PendingCall) => void = ({ resolve }) => resolve(null)): void {
    worker?.terminate();
    worker = null;
    const calls = [...pending.values()];
    pending.clear();
    for (const call of calls) {
      clearTimeout(call.timer);
      settle(call);
    }
  }

  return {
    /** Calls a function of the worker; null if canceled, or if the call is about input that was replaced. */
    call: async <Name extends keyof TextReader>(
      name: Name,
      ...input: Parameters<TextReader[Name]>
    ): Promise<ReturnType<TextReader[Name]> | null> => {
      const output = await new Promise((resolve, reject) => {
        worker ??= connect();
        count += 1;
        const timer = setTimeout(() => end((call) => call.reject(new Error(TOO_SLOW))), TIMEOUT_MS);
        pending.set(count, { resolve, reject, timer });
        const message: WorkerCall = { number: count, name, input };
        // A worker's `postMessage` has no target origin.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        worker.postMessage(message);
      });
      // Safe cast: the worker is part of the same build.
      return output as ReturnType<TextReader[Name]> | null;
    },
    /** Terminates the worker if it is busy, and returns whether it was; an idle worker stays. */
    cancel(): boolean {
      const isBusy = pending.size > 0;
      if (isBusy) end();
      return isBusy;
    },
    close: () => end(),
  };
}

/** The part of the Trusted Types API used here; older browsers do not have it. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** The page's content security policy allows only this Trusted Types policy, which allows only our worker's URL. */
const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('sluice-worker', {
  createScriptURL(url) {
    if (url === address) return url;
    throw new TypeError(url);
  },
});

function startWorker(): Worker {
  return new Worker(policy === undefined ? address : policy.createScriptURL(address), { type: 'module' });
}
