import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The browser-safe floors, which are bundled into a few files. */
export const FLOORS = ['base', 'json', 'json-schema', 'events', 'records', 'api', 'client', 'adapters'] as const;

/** Entries that need only these floors. */
export const ENTRIES = [
  'index',
  'json',
  'json-schema',
  'events',
  'client',
  'tool-calls',
  'ai-sdk',
  'langchain',
  'react',
] as const;

/** Lists the floors' index files, and the file that imports Ajv, which stays separate. */
export function listEntryFiles(dist: string): string[] {
  const floors = FLOORS.filter((floor) => floor !== 'adapters').map((floor) => join(dist, floor, 'index.js'));
  const adapters = readdirSync(join(dist, 'adapters')).filter((name) => name.endsWith('.js'));
  return [
    ...floors,
    join(dist, 'json-schema/compile-with-ajv.js'),
    ...adapters.map((name) => join(dist, 'adapters', name)),
  ];
}

/** Lists all files below a folder. */
function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

/** Copies the type declarations of floors and entries to another root. */
export function copyDeclarations(
  dist: string,
  floors: readonly string[],
  entries: readonly string[],
  to: string,
): void {
  const files = [
    ...floors.flatMap((floor) => listFiles(join(dist, floor)).filter((file) => file.endsWith('.d.ts'))),
    ...entries.map((entry) => join(dist, 'entries', `${entry}.d.ts`)),
  ];
  for (const file of files) {
    const target = join(to, relative(dist, file));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
  }
}

/** Removes the inner modules of the floors: the bundled entry files contain them. */
export function removeInnerModules(dist: string, entryFiles: readonly string[]): void {
  const kept = new Set(entryFiles);
  for (const file of FLOORS.flatMap((floor) => listFiles(join(dist, floor)))) {
    if (file.endsWith('.js') && !kept.has(file)) rmSync(file);
  }
}
