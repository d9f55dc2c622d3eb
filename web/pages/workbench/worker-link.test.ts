import { afterEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import type { InspectionInput } from './inspection.js';
import { createTextReader } from './text-reader.js';
import { readText, openWorker } from './use-inspection.js';
import type { WorkerLink } from './use-inspection.js';
import type { WorkerCall, WorkerResponse } from './text-reader.js';

/** A worker that responds when the test calls `respond`. */
class ManualWorker extends EventTarget {
  readonly #reader = createTextReader(() => 0);
  readonly requests: WorkerCall[] = [];
  isEnded = false;

  postMessage(request: WorkerCall): void {
    this.requests.push(request);
  }

  terminate(): void {
    this.isEnded = true;
  }

  /** Responds to the oldest request, as the worker would or with another response. */
  respond(failure?: string): void {
    const request = this.requests.shift();
    if (request === undefined) throw new Error('There is no request.');
    const { number, name, input } = request;
    const data: WorkerResponse =
      failure === undefined ? { number, output: Reflect.apply(this.#reader[name], null, input) } : { number, failure };
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
}

function open() {
  const workers: ManualWorker[] = [];
  const link = openWorker(() => {
    const worker = new ManualWorker();
    workers.push(worker);
    return worker;
  });
  const worker = (index = workers.length - 1): ManualWorker => {
    const found = workers[index];
    if (found === undefined) throw new Error('no worker was started');
    return found;
  };
  return { link, workers, worker };
}

const input = (text: string, schemaText = ''): InspectionInput => ({ text, schemaText, options: DEFAULT_OPTIONS });

async function readWith(link: WorkerLink, worker: () => ManualWorker, text: string) {
  const pending = readText(link, input(text));
  worker().respond();
  const reading = await pending;
  if (reading === null || !('text' in reading)) throw new Error('not read');
  return reading;
}

afterEach(() => {
  vi.useRealTimers();
});

describe('input parsed by a worker', () => {
  it('uses a worker that the first request starts and that handles later requests', async () => {
    const { link, workers, worker } = open();
    expect(workers).toHaveLength(0);
    const reading = await readWith(link, worker, '{"a": 1,}');
    expect(reading.inspection.outcome).toEqual({ status: 'success', repairLevel: 'deterministic_generic' });
    const formatted = reading.formatValue();
    worker().respond();
    expect(await formatted).toBe('{\n  "a": 1\n}');
    const view = reading.pushStream(2, 1);
    worker().respond();
    expect(await view).toMatchObject({ received: 2 });
    expect(workers).toHaveLength(1);
  });

  it('is abandoned if canceled: its worker is terminated, and another parses the next input', async () => {
    const { link, workers, worker } = open();
    const first = readText(link, input('[1]'));
    expect(link.cancel()).toBe(true);
    expect(await first).toBeNull();
    expect(worker().isEnded).toBe(true);
    const second = await readWith(link, worker, '[2]');
    expect(second.text).toBe('[2]');
    expect(workers).toHaveLength(2);
  });

  it('is not abandoned once parsed, and its worker stays', async () => {
    const { link, worker } = open();
    await readWith(link, worker, '[1]');
    expect(link.cancel()).toBe(false);
    expect(worker().isEnded).toBe(false);
  });

  it('makes a later request about the previous input obsolete', async () => {
    const { link, worker } = open();
    const first = await readWith(link, worker, '[1]');
    const second = readText(link, input('[2]'));
    const lateValue = first.formatValue();
    worker().respond();
    worker().respond();
    expect(await second).toHaveProperty('inspection');
    expect(await lateValue).toBeNull();
  });

  it('is refused if the schema is invalid', async () => {
    const { link, worker } = open();
    const pending = readText(link, input('[1]', '{'));
    worker().respond();
    expect(await pending).toHaveProperty('schemaProblem');
  });
});

describe('a failing worker', () => {
  it('is reported if it cannot be loaded, and the next request starts another', async () => {
    const { link, worker } = open();
    const pending = readText(link, input('[1]'));
    worker().dispatchEvent(new Event('error'));
    await expect(pending).rejects.toThrow('could not be loaded');
    expect(worker().isEnded).toBe(true);
    expect((await readWith(link, worker, '[1]')).text).toBe('[1]');
  });

  it('is reported with its error message', async () => {
    const { link, worker } = open();
    const pending = readText(link, input('[1]'));
    worker().dispatchEvent(Object.assign(new Event('error'), { message: 'no room left' }));
    await expect(pending).rejects.toThrow('no room left');
  });

  it('is reported if it cannot be created', async () => {
    const link = openWorker(() => {
      throw new TypeError('refused by the policy of the page');
    });
    await expect(readText(link, input('[1]'))).rejects.toThrow('refused by the policy');
  });

  it('handles the next request if only one request failed', async () => {
    const { link, workers, worker } = open();
    const pending = readText(link, input('[1]'));
    worker().respond('out of memory');
    await expect(pending).rejects.toThrow('out of memory');
    await readWith(link, worker, '[1]');
    expect(workers).toHaveLength(1);
  });

  it('times out if it does not respond', async () => {
    vi.useFakeTimers();
    const { link, worker } = open();
    const pending = readText(link, input('[1]'));
    await Promise.all([
      expect(pending).rejects.toThrow('No response for 2 minutes'),
      vi.advanceTimersByTimeAsync(120_000),
    ]);
    expect(worker().isEnded).toBe(true);
  });

  it('is ignored once terminated', async () => {
    const { link, worker } = open();
    const first = readText(link, input('[1]'));
    link.cancel();
    await first;
    const second = readText(link, input('[2]'));
    worker(0).dispatchEvent(new Event('error'));
    worker(1).respond();
    expect(await second).toHaveProperty('inspection');
  });
});

it('closing the link terminates the worker, and pending requests return null', async () => {
  const { link, worker } = open();
  const pending = readText(link, input('[1]'));
  link.close();
  expect([await pending, worker().isEnded]).toEqual([null, true]);
});
