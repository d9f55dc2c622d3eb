import { Worker, parentPort } from 'node:worker_threads';

/** A task that was not finished. Callers convert it to their own error. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError';
  /** The last two are not caused by the task: no thread started, or it was refused. */
  readonly reason: 'timed_out' | 'crashed' | 'not_started' | 'busy';

  constructor(reason: ThreadError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Runs tasks in threads, so they do not block the event loop. */
export interface ThreadPool<Task, Reply> {
  /** Throws a {@link ThreadError}, or the task's own error. Callers, by `key`, take turns and share the queue. */
  run(task: Task, key: string): Promise<Reply>;
  /** Terminates all threads; waiting tasks fail. */
  close(): void;
}

interface ThreadPoolOptions {
  /** The module that the threads run; it calls `serveTasks`. */
  readonly entry: URL;
  readonly threads: number;
  /** How many tasks may wait; more are refused. A single key may use half of the queue. */
  readonly queue: number;
  /** A task that takes longer, counted from when its thread is ready, is stopped by terminating the thread. */
  readonly taskMs: number;
  /** How long a thread may take to start. Default one minute. */
  readonly startMs?: number;
  readonly memoryMb: number;
}

interface Job {
  readonly task: unknown;
  readonly key: string;
  readonly resolve: (reply: never) => void;
  readonly reject: (error: unknown) => void;
}

/** An idle thread is terminated after this time, to free its memory. */
const IDLE_MS = 30_000;
/** Loading a thread's modules takes seconds on a busy machine. */
const START_MS = 60_000;

/** Creates a pool. Threads are started on demand; idle threads do not keep the process alive. */
export function createThreadPool<Task, Reply>(options: ThreadPoolOptions): ThreadPool<Task, Reply> {
  const { threads: maxThreads, queue: queueSize } = options;
  const jobQueue = createFairQueue(queueSize);
  const threads = new Set<Thread>();

  function startNext(): void {
    for (;;) {
      const idleThread = [...threads].find(({ isIdle }) => isIdle);
      if (idleThread === undefined && threads.size >= maxThreads) return;
      const job = jobQueue.take();
      if (job === undefined) return;
      (idleThread ?? addThread()).perform(job);
    }
  }

  function addThread(): Thread {
    const thread = startThread(options, {
      onIdle: startNext,
      onEnd() {
        threads.delete(thread);
        startNext();
      },
    });
    threads.add(thread);
    return thread;
  }

  return {
    run: async (task, key) =>
      new Promise<Reply>((resolve, reject) => {
        if (jobQueue.add({ task, key, resolve, reject })) startNext();
        else reject(new ThreadError('busy', 'Too many tasks are waiting. Try again in a few seconds.'));
      }),
    close() {
      const closedError = new ThreadError('busy', 'The thread pool was closed.');
      for (let job = jobQueue.take(); job !== undefined; job = jobQueue.take()) job.reject(closedError);
      for (const thread of threads) thread.end(closedError);
    },
  };
}

/** Keys take turns. */
function createFairQueue(maxJobs: number) {
  const byKey = new Map<string, Job[]>();
  let count = 0;
  return {
    /** Returns false if the queue is full. */
    add(job: Job): boolean {
      const jobs = byKey.get(job.key) ?? [];
      if (count >= maxJobs || jobs.length >= maxJobs / 2) return false;
      jobs.push(job);
      byKey.set(job.key, jobs);
      count += 1;
      return true;
    },
    take(): Job | undefined {
      const [first] = byKey;
      if (first === undefined) return undefined;
      const [key, jobs] = first;
      byKey.delete(key);
      const job = jobs.shift();
      if (jobs.length > 0) byKey.set(key, jobs);
      count -= 1;
      return job;
    },
  };
}

type Thread = ReturnType<typeof startThread>;

function startThread(
  { entry, taskMs, startMs = START_MS, memoryMb }: ThreadPoolOptions,
  { onIdle, onEnd }: { readonly onIdle: () => void; readonly onEnd: () => void },
) {
  const worker = createWorker(entry, memoryMb);
  let job: Job | undefined;
  let isReady = false;
  let hasEnded = false;
  let timer = setTimeout(() => {
    end(new ThreadError('not_started', `A thread did not start within ${startMs / 1000} seconds.`));
  }, startMs);

  /** Terminates the thread; its task fails. */
  function end(error: ThreadError): void {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(timer);
    void worker.terminate();
    job?.reject(error);
    onEnd();
  }

  function crash(cause: unknown): void {
    if (isReady) end(new ThreadError('crashed', 'The task needed too much memory, or its thread crashed.', { cause }));
    else end(new ThreadError('not_started', 'A thread crashed while it started.', { cause }));
  }

  function becomeIdle(): void {
    job = undefined;
    worker.unref();
    // No task is running, so no caller receives this error.
    timer = setTimeout(() => end(new ThreadError('timed_out', 'The thread was idle.')), IDLE_MS).unref();
  }

  worker.on('error', crash);
  worker.on('messageerror', crash);
  worker.on('exit', (code) => crash(new Error(`The thread exited with code ${code}.`)));
  worker.on('message', (message: ThreadMessage) => {
    if (hasEnded) return;
    if ('ready' in message) {
      isReady = true;
      runJob();
      return;
    }
    const finishedJob = job;
    clearTimeout(timer);
    becomeIdle();
    if ('error' in message) finishedJob?.reject(message.error);
    else finishedJob?.resolve(message.reply as never);
    onIdle();
  });

  function runJob(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      end(new ThreadError('timed_out', `The task took longer than ${taskMs / 1000} seconds.`));
    }, taskMs);
    worker.postMessage(job?.task, []);
  }

  return {
    get isIdle(): boolean {
      return job === undefined && !hasEnded;
    },
    perform(next: Job): void {
      job = next;
      worker.ref();
      // A thread that is still starting runs its task once it is ready.
      if (isReady) runJob();
    },
    end,
  };
}

/** Node.js 20 cannot load TypeScript, so a thread that runs from source loads tsx first. */
function createWorker(entry: URL, memoryMb: number): Worker {
  const limits = { resourceLimits: { maxOldGenerationSizeMb: memoryMb }, env: {} };
  if (!entry.pathname.endsWith('.ts')) return new Worker(entry, limits);
  const load = `import('tsx/esm/api').then((tsx) => { tsx.register(); return import(${JSON.stringify(entry.href)}); })`;
  return new Worker(load, { ...limits, eval: true });
}

/** The messages of a thread: once that it takes tasks, then for each task its reply, or the error that it threw. */
type ThreadMessage = { readonly ready: true } | { readonly reply: unknown } | { readonly error: unknown };

/** Runs the tasks that the pool sends to this thread, one at a time. */
export function serveTasks(handleTask: (task: never) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs only in a worker thread.');
  const runTask = (task: unknown): ThreadMessage => {
    try {
      // The pool sends only tasks of this type.
      return { reply: handleTask(task as never) };
    } catch (error) {
      return { error };
    }
  };
  port.on('message', (task: unknown) => port.postMessage(runTask(task)));
  port.postMessage({ ready: true } satisfies ThreadMessage);
}
