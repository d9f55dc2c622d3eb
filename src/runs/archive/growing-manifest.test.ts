import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EMPTY_MANIFEST,
  countBytes,
  formatManifest,
  listPartNumbers,
  parseManifest,
  planPart,
} from './growing-manifest.js';
import type { FileState, GrowingManifest } from './growing-manifest.js';

const PART = 100;

/** Plans parts until everything is copied, and adds each part's content to `stored`, keyed by part number. */
function copyAll(from: GrowingManifest, files: readonly FileState[], stored: Map<number, string[]>): GrowingManifest {
  let manifest = from;
  for (let steps = 0; ; steps += 1) {
    if (steps > 1000) throw new Error('planPart never stops');
    const plan = planPart(manifest, files, PART);
    if (plan === undefined) return manifest;
    const bytes = plan.content.flatMap(({ path, from: at, bytes: count }) =>
      Array.from({ length: count }, (_, index) => `${path}@${at + index}`),
    );
    expect(bytes.length).toBeLessThanOrEqual(8 * PART);
    stored.set(plan.number, bytes);
    if (plan.replaces !== undefined) stored.delete(plan.replaces);
    manifest = plan.finish({ bytes: bytes.length, sha256: 'x' }, 1);
  }
}

const file = (path: string, size: number, id = '1'): FileState => ({ path: `.audit/${path}`, id, size });

describe('the parts of a growing run', () => {
  it('contain every byte of every file once and in order, however the files grow', () => {
    const growth = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 1200 })), { maxLength: 30 });
    fc.assert(
      fc.property(growth, (steps) => {
        const sizes = [0, 0, 0];
        const stored = new Map<number, string[]>();
        let manifest = EMPTY_MANIFEST;
        for (const [grown, added] of steps) {
          sizes[grown] = (sizes[grown] ?? 0) + added;
          manifest = copyAll(
            manifest,
            sizes.map((size, index) => file(`f${index}`, size)),
            stored,
          );
          expect([...stored.keys()]).toEqual(manifest.parts.map(({ number }) => number));
          for (const { path, spans } of manifest.files) {
            const bytes = spans.flatMap(({ part, at, bytes: count }) => stored.get(part)?.slice(at, at + count) ?? []);
            expect(bytes).toEqual(Array.from({ length: bytes.length }, (_, index) => `${path}@${index}`));
          }
          expect(manifest.files.map(({ spans }) => countBytes(spans))).toEqual(sizes);
          // Small parts are replaced, so the number of parts depends on the bytes and not on the steps.
          const total = sizes.reduce((sum, size) => sum + size, 0);
          expect(manifest.parts.length).toBeLessThanOrEqual(total / PART + 1);
        }
        expect(parseManifest(formatManifest(manifest))).toEqual(manifest);
      }),
      { numRuns: 200 },
    );
  });

  it('contain a replaced or truncated file from its start', () => {
    const stored = new Map<number, string[]>();
    const first = copyAll(EMPTY_MANIFEST, [file('meta.1.json', 150), file('events.jsonl', 10)], stored);
    const second = copyAll(first, [file('meta.1.json', 20, '2'), file('events.jsonl', 5)], stored);
    expect(second.files.map(({ spans }) => countBytes(spans))).toEqual([20, 5]);
    expect(planPart(second, [file('meta.1.json', 20, '2'), file('events.jsonl', 5)], PART)).toBeUndefined();
  });

  it('are listed by number, including any left behind by a killed process', () => {
    expect(listPartNumbers(EMPTY_MANIFEST)).toEqual([1]);
    const stored = new Map<number, string[]>();
    const one = copyAll(EMPTY_MANIFEST, [file('a', 10)], stored);
    const two = copyAll(one, [file('a', 20)], stored);
    expect(listPartNumbers(two)).toEqual([2, 1, 3]);
  });
});

describe('a manifest', () => {
  it('is rejected if a byte changed, or if it lists files outside the run', () => {
    const manifest = copyAll(EMPTY_MANIFEST, [file('stdout.1.log', 300)], new Map());
    const bytes = formatManifest(manifest);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(parseManifest(changed)).toBeUndefined();
    }
    for (const path of ['../x', '.audit/../x', '/etc/passwd', '.audit/']) {
      expect(parseManifest(formatManifest({ ...manifest, files: [{ path, id: '1', spans: [] }] }))).toBeUndefined();
    }
    const outside = [{ path: '.audit/a', id: '1', spans: [{ part: 1, at: 299, bytes: 2 }] }];
    expect(parseManifest(formatManifest({ ...manifest, files: outside }))).toBeUndefined();
  });
});
