import {
  generateObject,
  generateText,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
  simulateReadableStream,
  streamObject,
  streamText,
  wrapLanguageModel,
} from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { type } from 'arktype';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { alignable } from '../schema/index.js';
import { jsonMiddleware, repairText, repairToolCall } from './ai-sdk.js';

const Dose = z.object({ drug: z.string(), dosage_mg: z.number() });
const DOSE = { drug: 'ibuprofen', dosage_mg: 125 };

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const FINISH = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: USAGE } as const;

type Part = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

function createTextParts(chunks: readonly string[]): Part[] {
  return [
    { type: 'text-start', id: '1' },
    ...chunks.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
    { type: 'text-end', id: '1' },
    FINISH,
  ];
}

/** A model that answers with these parts, wrapped by the middleware. */
function createStreamingModel(chunks: readonly Part[]) {
  return wrapLanguageModel({
    model: new MockLanguageModelV3({
      doStream: async () => ({
        stream: simulateReadableStream({ chunks: [...chunks], chunkDelayInMs: null, initialDelayInMs: null }),
      }),
    }),
    middleware: jsonMiddleware(),
  });
}

function createAnsweringModel(text: string) {
  return new MockLanguageModelV3({
    doGenerate: async () => ({
      content: [{ type: 'text', text }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: USAGE,
      warnings: [],
    }),
  });
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** Splits a string into chunks of a few characters. */
function splitText(text: string, size = 5): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
}

const WRAPPED_ANSWERS = [
  ['fenced', 'Sure! Here it is:\n```json\n{"drug": "ibuprofen", "dosage_mg": 125}\n```\nStay well!'],
  ['behind thinking', '<think>{"drug": "aspirin"} or not?</think>\n{"drug": "ibuprofen", "dosage_mg": 125}'],
  ['slightly broken', "{drug: 'ibuprofen', // by mouth\n dosage_mg: 125,}"],
  ['tagged', 'The dose:\n<json>{"drug": "ibuprofen", "dosage_mg": 125}</json>'],
] as const;

describe('jsonMiddleware', () => {
  it.each(WRAPPED_ANSWERS)('makes streamObject work on an answer that is %s', async (_, answer) => {
    const { partialObjectStream, object } = streamObject({
      model: createStreamingModel(createTextParts(splitText(answer))),
      schema: Dose,
      prompt: 'Which dose?',
    });
    const partials = await collect(partialObjectStream);
    expect(await object).toEqual(DOSE);
    expect(partials).toContainEqual({ drug: expect.stringMatching(/^ibu/) });
    expect(partials.every((partial) => partial.dosage_mg === undefined || partial.dosage_mg === 125)).toBe(true);
  });

  it.each(WRAPPED_ANSWERS)('makes Output.object of streamText work on an answer that is %s', async (_, answer) => {
    const { output, textStream } = streamText({
      model: createStreamingModel(createTextParts(splitText(answer))),
      output: Output.object({ schema: Dose }),
      prompt: 'Which dose?',
    });
    expect(JSON.parse((await collect(textStream)).join(''))).toEqual(DOSE);
    expect(await output).toEqual(DOSE);
  });

  it.each(WRAPPED_ANSWERS)('makes generateObject work on an answer that is %s', async (_, answer) => {
    const model = wrapLanguageModel({ model: createAnsweringModel(answer), middleware: jsonMiddleware() });
    expect((await generateObject({ model, schema: Dose, prompt: 'Which dose?' })).object).toEqual(DOSE);
  });

  it('does not complete a truncated answer: the number is omitted and nothing is closed', async () => {
    const { textStream } = streamText({
      model: createStreamingModel(createTextParts(splitText('```json\n{"drug": "ibuprofen", "dosage_mg": 12'))),
      output: Output.object({ schema: Dose }),
      prompt: 'Which dose?',
    });
    expect((await collect(textStream)).join('')).toBe('{"drug":"ibuprofen');
  });

  it('passes a refusal through unchanged', async () => {
    const refusal = 'I cannot give medical advice. Ask {your doctor}.';
    const { textStream, output } = streamText({
      model: createStreamingModel(createTextParts(splitText(refusal))),
      output: Output.object({ schema: Dose }),
      prompt: 'Which dose?',
    });
    expect((await collect(textStream)).join('')).toBe(refusal);
    await expect(output).rejects.toThrow(NoObjectGeneratedError);
  });

  it('passes every part of a call through unchanged if it does not request JSON', async () => {
    const text = 'Use ```json\n{"a": 1,}\n```';
    const { textStream } = streamText({
      model: createStreamingModel(createTextParts(splitText(text))),
      prompt: 'How?',
    });
    expect(await collect(textStream)).toEqual(splitText(text));
  });

  it('fails instead of merging two answers when a later tag replaces the streamed answer', async () => {
    const errors: unknown[] = [];
    const { partialObjectStream } = streamObject({
      model: createStreamingModel(
        createTextParts(
          splitText(
            '<json>{"drug": "aspirin", "dosage_mg": 1}</json> No: <json>{"drug": "ibuprofen", "dosage_mg": 125}</json>',
          ),
        ),
      ),
      schema: Dose,
      prompt: 'Which dose?',
      onError: ({ error }) => void errors.push(error),
    });
    await collect(partialObjectStream).catch(() => undefined);
    expect(errors).toEqual([expect.objectContaining({ code: 'ANSWER_REPLACED' })]);
  });

  it('joins the text blocks of an answer, and ends each block once', async () => {
    const parts: Part[] = [
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: '```json\n{"drug": "ibu' },
      { type: 'text-end', id: 'a' },
      { type: 'text-start', id: 'b' },
      { type: 'text-delta', id: 'b', delta: 'profen", "dosage_mg": 125}\n```' },
      { type: 'text-end', id: 'b' },
      FINISH,
    ];
    const { stream } = await createStreamingModel(parts).doStream({ prompt: [], responseFormat: { type: 'json' } });
    const streamed = await collect(stream);
    expect(streamed.map((part) => ('id' in part ? `${part.type} ${part.id}` : part.type))).toEqual([
      'text-start a',
      'text-delta a',
      'text-end a',
      'text-start b',
      'text-delta b',
      'text-delta b',
      'text-end b',
      'finish',
    ]);
  });

  it('sends the rest of the value in the open block, even if that block is empty', async () => {
    const parts: Part[] = [
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: '{"drug": "ibuprofen", "dosage_mg": 125}' },
      { type: 'text-end', id: 'a' },
      { type: 'text-start', id: 'b' },
      { type: 'text-end', id: 'b' },
      FINISH,
    ];
    const { stream } = await createStreamingModel(parts).doStream({ prompt: [], responseFormat: { type: 'json' } });
    const streamed = await collect(stream);
    expect(streamed.map((part) => ('id' in part ? `${part.type} ${part.id}` : part.type))).toEqual([
      'text-start a',
      'text-delta a',
      'text-end a',
      'text-start b',
      'text-delta b',
      'text-end b',
      'finish',
    ]);
  });

  it("repairs the arguments of streamed tool calls using the tool's schema", async () => {
    const parts: Part[] = [
      { type: 'tool-call', toolCallId: 'c1', toolName: 'order', input: "{drug: 'ibuprofen', dosage_mg: 125,}" },
      FINISH,
    ];
    const { toolCalls } = streamText({
      model: createStreamingModel(parts),
      tools: { order: { inputSchema: Dose } },
      prompt: 'Order it.',
    });
    expect((await toolCalls).map(({ input }) => input)).toEqual([DOSE]);
  });

  it('streams text that adds up to the value, for any JSON split at any position', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ noUnicodeString: false }), fc.integer({ min: 1, max: 9 }), async (json, size) => {
        const { stream } = await createStreamingModel(createTextParts(splitText(json, size))).doStream({
          prompt: [],
          responseFormat: { type: 'json' },
        });
        let text = '';
        for await (const part of stream) if (part.type === 'text-delta') text += part.delta;
        expect(JSON.parse(text)).toEqual(JSON.parse(json));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['complete', '", "b": 1}', '","b":1}'],
    ['truncated', '', ''],
  ])('streams a long string in linear time, in a %s answer', async (_, end, expectedEnd) => {
    const string = JSON.stringify('Ünïcode and "quotes", '.repeat(15_000)).slice(0, -1);
    const answer = `{"a": ${string}${end}`;
    const { stream } = await createStreamingModel(createTextParts(splitText(answer, 4))).doStream({
      prompt: [],
      responseFormat: { type: 'json' },
    });
    let text = '';
    for await (const part of stream) if (part.type === 'text-delta') text += part.delta;
    expect(text).toBe(`{"a":${string}${expectedEnd}`);
  });
});

describe('repairText', () => {
  it.each(WRAPPED_ANSWERS)('repairs an answer that is %s', async (_, answer) => {
    const { object } = await generateObject({
      model: createAnsweringModel(answer),
      schema: Dose,
      prompt: 'Which dose?',
      experimental_repairText: repairText(Dose),
    });
    expect(object).toEqual(DOSE);
  });

  it.each([
    ['cut inside a number', '{"drug": "ibuprofen", "dosage_mg": 12'],
    ['cut inside a string', '{"dosage_mg": 125, "drug": "ibu'],
    ['prose', 'Take 125 mg of ibuprofen, twice.'],
    ['of a different shape', '{"name": "ibuprofen"}'],
  ])('returns null for an answer that is %s, so the SDK throws its own error', async (_, text) => {
    expect(await repairText(Dose)({ text })).toBeNull();
  });

  it('returns the value before the schema transforms it: the SDK transforms it itself', async () => {
    const schema = z.object({ count: z.string().transform(Number) });
    const { object } = await generateObject({
      model: createAnsweringModel('```json\n{"count": "3",}\n```'),
      schema,
      prompt: 'How many?',
      experimental_repairText: repairText(schema),
    });
    expect(object).toEqual({ count: 3 });
  });

  it('accepts asynchronous schemas, SDK schemas, functions, and no schema', async () => {
    const text = 'So: {n: 1}';
    const asyncSchema = z.object({ n: z.number().refine(async (n) => n === 1) });
    expect(await repairText(asyncSchema)({ text })).toBe('{"n":1}');
    expect(await repairText(jsonSchema({ type: 'object', required: ['n'] }))({ text })).toBe('{"n":1}');
    expect(await repairText(jsonSchema({ type: 'object', required: ['m'] }))({ text })).toBeNull();
    expect(await repairText(type({ n: 'number' }))({ text })).toBe('{"n":1}');
    expect(await repairText()({ text })).toBe('{"n":1}');
  });

  it('aligns on request', async () => {
    expect(
      await repairText(alignable(Dose), { align: true })({ text: '{"drug": "ibuprofen", "dosage_mg": "125"}' }),
    ).toBe(JSON.stringify(DOSE));
  });
});

describe('repairToolCall', () => {
  const tools = { order: { inputSchema: Dose } };
  const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'order', input: '' };

  it("repairs a call's arguments", async () => {
    const model = new MockLanguageModelV3({
      doGenerate: async () => ({
        content: [{ ...call, input: "```json\n{drug: 'ibuprofen', dosage_mg: 125}\n```" }],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage: USAGE,
        warnings: [],
      }),
    });
    const { toolCalls } = await generateText({
      model,
      tools,
      prompt: 'Order it.',
      experimental_repairToolCall: repairToolCall(tools),
    });
    expect(toolCalls.map(({ input }) => input)).toEqual([DOSE]);
  });

  it.each([
    ['unknown tool', { ...call, toolName: 'toString', input: '{}' }],
    ['cut arguments', { ...call, input: '{"drug": "ibuprofen", "dosage_mg": 12' }],
    ['arguments of a different shape', { ...call, input: '{"drug": 1}' }],
  ])('returns null for %s', async (_, toolCall) => {
    expect(await repairToolCall(tools)({ toolCall })).toBeNull();
  });
});
