/**
 * Writes the fields of Claude Code's records from its published types: `npx tsx scripts/claude-fields.ts SDK_D_TS`. `SDK_D_TS` is
 * the `sdk.d.ts` of the package `@anthropic-ai/claude-agent-sdk`, in the version with the same patch number as the recorded
 * Claude Code. The package is not a dependency: only its field names are used, and only here.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './run-tool.js';

const TARGET = 'src/events/engines/claude/sdk-fields.ts';

/** Reads the fields of every object type whose `type` is a literal, by type and subtype. */
export function readSdkFields(source: string): Map<string, string[]> {
  const fields = new Map<string, Set<string>>();
  for (const [, body = ''] of source.matchAll(/^export declare type SDK\w+ = \{\n([^]*?)^\};/gmu)) {
    const members = [...body.matchAll(/^ {4}(\w+)\??: ([^\n]*)$/gmu)].map(([, name = '', type = '']) => ({
      name,
      type,
    }));
    const type = readLiteral(members.find(({ name }) => name === 'type')?.type);
    if (type === null) continue;
    const subtype = type === 'system' ? readLiteral(members.find(({ name }) => name === 'subtype')?.type) : null;
    const key = subtype === null ? type : `${type} ${subtype}`;
    const known = fields.get(key) ?? new Set<string>();
    for (const { name } of members) known.add(name);
    fields.set(key, known);
  }
  return new Map(
    [...fields]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([key, names]) => [key, [...names].toSorted()]),
  );
}

function readLiteral(type: string | undefined): string | null {
  return /^'(\w+)';$/u.exec(type ?? '')?.[1] ?? null;
}

function render(fields: ReadonlyMap<string, readonly string[]>): string {
  const rows = [...fields].map(([key, names]) => `  ${JSON.stringify(key)}: ${JSON.stringify(names)},`);
  return [
    '/*',
    ' * The fields of the records in the published types of Claude Code. Written by `scripts/claude-fields.ts`: do not edit.',
    ' */',
    '',
    '/** By type, for `system` by type and subtype. */',
    'export const SDK_FIELDS: Readonly<Record<string, readonly string[]>> = {',
    ...rows,
    '};',
    '',
  ].join('\n');
}

const [path] = process.argv.slice(2);
if (path !== undefined && process.argv[1]?.endsWith('claude-fields.ts') === true) {
  writeFileSync(join(PROJECT, TARGET), render(readSdkFields(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'))));
}
