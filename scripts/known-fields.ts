/**
 * Updates the list of known fields: `npx tsx scripts/known-fields.ts [SDK_D_TS]`. It adds the fields of the recordings in
 * `src/events/engines` and, if given, of Claude Code's published types: the `sdk.d.ts` of `@anthropic-ai/claude-agent-sdk`, in
 * the version with the same patch number as the recorded Claude Code. A listed field is never removed: an older version
 * might print it. Unknown types are printed: each needs a meaning in its engine's reader first.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFixtures, translateFixture } from '../src/events/contract/engine-fixture.contract.js';
import { KNOWN_FIELDS } from '../src/events/engines/known-fields.js';
import { ENGINE_NAMES } from '../src/events/index.js';
import { PROJECT, runTool } from './run-tool.js';

const ENGINES = 'src/events/engines';
const TARGET = `${ENGINES}/known-fields.ts`;

/** The fields of each shape, by engine. */
type FieldLists = Map<string, Map<string, Set<string>>>;

function readLists(): FieldLists {
  const entries: readonly [string, Readonly<Record<string, string>>][] = Object.entries(KNOWN_FIELDS);
  return new Map(
    entries.map(([engine, shapes]) => [
      engine,
      new Map(Object.entries(shapes).map(([shape, fields]) => [shape, new Set(fields.split(' '))])),
    ]),
  );
}

/** Reads the unknown types and fields of all recordings, as `engine: type` and `engine: shape.field`. */
export function readDrift(): { readonly types: readonly string[]; readonly fields: readonly string[] } {
  const types = new Set<string>();
  const fields = new Set<string>();
  for (const engine of ENGINE_NAMES) {
    const folder = pathToFileURL(`${join(PROJECT, ENGINES, engine, 'fixtures')}/`);
    for (const fixture of readFixtures(folder))
      for (const translator of translateFixture(fixture, engine).translators) {
        const drift = translator.drift();
        for (const type of Object.keys(drift?.unknown_types ?? {})) types.add(`${engine}: ${type}`);
        for (const path of Object.keys(drift?.unknown_fields ?? {})) fields.add(`${engine}: ${path}`);
      }
  }
  return { types: [...types], fields: [...fields] };
}

/** Reads the fields of every object type whose `type` is a literal, by shape. */
export function readSdkFields(source: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const [, body = ''] of source.matchAll(/^export declare type SDK\w+ = \{\n([^]*?)^\};/gmu)) {
    const members = [...body.matchAll(/^ {4}(\w+)\??: ([^\n]*)$/gmu)].map(([, name = '', type = '']) => ({
      name,
      type,
    }));
    const type = readLiteral(members.find(({ name }) => name === 'type')?.type);
    if (type === null) continue;
    const subtype = readLiteral(members.find(({ name }) => name === 'subtype')?.type);
    if (type === 'system' && subtype === null) continue;
    const shape = type === 'system' ? `system(${subtype ?? ''})` : type;
    fields.set(shape, [...(fields.get(shape) ?? []), ...members.map(({ name }) => name)]);
  }
  return fields;
}

function readLiteral(type: string | undefined): string | null {
  return /^'(\w+)';$/u.exec(type ?? '')?.[1] ?? null;
}

function addFields(lists: FieldLists, engine: string, shape: string, fields: readonly string[]): void {
  const shapes = lists.get(engine) ?? new Map<string, Set<string>>();
  lists.set(engine, shapes.set(shape, new Set([...(shapes.get(shape) ?? []), ...fields])));
}

/** Finds the list that has a shape: the format shared by claude and qwen has a separate list. */
function findOwner(lists: FieldLists, engine: string, shape: string): string {
  return lists.get(engine)?.has(shape) === true ? engine : 'messages';
}

function render(lists: FieldLists): string {
  const engines = [...lists].map(([engine, shapes]) => {
    const rows = [...shapes].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const lines = rows.map(([shape, fields]) => `${JSON.stringify(shape)}: '${[...fields].toSorted().join(' ')}',`);
    return `${engine}: {\n${lines.join('\n')}\n},`;
  });
  const head = readFileSync(join(PROJECT, TARGET), 'utf8').split('{\n', 1)[0] ?? '';
  return `${head}{\n${engines.join('\n')}\n} as const;\n`;
}

if (process.argv[1]?.endsWith('known-fields.ts') === true) {
  const [, , sdkPath] = process.argv;
  const lists = readLists();
  const { types, fields } = readDrift();
  for (const path of fields) {
    const [engine = '', shapeAndField = ''] = path.split(/: (.*)/u);
    const at = shapeAndField.lastIndexOf('.');
    const shape = shapeAndField.slice(0, at);
    addFields(lists, findOwner(lists, engine, shape), shape, [shapeAndField.slice(at + 1)]);
  }
  const published = sdkPath === undefined ? '' : readFileSync(sdkPath, 'utf8').replaceAll('\r\n', '\n');
  for (const [shape, names] of readSdkFields(published)) addFields(lists, 'claude', shape, names);
  writeFileSync(join(PROJECT, TARGET), render(lists));
  await runTool('oxfmt', [TARGET], PROJECT);
  for (const type of types) console.log(`Unknown type: ${type}`);
}
