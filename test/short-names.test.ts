import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INTERNAL_NAMES, SHORT_NAMES } from '../scripts/build/short-names.js';
import { gzippedSize } from '../scripts/package/gzipped-size.js';
import { PROJECT } from '../scripts/run-tool.js';
import { choiceCases, envelopeCases, thinkingCases } from '../src/json/fixtures/finding-cases.js';
import { refusedCases, syntaxCases, validCases } from '../src/json/fixtures/reading-cases.js';
import { realisticAnswers } from '../src/json/fixtures/realistic-answers.js';
import * as source from '../src/json/index.js';

const FOLDER = join(PROJECT, 'src/json');
const texts = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.includes('fixtures') && !file.includes('.test.'))
  .map((file) => readFileSync(join(FOLDER, file), 'utf8'));

/** The properties of all interfaces and classes that `src/json/index.ts` exports. */
function listPublicProperties(): readonly string[] {
  const door = readFileSync(join(FOLDER, 'index.ts'), 'utf8');
  return texts.flatMap((text) =>
    [...text.matchAll(/^export (?:interface|class) (\w+)[^]*?^}/gm)]
      .filter(([, name = '']) => new RegExp(`\\b${name}\\b`).test(door))
      .flatMap(([declaration]) => [...declaration.matchAll(/^\s+(?:readonly |declare |override )*(\w+)\??[:(<]/gm)])
      .map(([, property = '']) => property),
  );
}

/** The properties that objects of JavaScript and of the platform have. */
function listBuiltInProperties(): readonly string[] {
  return Object.getOwnPropertyNames(globalThis)
    .map((name): unknown => Reflect.get(globalThis, name))
    .filter((value) => typeof value === 'function')
    .flatMap((value) => [
      ...Object.getOwnPropertyNames(value),
      ...Object.getOwnPropertyNames((value.prototype as object | undefined) ?? {}),
    ]);
}

describe('names that the build shortens', () => {
  it('are not public', () => {
    const properties = listPublicProperties();
    expect(properties).toEqual(
      expect.arrayContaining(['profile', 'repairs', 'onAttempt', 'changed', 'finder', 'level']),
    );
    expect(INTERNAL_NAMES.filter((name) => properties.includes(name))).toEqual([]);
  });

  it('are not properties of JavaScript or of the platform', () => {
    const properties = listBuiltInProperties();
    expect(properties).toEqual(expect.arrayContaining(['at', 'source', 'match', 'isArray', 'closed']));
    expect(INTERNAL_NAMES.filter((name) => properties.includes(name))).toEqual([]);
  });

  it('are in use, and become different names that no property has', () => {
    const all = texts.join('\n');
    expect(INTERNAL_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([]);
    const short = Object.values(SHORT_NAMES.mangleCache);
    expect(new Set(short).size).toBe(INTERNAL_NAMES.length);
    expect(short.filter((name) => all.includes(`.${name} `))).toEqual([]);
  });
});

describe('the built sluice/json', () => {
  const answers = [
    ...[...thinkingCases, ...choiceCases, ...envelopeCases, ...syntaxCases, ...refusedCases].map(({ text }) => text),
    ...Object.values(realisticAnswers).flatMap((group) => group.map(({ text }) => text)),
    ...validCases,
  ];

  /** What every function makes of a text, with all fields. */
  function readAll(json: typeof source, text: string): unknown {
    const stream = json.createJsonStream(undefined, { partial: { numbers: true, literals: true, keys: true } });
    const half = text.length >> 1;
    const snapshots = [text.slice(0, half), text.slice(half)].map((piece) => {
      const { value, changed, complete } = stream.push(piece);
      return JSON.stringify({ value, changed, complete });
    });
    let repaired: unknown;
    try {
      repaired = json.repairJson(text);
    } catch (error) {
      repaired = JSON.stringify(error);
    }
    return [
      ...(['default', 'generic', 'tagged', 'unified'] as const).map((profile) =>
        JSON.stringify(json.parse(text, undefined, { profile, allowPartial: true, detectDuplicates: true })),
      ),
      ...snapshots,
      JSON.stringify(stream.end()),
      repaired,
    ];
  }

  it('reads every text as the sources do', async () => {
    const built = (await import(join(PROJECT, 'dist/json/index.js'))) as typeof source;
    expect(answers.length).toBeGreaterThan(300);
    for (const text of answers) expect(readAll(built, text)).toEqual(readAll(source, text));
  });

  it('is as small as the size gate says', async () => {
    for (const names of [undefined, ['parse']]) {
      const measured = await gzippedSize('./src/entries/json.ts', { names });
      for (const entry of ['./dist/entries/json.js', './dist/sluice-json/entries/json.js'])
        expect(await gzippedSize(entry, { names })).toBeLessThan(measured + 250);
    }
  });
});
