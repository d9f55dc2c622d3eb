import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Emitted } from '../protocol/translator-output.js';
import type { EngineName } from '../protocol/engine-names.js';
import { createTranslator } from '../translator.js';
import { applyDamage, arbitraryCut, arbitraryDamage, cutByByte, cutByLine } from './damage.contract.js';
import { expectCovered, expectInOrder, expectValid, selectFcmp } from './emitted-invariants.contract.js';
import { readFixtures, translateFixture } from './engine-fixture.contract.js';
import { renderTranscript } from './transcript.contract.js';

import fc from 'fast-check';

/** The number of random corruptions per engine; `npm run torture` uses more. */
const DAMAGE_RUNS = Number(process.env['DAMAGE_RUNS'] ?? 60);

/** Writes the transcripts instead of comparing with them. Review them before committing. */
const UPDATES_GOLDEN = process.env['UPDATE_GOLDEN'] === '1';

/**
 * The contract of every engine, run over all recordings under `fixtures/<version>/<scenario>/`.
 *
 * @example
 * describeEngineContract('codex', new URL('./fixtures/', import.meta.url))
 */
export function describeEngineContract(engine: EngineName, root: URL): void {
  const fixtures = readFixtures(root);

  describe(`${engine} passes the contract`, () => {
    describe.each(fixtures.map((fixture) => ({ name: fixture.name, fixture })))('recording $name', ({ fixture }) => {
      it('claims every byte exactly once', () => {
        for (const translator of translateFixture(fixture, engine).translators) expectCovered(translator.coverage());
      });

      it('emits valid events in order', () => {
        const { emitted } = translateFixture(fixture, engine);
        expectValid(emitted);
        for (const [number, events] of groupByAttempt(emitted)) {
          const previousSeq = selectFcmp(emitted).filter(({ meta }) => meta.attempt < number).length;
          expectInOrder(events, previousSeq);
        }
      });

      it('emits the same events from one chunk, by line and by byte', () => {
        const { emitted } = translateFixture(fixture, engine);
        expect(translateFixture(fixture, engine, cutByLine).emitted).toEqual(emitted);
        expect(translateFixture(fixture, engine, cutByByte).emitted).toEqual(emitted);
      });

      it('is not detected as another engine', () => {
        const engines = new Set(selectFcmp(translateFixture(fixture, 'auto').emitted).map((event) => event.engine));
        engines.delete('generic');
        expect([...engines].filter((name) => name !== engine)).toEqual([]);
      });

      it('claims every byte of a terminal, with and without the other streams', () => {
        for (const { number, pushes, terminal, end } of fixture.attempts) {
          for (const streams of [pushes, []]) {
            const translator = createTranslator({ engine, runId: 'r', attempt: number, clock: () => 0 });
            const emitted = streams.flatMap(({ stream, bytes }) => translator.push(stream, bytes));
            emitted.push(...translator.push('pty', terminal), ...translator.end(end));
            expectCovered(translator.coverage());
            expectInOrder(emitted);
            expectValid(emitted);
          }
        }
      });

      it('emits the events in its transcript', () => {
        const transcript = renderTranscript(translateFixture(fixture, engine).emitted);
        const file = `${fixture.folder}/transcript.txt`;
        if (UPDATES_GOLDEN) writeFileSync(file, transcript);
        expect(existsSync(file), `${file} is missing: run with UPDATE_GOLDEN=1 and review the new file`).toBe(true);
        expect(transcript).toBe(readFileSync(file, 'utf8'));
      });
    });

    it(
      'emits the same events however the bytes are chunked',
      () => {
        fc.assert(
          fc.property(fc.constantFrom(...fixtures), arbitraryCut(), (fixture, cut) => {
            expect(translateFixture(fixture, engine, cut).emitted).toEqual(translateFixture(fixture, engine).emitted);
          }),
          { numRuns: Math.max(20, Math.floor(DAMAGE_RUNS / 10)) },
        );
      },
      10_000 + DAMAGE_RUNS * 20,
    );

    it(
      'tolerates damage: never throws, loses no byte, and emits valid events in order, however the bytes are split',
      () => {
        fc.assert(
          fc.property(fc.constantFrom(...fixtures), arbitraryDamage(), arbitraryCut(), (fixture, damage, cut) => {
            const damaged = applyDamage(fixture, damage);
            const { emitted, translators } = translateFixture(damaged, engine);
            for (const translator of translators) expectCovered(translator.coverage());
            for (const [number, events] of groupByAttempt(emitted)) {
              expectInOrder(events, selectFcmp(emitted).filter(({ meta }) => meta.attempt < number).length);
            }
            expectValid(emitted);
            expect(translateFixture(damaged, engine, cut).emitted).toEqual(emitted);
          }),
          { numRuns: DAMAGE_RUNS },
        );
      },
      10_000 + DAMAGE_RUNS * 200,
    );

    it.each([
      ['nothing', new Uint8Array(0)],
      ['zeros', new Uint8Array(5000)],
      ['binary', Uint8Array.from({ length: 5000 }, (_, index) => (index * 197) % 256)],
      ['brackets', new TextEncoder().encode('[{"a":'.repeat(2000))],
      ['deep nesting', new TextEncoder().encode(`${'['.repeat(5000)}${']'.repeat(5000)}\n`)],
      ['another CLI', new TextEncoder().encode('{"hello":"world"}\nplain text\n"string"\n42\nnull\n')],
    ])('tolerates %s', (_, bytes) => {
      const translator = createTranslator({ engine, runId: 'r', attempt: 1, clock: () => 0 });
      const emitted = [...translator.push('stdout', bytes), ...translator.push('stderr', bytes)];
      emitted.push(...translator.end({ exitCode: 0, signal: null }));
      expectCovered(translator.coverage());
      expectInOrder(emitted);
      expectValid(emitted);
    });
  });
}

function groupByAttempt(emitted: readonly Emitted[]): ReadonlyMap<number, readonly Emitted[]> {
  const attempts = new Map<number, Emitted[]>();
  for (const item of emitted) {
    const number = item.protocol === 'rasp' ? item.event.attempt_number : item.event.meta.attempt;
    attempts.set(number, [...(attempts.get(number) ?? []), item]);
  }
  return attempts;
}
