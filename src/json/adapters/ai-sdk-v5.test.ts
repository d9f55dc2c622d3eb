import { generateObject, simulateReadableStream, streamObject, wrapLanguageModel } from 'ai-v5';
import { MockLanguageModelV2 } from 'ai-v5/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonMiddleware, repairText } from './ai-sdk.js';

const Dose = z.object({ drug: z.string(), dosage_mg: z.number() });
const ANSWER = 'Sure!\n```json\n{"drug": "ibuprofen", "dosage_mg": 125,}\n```';
const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

const model = new MockLanguageModelV2({
  doGenerate: async () => ({
    content: [{ type: 'text', text: ANSWER }],
    finishReason: 'stop',
    usage: USAGE,
    warnings: [],
  }),
  doStream: async () => ({
    stream: simulateReadableStream({
      initialDelayInMs: null,
      chunkDelayInMs: null,
      chunks: [
        { type: 'text-start', id: '1' },
        ...(ANSWER.match(/[^]{1,4}/g) ?? []).map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
        { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: 'stop', usage: USAGE },
      ],
    }),
  }),
});

describe('the adapters with version 5 of the AI SDK', () => {
  it('repair an answer while it streams', async () => {
    const wrappedModel = wrapLanguageModel({ model, middleware: jsonMiddleware() });
    const { partialObjectStream, object } = streamObject({ model: wrappedModel, schema: Dose, prompt: 'Which dose?' });
    const partials: unknown[] = [];
    for await (const partial of partialObjectStream) partials.push(partial);
    expect(partials).toContainEqual({ drug: expect.stringMatching(/^ibu/) });
    expect(await object).toEqual({ drug: 'ibuprofen', dosage_mg: 125 });
  });

  it('repair an answer', async () => {
    const { object } = await generateObject({
      model,
      schema: Dose,
      prompt: 'Which dose?',
      experimental_repairText: repairText(Dose),
    });
    expect(object).toEqual({ drug: 'ibuprofen', dosage_mg: 125 });
  });
});
