import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INTERNAL_NAMES, SHORT_NAMES } from '../scripts/build/short-names.js';
import { measureGzippedSize } from '../scripts/package/gzipped-size.js';
import { PROJECT } from '../scripts/run-tool.js';
import { choiceCases } from '../src/json/fixtures/choice-cases.js';
import { envelopeCases } from '../src/json/fixtures/envelope-cases.js';
import { thinkingCases } from '../src/json/fixtures/thinking-cases.js';
import { refusedCases, syntaxCases, validCases } from '../src/json/fixtures/reading-cases.js';
import { realisticAnswers } from '../src/json/fixtures/realistic-answers.js';
import * as source from '../src/json/index.js';

const FOLDER = join(PROJECT, 'src/json');
const texts = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.includes('fixtures') && !file.includes('.test.'))
  .map((file) => readFileSync(join(FOLDER, file), 'utf8'));

/** The interfaces and classes in `src/json`: the source of each, and its base. */
const kinds = new Map(
  texts.flatMap((text) =>
    [...text.matchAll(/^(?:export )?(?:interface|class) (\w+)(?:<[^>]*>)?(?: extends (\w+))?[^]*?^}/gm)].map(
      ([declaration, name = '', base = '']) => [name, { base, declaration }] as const,
    ),
  ),
);

/** Lists the properties of all interfaces and classes that `src/json/index.ts` exports, including those of nested objects. */
function listPublicProperties(): readonly string[] {
  const index = readFileSync(join(FOLDER, 'index.ts'), 'utf8');
  return [...kinds]
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(index))
    .flatMap(([, { declaration }]) => [...declaration.matchAll(/^\s+(?:readonly |declare |override )*(\w+)\??[:(<]/gm)])
    .map(([, property = '']) => property);
}

/** Lists the properties of an interface or class, including those of its base. */
function listProperties(name: string): readonly string[] {
  const { base, declaration } = kinds.get(name) ?? { base: '', declaration: '' };
  const members = declaration.matchAll(/^  (?:readonly |declare |override |protected |get )*(\w+)\??[:(<= ]/gm);
  return [...(base === '' ? [] : listProperties(base)), ...Array.from(members, ([, property = '']) => property)];
}

/** Lists the properties of JavaScript's and the platform's objects. */
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

  it('are in use, and become names that no property has', () => {
    const all = texts.join('\n');
    expect(INTERNAL_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([]);
    const short = Object.values(SHORT_NAMES.mangleCache);
    expect(short).toHaveLength(INTERNAL_NAMES.length);
    expect(short.filter((name) => all.includes(`.${name} `))).toEqual([]);
  });

  it('become different names if they are properties of one object', () => {
    const sharedLetters = texts.flatMap((text) => [...text.matchAll(/\b([A-Z]\w+) & ([A-Z]\w+)\b/g)]);
    const objects = [
      ...[...kinds.keys()].map((name) => [name]),
      ...sharedLetters.map(([, remainingNames = '', right = '']) => [remainingNames, right]),
      // The survey's blocks become spans.
      ['TagBlock', 'Span'],
    ];
    expect(objects).toContainEqual(['ReadValue', 'Refusal']);
    expect(listProperties('AnyTextStructure')).toEqual(
      expect.arrayContaining(['enterCall', 'due', 'rootEnd', 'state']),
    );
    for (const object of objects) {
      const names = new Set(object.flatMap(listProperties).filter((name) => INTERNAL_NAMES.includes(name)));
      const short = [...names].map((name) => SHORT_NAMES.mangleCache[name]);
      expect([object, ...new Set(short)]).toEqual([object, ...short]);
    }
  });
});

describe('the built sluice/json', () => {
  const answers = [
    ...[...thinkingCases, ...choiceCases, ...envelopeCases, ...syntaxCases, ...refusedCases].map(({ text }) => text),
    ...Object.values(realisticAnswers).flatMap((group) => group.map(({ text }) => text)),
    ...validCases,
  ];

  /** Passes input to every function and returns all fields of their results. */
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
      ...(['first', 'last', 'fail'] as const).map((ambiguous) =>
        JSON.stringify(json.parse(text, undefined, { ambiguous })),
      ),
      ...snapshots,
      JSON.stringify(stream.end()),
      repaired,
    ];
  }

  it('parses all input like the sources', async () => {
    const built = (await import(join(PROJECT, 'dist/json/index.js'))) as typeof source;
    expect(answers.length).toBeGreaterThan(300);
    for (const text of answers) expect(readAll(built, text)).toEqual(readAll(source, text));
  });

  it('has the size that the size gate measures', async () => {
    for (const names of [undefined, ['parse']]) {
      const measured = await measureGzippedSize('./src/entries/json.ts', { names });
      for (const entry of ['./dist/entries/json.js', './dist/sluice-json/entries/json.js'])
        expect(await measureGzippedSize(entry, { names })).toBeLessThan(measured + 50);
    }
  });
});
