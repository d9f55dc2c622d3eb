import { describe, expect, it } from 'vitest';
import { raspOf } from '../../contract/emitted-invariants.contract.js';
import { readFixtures, translateFixture } from '../../contract/engine-fixture.contract.js';
import { tell } from '../../contract/translate-lines.contract.js';
import type { EngineName } from '../../protocol/engine-names.js';

/** What holds for the recordings of every program of the family. */
export function describeShapeRecordings(engine: EngineName, fixtures: URL): void {
  describe(`the recordings of ${engine}`, () => {
    const recordings = readFixtures(fixtures).map((fixture) => [fixture.name, fixture] as const);
    const printed = recordings.filter(
      ([name, { attempts }]) =>
        !name.endsWith('.text') && attempts.every(({ pushes }) => pushes.some(({ stream }) => stream === 'stdout')),
    );

    it.each(recordings)('hold nothing that is not known: %s', (_, fixture) => {
      const { translators } = translateFixture(fixture, engine);
      expect(translators.map((translator) => translator.drift())).toEqual(translators.map(() => null));
    });

    it.each(printed)('are told from those of other programs: %s', (_, fixture) => {
      const engines = raspOf(translateFixture(fixture, 'auto').emitted).map(({ source }) => source.engine);
      expect(new Set(engines)).toEqual(new Set([engine]));
    });

    const onTerminal = printed.filter(([, { attempts }]) => attempts.every(({ terminal }) => terminal.length > 0));
    const streamed = onTerminal.filter(([name]) => name.includes('.stream-json'));
    it.each(streamed)('are read from a terminal: %s', (_, fixture) => {
      for (const { terminal } of fixture.attempts) {
        const told = tell({ engine, pty: [new TextDecoder().decode(terminal)] });
        expect(told.rasp('lifecycle.run.status')[0]).toMatchObject({ status: 'init' });
        expect(told.warnings).not.toContain('TRUNCATED_RECORD');
      }
    });
  });
}
