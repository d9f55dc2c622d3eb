import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, type ModuleItem } from '@swc/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PROJECT } from '../scripts/run-tool.js';

const Target = z.object({ default: z.string() });
const Manifest = z.object({
  exports: z.record(z.string(), z.union([z.string(), Target, z.object({ import: Target })])),
});
const { exports } = Manifest.parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));
const entries = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [{ name, built: ('import' in target ? target.import : target).default }],
);

/** Lists the names an entry exports, with types marked; a star means all names of another entry. */
function listNames(source: string): string[] {
  const { body } = parseSync(source, { syntax: 'typescript', target: 'es2022' });
  return body.flatMap(listItemNames).toSorted();
}

function listItemNames(item: ModuleItem): string[] {
  if (item.type === 'ExportAllDeclaration') return [`* from ${item.source.value}`];
  if (item.type !== 'ExportNamedDeclaration') return [`not a plain list: ${item.type}`];
  return item.specifiers.map((specifier) => {
    if (specifier.type !== 'ExportSpecifier') return `not a plain name: ${specifier.type}`;
    const name = (specifier.exported ?? specifier.orig).value;
    return item.typeOnly || specifier.isTypeOnly ? `type ${name}` : name;
  });
}

describe('the entries of the package', () => {
  it.each(entries)('$name exports exactly these names', async ({ name, built }) => {
    const source = readFileSync(join(PROJECT, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')), 'utf8');
    const names = listNames(source);
    await expect(`${names.join('\n')}\n`).toMatchFileSnapshot(`exports/${name === '.' ? 'root' : name.slice(2)}.txt`);
  });

  it.each(entries)('$name exports the names its source lists when built', async ({ name, built }) => {
    const source = readFileSync(join(PROJECT, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')), 'utf8');
    const listed = name === '.' ? readFileSync(join(PROJECT, 'src/entries/json.ts'), 'utf8') : source;
    const loadedModule = (await import(join(PROJECT, built))) as object;
    expect(Object.keys(loadedModule).toSorted()).toEqual(listNames(listed).filter((text) => !text.startsWith('type ')));
  });

  it('distinguishes a list of names from anything else', () => {
    const source = `export { a, b as c } from './x.js'; export type { D } from './y.js'; export * from './z.js'; export const e = 1;`;
    expect(listNames(source)).toEqual(['* from ./z.js', 'a', 'c', 'not a plain list: ExportDeclaration', 'type D']);
  });
});
