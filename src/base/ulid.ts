/** Crockford's alphabet: no I, L, O, U. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;
/** 2^80, as a literal: bundlers keep expressions that might throw, even in pages that create no ids. */
const RANDOM_END = 0x1_0000_0000_0000_0000_0000n;

/**
 * Creates a function that generates ids that sort by creation time: 48 bits of time, 80 random bits. Ids created in the
 * same millisecond, or after the clock was set back, still sort in creation order.
 */
export function createUlidGenerator(
  clock: () => number = Date.now,
  random: () => bigint = createRandomBits,
): () => string {
  let lastTime = -1;
  let lastRandom = 0n;
  return () => {
    const time = Math.max(lastTime, Math.floor(clock()));
    const next = time === lastTime ? lastRandom + 1n : random();
    // When the random part overflows, continue with the next millisecond.
    const isFull = next >= RANDOM_END;
    lastTime = isFull ? time + 1 : time;
    lastRandom = isFull ? 0n : next;
    return `${encode(BigInt(lastTime), TIME_DIGITS)}${encode(lastRandom, RANDOM_DIGITS)}`;
  };
}

function createRandomBits(): bigint {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}

function encode(value: bigint, length: number): string {
  let text = '';
  for (let remaining = value; text.length < length; remaining >>= 5n)
    text = `${DIGITS[Number(remaining & 31n)] ?? ''}${text}`;
  return text;
}
