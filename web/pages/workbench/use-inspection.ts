import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../../data/resource.js';
import type { InspectionInput, SchemaProblem, Inspection } from './inspection.js';
import { parseOptions, schemaInput, inputText } from './workbench-state.js';
import type { Suggestion } from './inspect.js';
import type { StreamView, WorkerResponse, WorkerRequest, Numbered } from './text-reader.js';
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

export interface InspectionHandle extends InspectionState {
  readonly retry: () => void;
  readonly fail: (error: unknown) => void;
}

const NOTHING: InspectionState = { reading: null, schemaProblem: null, failure: null, busy: false };

/** Parses the workbench input in a worker on every change, so the page stays responsive. */
export function useInspection(): InspectionHandle {
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
    retry: () => (retryCount.value += 1),
    fail: (error) => (state.value = updateState(state.peek(), asFailure(error).message)),
  };
}

function updateState(before: InspectionState, next: TextReading | SchemaRefusal | string): InspectionState {
  if (typeof next === 'string') return { ...NOTHING, failure: next };
  if (next.kind === 'reading') return { ...NOTHING, reading: next };
  return { ...before, busy: false, failure: null, schemaProblem: next.problem };
}

/** Parsed input. More data can be requested until other input is parsed. */
export interface TextReading {
  readonly kind: 'reading';
  readonly text: string;
  readonly inspection: Inspection;
  readonly tookMs: number;
  readonly suggestions: readonly Suggestion[];
  formatValue(): Promise<string | null>;
  restartStream(): Promise<StreamView | null>;
  pushStream(chunkLength: number, chunkCount: number): Promise<StreamView | null>;
}

type SchemaRefusal = Readonly<{ kind: 'refusal'; problem: SchemaProblem }>;

/** Parses the input; null if aborted. */
export async function readText(link: WorkerLink, input: InspectionInput): Promise<TextReading | SchemaRefusal | null> {
  const number = link.next;
  const response = await link.send({ kind: 'read', input });
  if (response?.kind === 'schema') return { kind: 'refusal', problem: response.problem };
  if (response?.kind !== 'read') return null;
  const requestView = async (request: WorkerRequest): Promise<StreamView | null> => readView(await link.send(request));
  return {
    kind: 'reading',
    text: input.text,
    inspection: response.inspection,
    tookMs: response.tookMs,
    suggestions: response.suggestions,
    async formatValue() {
      const formatted = await link.send({ kind: 'format', reading: number });
      return formatted?.kind === 'formatted' ? formatted.text : null;
    },
    restartStream: async () => requestView({ kind: 'stream', reading: number }),
    pushStream: async (chunkLength, chunkCount) =>
      requestView({ kind: 'push', reading: number, chunkLength, chunkCount }),
  };
}

function readView(response: WorkerResponse | null): StreamView | null {
  return response?.kind === 'streamed' ? response.view : null;
}

type WorkerLike = Pick<Worker, 'postMessage' | 'terminate' | 'addEventListener'>;

/** A link to a worker that can be terminated at any time; the next request starts another worker. */
export type WorkerLink = ReturnType<typeof openWorker>;

/** Requests time out, because a browser can silently stop a worker that needs too much memory. */
const TIMEOUT_MS = 120_000;

const CANNOT_START = t.theParserWorkerCouldNot;
const TOO_SLOW = t.noResponseForMinutesThe(TIMEOUT_MS / 60_000);

interface PendingRequest {
  readonly resolve: (response: WorkerResponse | null) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Creates a link to a worker, which is started with the first request. */
export function openWorker(start: () => WorkerLike) {
  const pending = new Map<number, PendingRequest>();
  let worker: WorkerLike | null = null;
  let next = 1;

  function connect(): WorkerLike {
    const started = start();
    started.addEventListener('message', ({ data: { number, message } }: MessageEvent<Numbered<WorkerResponse>>) => {
      const request = pending.get(number);
      pending.delete(number);
      clearTimeout(request?.timer);
      if (message.kind === 'failed') request?.reject(new Error(message.message));
      else request?.resolve(message);
    });
    // If the file is missing or blocked, the event has no message.
    started.addEventListener('error', ({ message = '' }: Partial<ErrorEvent>) => {
      if (started === worker) end(({ reject }) => reject(new Error(message === '' ? CANNOT_START : message)));
    });
    return started;
  }

  function end(settle: (request: PendingRequest) => void): void {
    worker?.terminate();
    worker = null;
    const requests = [...pending.values()];
    pending.clear();
    for (const request of requests) {
      clearTimeout(request.timer);
      settle(request);
    }
  }

  return {
    get next(): number {
      return next;
    },
    async send(request: WorkerRequest): Promise<WorkerResponse | null> {
      return new Promise((resolve, reject) => {
        worker ??= connect();
        const number = next++;
        const timer = setTimeout(
          () => end(({ reject: rejectPending }) => rejectPending(new Error(TOO_SLOW))),
          TIMEOUT_MS,
        );
        pending.set(number, { resolve, reject, timer });
        const numberedRequest: Numbered<WorkerRequest> = { number, message: request };
        // A worker's `postMessage` has no target origin.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        worker.postMessage(numberedRequest);
      });
    },
    /** Terminates the worker if it is busy, and returns whether it was; an idle worker stays. */
    cancel(): boolean {
      if (pending.size === 0) return false;
      end(({ resolve }) => resolve(null));
      return true;
    },
    close() {
      end(({ resolve }) => resolve(null));
    },
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
