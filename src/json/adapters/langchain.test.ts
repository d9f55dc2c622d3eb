import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { OutputParserException } from '@langchain/core/output_parsers';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SluiceOutputParser } from './langchain.js';

const Finding = z.object({ file: z.string(), line: z.int() });
const ANSWER = '<think>{"file": "b.ts"}?</think>Here:\n```json\n{"file": "a.ts", "line": 3,}\n```';

/** A chain whose model answers with this text. */
function createChain(answer: string) {
  const parser = new SluiceOutputParser(Finding);
  const prompt = ChatPromptTemplate.fromMessages([['human', 'Where is the bug?\n{instructions}']]);
  const chain = prompt.pipe(new FakeListChatModel({ responses: [answer] })).pipe(parser);
  return { chain, input: { instructions: parser.getFormatInstructions() } };
}

describe('SluiceOutputParser', () => {
  it('returns the validated value at the end of a chain', async () => {
    const { chain, input } = createChain(ANSWER);
    expect(await chain.invoke(input)).toEqual({ file: 'a.ts', line: 3 });
  });

  it('yields partial values, then the validated value', async () => {
    const { chain, input } = createChain(ANSWER);
    const values: unknown[] = [];
    for await (const value of await chain.stream(input)) values.push(value);
    expect(values).toContainEqual({ file: 'a.t' });
    expect(values.at(-1)).toEqual({ file: 'a.ts', line: 3 });
    // Each yielded value is a copy, which does not change later.
    expect(new Set(values.map((value) => JSON.stringify(value))).size).toBeGreaterThan(4);
  });

  it("throws LangChain's exception, with the output and the cause", async () => {
    const { chain, input } = createChain('{"file": "a.ts", "line": "three"}');
    const failure: unknown = await chain.invoke(input).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OutputParserException);
    expect(failure).toMatchObject({
      llmOutput: '{"file": "a.ts", "line": "three"}',
      cause: { code: 'SCHEMA_MISMATCH' },
    });
  });

  it('includes the label in every message, also for an answer without a <json> block', async () => {
    const parser = new SluiceOutputParser(Finding, { profile: 'tagged', label: 'review' });
    await expect(parser.parse('just words')).rejects.toThrow('review: No <json> block found.');
  });

  it('throws at the end of a stream that contains no JSON', async () => {
    const { chain, input } = createChain('I cannot say.');
    const read = async () => {
      for await (const value of await chain.stream(input)) expect(value).toBeUndefined();
    };
    await expect(read()).rejects.toMatchObject({ cause: { code: 'NO_JSON' } });
  });

  it('reads the text of messages made of blocks', async () => {
    const parser = new SluiceOutputParser(Finding);
    const blocks = [
      { type: 'text' as const, text: '{"file": "a.ts", ' },
      { type: 'text' as const, text: '"line": 3}' },
    ];
    expect(await parser.invoke(new AIMessage({ content: blocks }))).toEqual({ file: 'a.ts', line: 3 });
    const chunks = (async function* () {
      for (const block of blocks) yield new AIMessageChunk({ content: [block] });
    })();
    const values: unknown[] = [];
    for await (const value of parser.transform(chunks, {})) values.push(value);
    expect(values.at(-1)).toEqual({ file: 'a.ts', line: 3 });
  });

  it("describes the format with the schema's JSON Schema", () => {
    expect(new SluiceOutputParser(Finding).getFormatInstructions()).toContain('"line":{"type":"integer"');
  });
});
