import { Random } from './random.js';

/** The one value in the prose. */
export const VERDICT = { verdict: 'accept', score: 0.87, reasons: ['the tests pass', 'he said "ship it"'] };

const WORDS = [
  'release', 'notes', 'mention', 'that', 'every', 'worker', 'reads', 'its', 'order', 'before', 'the', 'first', 'attempt',
  'and', 'then', 'waits', 'for', 'a', 'reply', 'which', 'may', 'never', 'come', 'because', 'nobody', 'was', 'asked',
] as const; // prettier-ignore
/** Text in real prose that only looks like JSON. */
const NOISE = [
  '[1]',
  '{name}',
  "it's",
  '"quoted"',
  '`code()`',
  'a < b',
  'x[0]',
  '(see {section})',
  "don't",
  '[docs](#top)',
] as const;

/** Generates prose of this length with one unfenced object at two thirds of it; `noisy` adds meaningless brackets and quotes. */
export function makeProse(bytes: number, noisy: boolean, seed: number): string {
  const random = new Random(seed);
  const before = makeSentences(Math.floor((bytes * 2) / 3), noisy, random);
  const after = makeSentences(Math.floor(bytes / 3), noisy, random);
  // Converted to bytes and back, which makes one flat string, as read from a file or a socket.
  return Buffer.from(`${before} My verdict: ${JSON.stringify(VERDICT)} and that is all. ${after}`).toString();
}

function makeSentences(bytes: number, noisy: boolean, random: Random): string {
  const sentences: string[] = [];
  let length = 0;
  while (length < bytes) {
    const words = Array.from({ length: 6 + random.below(14) }, (): string => random.pick(WORDS));
    if (noisy && random.chance(0.1)) words.splice(3, 0, random.pick(NOISE));
    const sentence = `${words.join(' ')}.${random.chance(0.2) ? '\n' : ''}`;
    sentences.push(sentence);
    length += sentence.length + 1;
  }
  return sentences.join(' ');
}
