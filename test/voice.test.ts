import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { findDialect } from './find-dialect.js';

/** Files that may use such phrases: the maximum number, and the reason. */
const ALLOWED: Readonly<Record<string, { readonly times: number; readonly why: string }>> = {
  'bench/baml.ts': { times: 3, why: 'the name of a client' },
  'examples/scripted-model/script.ts': { times: 1, why: 'the answer of a model' },
  'src/json/choice.ts': { times: 1, why: 'the words of an answer' },
  'src/json/fixtures/disputed-texts.ts': { times: 3, why: 'the answers of models' },
  'src/json/schema/fixtures/fresh/batch-16.ts': { times: 3, why: 'the answers of models' },
  'src/json/schema/fixtures/fresh/batch-17.ts': { times: 2, why: 'the answers of models' },
  'src/json/profile-tagged.test.ts': { times: 1, why: 'the answer of a model' },
  'test/find-dialect.ts': { times: 12, why: 'has the phrases' },
  'test/real/scenarios.ts': { times: 1, why: 'the prompt of an agent' },
  'test/voice.test.ts': { times: 15, why: 'plants them' },
  'web/pages/workbench/examples.ts': { times: 1, why: 'the answer of a model' },
};

const FOLDERS = ['src', 'web', 'test', 'scripts', 'bench', 'examples', 'docs'];

const files = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  ),
].filter((file) => /\.(?:tsx?|mjs|css|md)$/.test(file) && !/^docs\/api\/|\/node_modules\//.test(file));

describe('sources, tests and pages', () => {
  it('use plain English', () => {
    expect(files.length).toBeGreaterThan(1000);
    const findings = files.flatMap((file) => {
      const found = findDialect(readFileSync(join(PROJECT, file), 'utf8'), { isPage: file.endsWith('.md') });
      return found.length > (ALLOWED[file]?.times ?? 0) ? found.map((line) => `${file} ${line}`) : [];
    });
    expect(findings).toEqual([]);
  });
});

describe('findDialect', () => {
  it.each(['A file beside it.', 'The id stands in the first line.', 'It speaks ACP.', 'One record a line.'])(
    'finds %j in a page only',
    (line) => {
      expect(findDialect(line, { isPage: true })).toHaveLength(1);
      expect(findDialect(line)).toEqual([]);
    },
  );

  it('accepts such words in the code of a page', () => {
    expect(findDialect("With `terminal: 'beside'` both are captured.", { isPage: true })).toEqual([]);
  });

  it.each([
    'It tells what happened.',
    'function tellAll(): void {',
    'The order is carried out by a worker.',
    'Values are handed on unchanged.',
    'It puts in order what was left.',
    'The list is drawn anew.',
    'an engine that is none',
    'a line that is no JSON',
    'export function errorOf(result: Result): ParseError {',
    'Whoever comes first decides.',
    'It runs in a folder of its own.',
    'Then nobody can answer.',
    'It gives up after three tries.',
    'const LONGEST_NAME = 8;',
    '/** What a client says when it opens a session. */',
  ])('finds %j', (line) => {
    expect(findDialect(line)).toHaveLength(1);
  });

  it.each([
    'undefined if there is none',
    'none of the four',
    'There is no file.',
    'function isMultipleOf(value: number): boolean {',
    'function oneOf(words: readonly string[]): object {',
    'an intellectual exercise',
    'the leader of its own process group',
    "wake('nobody')",
    '/** What happened, and what to do. */',
  ])('accepts %j', (line) => {
    expect(findDialect(line)).toEqual([]);
  });
});
