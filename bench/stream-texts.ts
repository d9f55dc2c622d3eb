import { makeFindings } from './findings.js';
import { Random } from './random.js';

/** Input to stream. */
export interface StreamText {
  readonly text: string;
  /** The JSON in it, for `JSON.parse`. */
  readonly json: string;
}

const CHUNK = 20;
const LEVELS = 900;

/** Functions that create about `bytes` bytes of input, by shape name. */
export const STREAM_TEXTS = {
  records: (bytes) => plain(JSON.stringify(makeFindings(bytes, 1, JSON.stringify))),
  'wide array': (bytes) => plain(wideArray(bytes)),
  '900 levels around records': (bytes) => {
    const { findings } = makeFindings(bytes, 1, JSON.stringify);
    return plain(`${'{"a":['.repeat(LEVELS / 2)}${JSON.stringify(findings).slice(1, -1)}${']}'.repeat(LEVELS / 2)}`);
  },
  'one long string': (bytes) => plain(JSON.stringify({ report: longString(bytes) })),
  'fence after thinking': (bytes) => {
    const json = JSON.stringify(
      makeFindings(bytes * 0.8, 1, (value) => JSON.stringify(value, null, 2)),
      null,
      2,
    );
    // A fifth of the input: the sentence has 64 characters.
    const thinking = 'First {"findings": []} came to mind, but the list is not empty. '.repeat(bytes / 320);
    return { json, text: `<think>${thinking}</think>\nHere is the review:\n\n\`\`\`json\n${json}\n\`\`\`\n` };
  },
} satisfies Readonly<Record<string, (bytes: number) => StreamText>>;

/** The name of a shape. */
export type StreamShape = keyof typeof STREAM_TEXTS;

/** Splits ASCII input like a model's stream: into short strings that share no memory with it. */
export function* cutText(text: Buffer): Generator<string> {
  for (let at = 0; at < text.length; at += CHUNK) yield text.toString('latin1', at, at + CHUNK);
}

function plain(json: string): StreamText {
  return { text: json, json };
}

function wideArray(bytes: number): string {
  const random = new Random(2);
  const items: number[] = [];
  for (let length = 0; length < bytes; length += String(items.at(-1)).length + 1) items.push(random.below(100_000));
  return JSON.stringify(items);
}

function longString(bytes: number): string {
  return makeFindings(bytes * 5, 3, JSON.stringify)
    .findings.map(({ message }) => message)
    .join('\n')
    .slice(0, bytes);
}
