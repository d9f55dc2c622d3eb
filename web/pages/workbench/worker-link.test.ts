import { afterEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import type { InspectionInput } from './inspection.js';
import { createTextReader } from './text-reader.js';
import { readText } from './text-reading.js';
import { openWorker } from './worker-link.js';
import type { WorkerLink } from './worker-link.js';
import type { Numbered, WorkerResponse, WorkerRequest } from './text-reader.js';

/** A worker as the browser provides it to a page, which answers when the test lets it. */
class HandWorker extends EventTarget {
  readonly #reader = createTextReader(() => 0);
  readonly asked: Numbered<WorkerRequest>[] = [];
  isEnded = false;

  postMessage(question: Numbered<WorkerRequest>): void {
    this.asked.push(question);
  }

  terminate(): void {
    this.isEnded = true;
  }

  /** Answers the oldest question, as the worker would or with something else. */
  answer(other?: WorkerResponse): void {
    const question = this.asked.shift();
    if (question === undefined) throw new Error('nothing was asked');
    const { number } = question;
    const message = other ?? this.#reader.handle(number, question.message);
    this.dispatchEvent(new MessageEvent('message', { data: { number, message } }));
  }
}

function open() {
  const workers: HandWorker[] = [];
  const link = openWorker(() => {
    const worker = new HandWorker();
    workers.push(worker);
    return worker;
  });
  const worker = (index = workers.length - 1): HandWorker => {
    const found = workers[index];
    if (found === undefined) throw new Error('no worker was started');
    return found;
  };
  return { link, workers, worker };
}

const input = (text: string, schemaText = ''): InspectionInput => ({ text, schemaText, options: DEFAULT_OPTIONS });

async function readIn(link: WorkerLink, worker: () => HandWorker, text: string) {
  const asked = readText(link, input(text));
  worker().answer();
  const reading = await asked;
  if (reading?.kind !== 'reading') throw new Error('not read');
  return reading;
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a text read by a worker', () => {
  it('starts the worker with the first request, and sends later requests to the same worker', async () => {
    const { link, workers, worker } = open();
    expect(workers).toHaveLength(0);
    const reading = await readIn(link, worker, '{"a": 1,}');
    expect(reading.inspection.outcome).toEqual({ status: 'success', repairLevel: 'deterministic_generic' });
    const written = reading.formatValue();
    worker().answer();
    expect(await written).toBe('{\n  "a": 1\n}');
    const view = reading.pushStream(2, 1);
    worker().answer();
    expect(await view).toMatchObject({ received: 2 });
    expect(workers).toHaveLength(1);
  });

  it('is abandoned for the next one: its worker ends, and another parses the next text', async () => {
    const { link, workers, worker } = open();
    const first = readText(link, input('[1]'));
    expect(link.cancel()).toBe(true);
    expect(await first).toBeNull();
    expect(worker().isEnded).toBe(true);
    const second = await readIn(link, worker, '[2]');
    expect(second.text).toBe('[2]');
    expect(workers).toHaveLength(2);
  });

  it('that was already read is not abandoned, and its worker stays', async () => {
    const { link, worker } = open();
    await readIn(link, worker, '[1]');
    expect(link.cancel()).toBe(false);
    expect(worker().isEnded).toBe(false);
  });

  it('is not mixed up with the previous one, in any order of responses', async () => {
    const { link, worker } = open();
    const first = await readIn(link, worker, '[1]');
    const second = readText(link, input('[2]'));
    const late = first.formatValue();
    worker().answer();
    worker().answer();
    expect((await second)?.kind).toBe('reading');
    expect(await late).toBeNull();
  });

  it('waits for a schema that can be used', async () => {
    const { link, worker } = open();
    const asked = readText(link, input('[1]', '{'));
    worker().answer();
    expect(await asked).toMatchObject({ kind: 'refusal' });
  });
});

describe('a worker that fails', () => {
  it('to start, reports it, and the next request starts another', async () => {
    const { link, worker } = open();
    const asked = readText(link, input('[1]'));
    worker().dispatchEvent(new Event('error'));
    await expect(asked).rejects.toThrow('could not be loaded');
    expect(worker().isEnded).toBe(true);
    expect((await readIn(link, worker, '[1]')).kind).toBe('reading');
  });

  it('while it reads, reports why', async () => {
    const { link, worker } = open();
    const asked = readText(link, input('[1]'));
    worker().dispatchEvent(Object.assign(new Event('error'), { message: 'no room left' }));
    await expect(asked).rejects.toThrow('no room left');
  });

  it('to be created, reports it', async () => {
    const link = openWorker(() => {
      throw new TypeError('refused by the policy of the page');
    });
    await expect(readText(link, input('[1]'))).rejects.toThrow('refused by the policy');
  });

  it('that fails one request handles the next', async () => {
    const { link, workers, worker } = open();
    const asked = readText(link, input('[1]'));
    worker().answer({ kind: 'failed', message: 'out of memory' });
    await expect(asked).rejects.toThrow('out of memory');
    await readIn(link, worker, '[1]');
    expect(workers).toHaveLength(1);
  });

  it('to answer, times out', async () => {
    vi.useFakeTimers();
    const { link, worker } = open();
    const asked = readText(link, input('[1]'));
    await Promise.all([
      expect(asked).rejects.toThrow('No response for 2 minutes'),
      vi.advanceTimersByTimeAsync(120_000),
    ]);
    expect(worker().isEnded).toBe(true);
  });

  it('after it was stopped is ignored', async () => {
    const { link, worker } = open();
    const first = readText(link, input('[1]'));
    link.cancel();
    await first;
    const second = readText(link, input('[2]'));
    worker(0).dispatchEvent(new Event('error'));
    worker(1).answer();
    expect((await second)?.kind).toBe('reading');
  });
});

it('closing ends the worker, and pending requests have no response', async () => {
  const { link, worker } = open();
  const asked = readText(link, input('[1]'));
  link.close();
  expect([await asked, worker().isEnded]).toEqual([null, true]);
});
