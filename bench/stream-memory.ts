/**
 * Streams one shape and prints the bytes in use after garbage collection, as JSON. Started by `part-streaming.ts` with
 * `--expose-gc`.
 */
import { createJsonStream } from './product.js';
import { cutText, STREAM_TEXTS, type StreamShape } from './stream-texts.js';

const BYTES = 1_000_000;

const shape = process.argv[2] ?? '';
if (!isShape(shape)) throw new Error(`Unknown shape: ${shape}.`);
/** Outside the heap, so only retained values are counted. */
const text = Buffer.from(STREAM_TEXTS[shape](BYTES).text, 'latin1');
const json = Buffer.from(STREAM_TEXTS[shape](BYTES).json, 'latin1');

// Runs once so the engine compiles the code, which must not be counted.
streamAll(text).stream.end();

const value = measureGrowth(() => JSON.parse(json.toString('latin1')) as unknown);
const streaming = measureGrowth(() => streamAll(text));
const ended = measureGrowth(() => {
  const retained = streamAll(text);
  return { ...retained, result: retained.stream.end() };
});
console.log(JSON.stringify({ text: text.length, value, streaming, ended }));

function streamAll(bytes: Buffer): { stream: ReturnType<typeof createJsonStream>; snapshot: unknown } {
  const stream = createJsonStream();
  let snapshot: unknown;
  for (const chunk of cutText(bytes)) snapshot = stream.push(chunk);
  return { stream, snapshot };
}

/** V8 retains the string that the last regular expression matched; matching a short string releases it. */
function forgetLastMatch(): void {
  /a/.exec('a');
}

/** Returns how much the heap grows while the created value is held. */
function measureGrowth(make: () => unknown): number {
  const before = readHeapUsed();
  const heldValue = [make()];
  const after = readHeapUsed();
  return heldValue.length === 1 ? after - before : Number.NaN;
}

function readHeapUsed(): number {
  if (globalThis.gc === undefined) throw new Error('Start this script with --expose-gc.');
  forgetLastMatch();
  for (let count = 0; count < 3; count++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

function isShape(name: string): name is StreamShape {
  return Object.hasOwn(STREAM_TEXTS, name);
}
