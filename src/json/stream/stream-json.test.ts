import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonSnapshot } from './json-stream.js';
import { createJsonTransform, streamJson } from './stream-json.js';

const schema = z.object({ items: z.array(z.number()) });
type Items = z.infer<typeof schema>;
/** Rejects a finished item that is not a number. */
const strict = {
  '~standard': schema['~standard'],
  '~sluice': {
    align: (value: unknown) => ({ value, changes: [] }),
    checkPart: (path: readonly (string | number)[], value: unknown) =>
      path.length === 2 && typeof value !== 'number' ? [{ message: 'must be a number', path }] : [],
  },
};
const chunks = ['Here: {"it', 'ems": [1, ', '2], }', ' done'];

describe('streamJson', () => {
  it('yields a snapshot for each chunk, the last one with the result', async () => {
    const values: unknown[] = [];
    let last: unknown;
    for await (const { value, result } of streamJson(chunks, schema)) {
      values.push(structuredClone(value));
      last = result?.ok === true ? result.value : undefined;
    }
    expect(values).toEqual([{}, { items: [1] }, { items: [1, 2] }, { items: [1, 2] }, { items: [1, 2] }]);
    expect(last).toEqual({ items: [1, 2] });
  });

  it('reads a Node Readable of bytes', async () => {
    const results = [];
    for await (const { result } of streamJson(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), schema)) {
      if (result !== undefined) results.push(result.ok && result.value);
    }
    expect(results).toEqual([{ items: [1, 2] }]);
  });

  it('closes the source when the value is complete, if configured to stop there', async () => {
    let closed = false;
    async function* source(): AsyncGenerator<string> {
      try {
        yield '{"items": []}';
        yield 'never read';
        throw new Error('was read on');
      } finally {
        closed = true;
      }
    }
    const snapshots = [];
    for await (const snapshot of streamJson(source(), schema, { stopWhenComplete: true })) snapshots.push(snapshot);
    expect(closed).toBe(true);
    expect(snapshots.at(-1)?.result?.ok).toBe(true);
  });

  it('closes the source as soon as a finished part violates the schema', async () => {
    let read = 0;
    async function* source(): AsyncGenerator<string> {
      for (;;) {
        read++;
        yield '{"items": ["wrong", 1, ';
      }
    }
    const snapshots = [];
    for await (const snapshot of streamJson(source(), strict, { validatePartial: true })) snapshots.push(snapshot);
    expect(read).toBe(1);
    expect(snapshots.at(-1)?.result?.status).toBe('failed');
  });

  it("rejects with the source's error", async () => {
    async function* source(): AsyncGenerator<string> {
      yield '{';
      throw new Error('connection lost');
    }
    await expect(async () => {
      for await (const snapshot of streamJson(source())) expect(snapshot.result).toBeUndefined();
    }).rejects.toThrow('connection lost');
  });
});

describe('createJsonTransform', () => {
  /** Pipes these chunks through the transform and returns its output. */
  async function read(
    inputs: readonly string[],
    ...[schemaArgument, options]: Parameters<typeof createJsonTransform<Items>>
  ): Promise<JsonSnapshot<Items>[]> {
    const source = new ReadableStream<string>({
      start(controller) {
        for (const text of inputs) controller.enqueue(text);
        controller.close();
      },
    });
    const snapshots: JsonSnapshot<Items>[] = [];
    for await (const snapshot of source.pipeThrough(createJsonTransform(schemaArgument, options)))
      snapshots.push(snapshot);
    return snapshots;
  }

  it('turns a text stream into a stream of snapshots', async () => {
    const snapshots = await read(chunks, schema);
    expect(snapshots).toHaveLength(chunks.length + 1);
    expect(snapshots.at(-1)).toMatchObject({ complete: true, result: { ok: true, value: { items: [1, 2] } } });
  });

  it('ends when the value is complete, if configured to stop there', async () => {
    const snapshots = await read(['{"items": [1]}', ' {"items": [2]}'], schema, { stopWhenComplete: true });
    expect(snapshots.map(({ result }) => result?.ok === true && result.value)).toEqual([false, { items: [1] }]);
  });

  it('ends as soon as a finished part violates the schema, even if it completes the value', async () => {
    const options = { stopWhenComplete: true, validatePartial: true };
    const snapshots = await read(['{"items": ["wrong"]}', ' more'], strict, options);
    expect(snapshots.map(({ result }) => result?.status)).toEqual(['failed']);
  });
});
