import { Output, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { compare, type Timing } from './measure.js';
import { atMost, formatRatio, type PartResult } from './part-result.js';
import { jsonMiddleware } from './product.js';
import { cutText, STREAM_TEXTS } from './stream-texts.js';

/** Sizes of a streamed answer: 4 KB is usual, 32 KB long. */
const SIZES = [4_000, 32_000];
/** The overhead that the middleware may add to a stream that `streamText` reads as an object. */
const LIMIT = 1.5;
const EFFORT = { rounds: 15, budget: 3000 };

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const Review = z.object({ findings: z.array(z.unknown()) });

type Part = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

/**
 * Measures the cost of the `sluice/ai-sdk` middleware per chunk of 20 characters, compared with no middleware: alone,
 * and inside `streamText` with `Output.object`.
 */
export async function runMiddleware(): Promise<PartResult> {
  const rows: string[][] = [];
  const targets = [];
  for (const bytes of SIZES) {
    const parts = createParts(bytes);
    const pieces = parts.length - 3;
    const [bare, wrapped] = await compare(
      [
        { name: 'none', run: async () => drain(createStream(parts)) },
        { name: 'middleware', run: async () => drain(await repair(parts)) },
      ],
      EFFORT,
    );
    const [standalone, withStreamText] = await compare(
      [
        { name: 'none', run: async () => readObject(createModel(parts)) },
        { name: 'middleware', run: async () => readObject(withMiddleware(parts)) },
      ],
      EFFORT,
    );
    const kilobytes = `${bytes / 1000} KB`;
    rows.push(
      describe(`${kilobytes}, ${pieces} pieces, read without streamText`, pieces, bare, wrapped),
      describe(`${kilobytes}, ${pieces} pieces, read by streamText`, pieces, standalone, withStreamText),
    );
    targets.push(
      atMost(
        `AI SDK middleware, ${kilobytes}  in chunks`,
        withStreamText?.ratio ?? Number.NaN,
        LIMIT,
        '`streamText` without it',
      ),
    );
  }
  return {
    title: 'AI SDK middleware',
    targets,
    tables: [{ title: 'One chunk of a streamed answer', columns: ['', 'without', 'with', 'ratio'], rows }],
    groups: [],
  };
}

function describe(what: string, pieces: number, without?: Timing, measured?: Timing): string[] {
  const micros = (timing?: Timing): string =>
    `${((1000 * (timing?.milliseconds ?? Number.NaN)) / pieces).toFixed(1)} µs`;
  return [what, micros(without), micros(measured), formatRatio(measured?.ratio ?? Number.NaN)];
}

function createParts(bytes: number): Part[] {
  const pieces = [...cutText(Buffer.from(STREAM_TEXTS.records(bytes).text))];
  return [
    { type: 'text-start', id: '1' },
    ...pieces.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
    { type: 'text-end', id: '1' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: USAGE },
  ];
}

function createStream(parts: readonly Part[]): ReadableStream<Part> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const part = parts[next];
      next += 1;
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}

async function repair(parts: readonly Part[]): Promise<ReadableStream<object>> {
  const doStream = async (): Promise<{ stream: ReadableStream<object> }> =>
    Promise.resolve({ stream: createStream(parts) });
  const params = { responseFormat: { type: 'json', schema: z.toJSONSchema(Review) } };
  return (await jsonMiddleware().wrapStream({ doStream, params })).stream;
}

function createModel(parts: readonly Part[]): MockLanguageModelV3 {
  return new MockLanguageModelV3({ doStream: async () => Promise.resolve({ stream: createStream(parts) }) });
}

function withMiddleware(parts: readonly Part[]) {
  return wrapLanguageModel({ model: createModel(parts), middleware: jsonMiddleware() });
}

async function readObject(model: Parameters<typeof streamText>[0]['model']): Promise<void> {
  const { partialOutputStream, output } = streamText({
    model,
    output: Output.object({ schema: Review }),
    prompt: 'Review it.',
  });
  await drain(partialOutputStream);
  await output;
}

async function drain(stream: ReadableStream<unknown> | AsyncIterable<unknown>): Promise<void> {
  let count = 0;
  for await (const _ of stream as AsyncIterable<unknown>) count += 1;
  if (count === 0) throw new Error('Nothing was streamed.');
}
