import fc from 'fast-check';
import type { Fixture, RecordedPush } from './engine-fixture.contract.js';

/** One corruption of a recording. Positions are fractions of its length, so they fit every recording. */
type Damage =
  | { readonly kind: 'truncate'; readonly at: number }
  | { readonly kind: 'delete'; readonly at: number; readonly length: number }
  | { readonly kind: 'repeat'; readonly at: number; readonly length: number }
  | { readonly kind: 'replace'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'swap streams' };

type Cut = (bytes: Uint8Array) => readonly Uint8Array[];

export const cutByByte: Cut = (bytes) => Array.from(bytes, (byte) => Uint8Array.of(byte));

export const cutByLine: Cut = (bytes) => {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const lineFeed = bytes.indexOf(0x0a, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
};

/** Cuts bytes into chunks with a repeating sequence of sizes. */
export function arbitraryCut(): fc.Arbitrary<Cut> {
  const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 });
  return sizes.map((lengths) => (bytes: Uint8Array) => {
    const chunks: Uint8Array[] = [];
    for (let start = 0, step = 0; start < bytes.length; step++) {
      const end = start + (lengths[step % lengths.length] ?? 1);
      chunks.push(bytes.subarray(start, end));
      start = end;
    }
    return chunks;
  });
}

/** One to four corruptions. Inserted bytes are random, and often significant to the framer. */
export function arbitraryDamage(): fc.Arbitrary<readonly Damage[]> {
  const at = fc.double({ min: 0, max: 1, noNaN: true });
  const length = fc.integer({ min: 1, max: 300 });
  const significantByte = fc.constantFrom(...new TextEncoder().encode('{}[]",:\\\n\r\u0000\u001b'), 0xff, 0xc3, 0x80);
  const bytes = fc
    .array(fc.oneof(significantByte, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 12 })
    .map((values) => Uint8Array.from(values));
  return fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('truncate' as const), at }),
      fc.record({ kind: fc.constant('delete' as const), at, length }),
      fc.record({ kind: fc.constant('repeat' as const), at, length }),
      fc.record({ kind: fc.constant('replace' as const), at, bytes }),
      fc.record({ kind: fc.constant('insert' as const), at, bytes }),
      fc.record({ kind: fc.constant('swap streams' as const) }),
    ),
    { minLength: 1, maxLength: 4 },
  );
}

export function applyDamage(fixture: Fixture, damages: readonly Damage[]): Fixture {
  const attempts = fixture.attempts.map((attempt) => ({
    ...attempt,
    pushes: damages.reduce<readonly RecordedPush[]>(damagePushes, attempt.pushes),
  }));
  return { ...fixture, attempts };
}

/** Damages the push that contains the position; the others keep their bytes. */
function damagePushes(pushes: readonly RecordedPush[], damage: Damage): readonly RecordedPush[] {
  if (damage.kind === 'swap streams') {
    const swapped = { stdout: 'stderr', stderr: 'stdout', stdin: 'stdin' } as const;
    return pushes.map((push) => ({ ...push, stream: swapped[push.stream] }));
  }
  const total = pushes.reduce((sum, push) => sum + push.bytes.length, 0);
  let position = Math.floor(damage.at * total);
  const damaged: RecordedPush[] = [];
  for (const push of pushes) {
    const containsPosition = position >= 0 && position < push.bytes.length;
    damaged.push(containsPosition ? { ...push, bytes: damageBytes(push.bytes, position, damage) } : push);
    if (containsPosition && damage.kind === 'truncate') break;
    position -= push.bytes.length;
  }
  return damaged;
}

function damageBytes(bytes: Uint8Array, at: number, damage: Exclude<Damage, { kind: 'swap streams' }>): Uint8Array {
  const head = bytes.subarray(0, at);
  switch (damage.kind) {
    case 'truncate':
      return head;
    case 'delete':
      return join(head, bytes.subarray(at + damage.length));
    case 'repeat':
      return join(bytes.subarray(0, at + damage.length), bytes.subarray(at));
    case 'replace':
      return join(head, damage.bytes, bytes.subarray(at + damage.bytes.length));
    case 'insert':
      return join(head, damage.bytes, bytes.subarray(at));
  }
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
