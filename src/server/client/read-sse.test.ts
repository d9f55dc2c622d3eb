import { expect, it } from 'vitest';
import { readSse } from './follow-run.js';
import type { SseEvent } from './follow-run.js';

/** Reads the events from text that arrives in chunks of this many bytes. */
async function read(text: string, size: number): Promise<SseEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let offset = 0; offset < bytes.length; offset += size)
        controller.enqueue(bytes.slice(offset, offset + size));
      controller.close();
    },
  });
  const events: SseEvent[] = [];
  for await (const event of readSse(body)) events.push(event);
  return events;
}

it.each([
  ['id: 1\ndata: {}\n\n', [{ name: 'message', data: '{}', id: '1' }]],
  ['data: a\ndata: b\n\n', [{ name: 'message', data: 'a\nb', id: undefined }]],
  ['event: gap\rid: 3\rdata: x\n\n', [{ name: 'gap', data: 'x', id: '3' }]],
  ['data:tight\r\n\r\n', [{ name: 'message', data: 'tight', id: undefined }]],
  ['data\n\n', [{ name: 'message', data: '', id: undefined }]],
  [': nothing\n\nretry: 5\n\nevent: x\n\n', []],
  ['data: 名 😀\n\n', [{ name: 'message', data: '名 😀', id: undefined }]],
  ['id: 1\ndata: cut off', []],
  ['id: 1\ndata: cut off\n', []],
  ['id: a\0b\ndata: x\n\n', [{ name: 'message', data: 'x', id: undefined }]],
])('readSse reads %j in chunks of any size', async (text, events) => {
  for (const size of [1, 7, 1000]) expect(await read(text, size)).toEqual(events);
});

it.each([
  ['a line that does not end', 'data: 123456789'],
  ['an event that does not end', 'data: 1234\ndata: 5678\ndata: 9\n'],
])('readSse rejects %s', async (_, text) => {
  const body = new Response(text).body;
  if (body === null) throw new Error('no body');
  await expect(readSse(body, { maxLength: 10 }).next()).rejects.toThrow(RangeError);
});

it('readSse cancels the body when its reader stops', async () => {
  let isCanceled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
    cancel() {
      isCanceled = true;
    },
  });
  for await (const _ of readSse(body)) break;
  expect(isCanceled).toBe(true);
});
