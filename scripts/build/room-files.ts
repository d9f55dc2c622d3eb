import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { getRoom } from '../layering/get-room.js';

/** The browser-safe rooms and doors, which are bundled into a few files. */
export const BUNDLED_ROOMS = [
  'base',
  'json',
  'json/schema',
  'json/adapters',
  'events',
  'store/records',
  'server/api',
  'server/client',
] as const;

/** Entries that need only these rooms. */
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

/** Lists the rooms' index files and the adapters. */
export function listEntryFiles(dist: string): string[] {
  const rooms = BUNDLED_ROOMS.filter((room) => room !== 'json/adapters').map((room) => join(dist, room, 'index.js'));
  const adapters = readdirSync(join(dist, 'json/adapters')).filter((name) => name.endsWith('.js'));
  return [...rooms, ...adapters.map((name) => join(dist, 'json/adapters', name))];
}

/** Lists all files of a room, without those of a subfolder with a door. */
function listRoom(dist: string, room: string): string[] {
  return listFiles(join(dist, room)).filter((file) => getRoom(`src/${relative(dist, file)}`) === room);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

/** Copies the type declarations of rooms and entries to another root. */
export function copyDeclarations(dist: string, rooms: readonly string[], entries: readonly string[], to: string): void {
  const files = [
    ...rooms.flatMap((room) => listRoom(dist, room).filter((file) => file.endsWith('.d.ts'))),
    ...entries.map((entry) => join(dist, 'entries', `${entry}.d.ts`)),
  ];
  for (const file of files) {
    const target = join(to, relative(dist, file));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
  }
}

/** Removes the inner modules of the rooms: the bundled entry files contain them. */
export function removeInnerModules(dist: string, entryFiles: readonly string[]): void {
  const kept = new Set(entryFiles);
  for (const file of BUNDLED_ROOMS.flatMap((room) => listRoom(dist, room))) {
    if (file.endsWith('.js') && !kept.has(file)) rmSync(file);
  }
}

/** Indents all declarations with tabs: the four spaces a level that tsc writes would be a fifth of them. */
export function indentWithTabs(dist: string): void {
  for (const file of listFiles(dist).filter((path) => /\.d\.c?ts$/.test(path))) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4)),
    );
  }
}
