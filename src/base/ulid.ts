/** Crockford's alphabet: no I, L, O, U. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;
/** 80 bits. As a literal: a bundler keeps an expression, which might throw, in pages that make no ids. */
const RANDOM_END = 0x1_0000_0000_0000_0000_0000n;

/**
 * Makes ids that sort by the time they were made: 48 bits of time, 80 of chance. Two of the same millisecond, or of a
 * clock that was set back, still sort in the order in which they were made.
 *
 * @example
 * const newId = createUlids()
 * newId() // '01KA3T6Z5Y0000000000000000'
 */
export function createUlids(clock: () => number = Date.now, random: () => bigint = randomBits): () => string {
  let lastTime = -1;
  let lastRandom = 0n;
  return () => {
    const time = Math.max(lastTime, Math.floor(clock()));
    const next = time === lastTime ? lastRandom + 1n : random();
    // After the last number of a millisecond comes the next millisecond.
    const isFull = next >= RANDOM_END;
    lastTime = isFull ? time + 1 : time;
    lastRandom = isFull ? 0n : next;
    return `${encode(BigInt(lastTime), TIME_DIGITS)}${encode(lastRandom, RANDOM_DIGITS)}`;
  };
}

function randomBits(): bigint {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}

function encode(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = `${DIGITS[Number(rest & 31n)] ?? ''}${text}`;
  return text;
}
