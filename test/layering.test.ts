import { describe, expect, it } from 'vitest';
import { checkLayering } from '../scripts/layering/check-layering.js';
import { readImportGraph } from '../scripts/layering/import-graph.js';
import { findOverweight, weigh } from '../scripts/layering/weight.js';
import { runScript } from './bundle-program.js';
import { makeFolder } from './temporary-folder.js';

/** Returns the gate's report for a project with these files. */
async function findViolations(files: Readonly<Record<string, string>>): Promise<string[]> {
  return checkLayering(await readImportGraph(await makeFolder(files)));
}

/** Does the same with the command. */
async function runGate(files: Readonly<Record<string, string>>) {
  const { exitCode, stderr } = await runScript('scripts/layering.ts', [await makeFolder(files)]);
  return { exitCode, violations: stderr.trimEnd() };
}

const lower = { 'src/json/index.ts': 'export type A = 1; export const a = 1;' };

describe('npm run layering', () => {
  it('allows imports that go down', async () => {
    const files = { ...lower, 'src/events/index.ts': `import { a } from '../json/index.js'; export const b = a;` };
    expect(await findViolations(files)).toEqual([]);
    expect(await runGate(files)).toEqual({ exitCode: 0, violations: '' });
  });

  it('allows every room to import the lowest one', async () => {
    const files = {
      'src/base/index.ts': 'export class SluiceError extends Error {}',
      'src/json/error.ts': `import { SluiceError } from '../base/index.js'; export class A extends SluiceError {}`,
      'src/base/up.ts': `import { a } from '../json/index.js'; export const b = a;`,
      ...lower,
    };
    expect(await findViolations(files)).toEqual(['src/base/up.ts → src/json/index.ts: base must not import json']);
  });

  it('allows imports of another room only through its index', async () => {
    const files = {
      'src/json/parse.ts': 'export const parse = 1;',
      'src/events/deep.ts': `import { parse } from '../json/parse.js'; export const a = parse;`,
    };
    expect(await findViolations(files)).toEqual([
      'src/events/deep.ts → src/json/parse.ts: json must be imported through its index.ts',
    ]);
  });

  it('lets a subfolder with a door use the files of its own room, but not the reverse', async () => {
    const files = {
      'src/orders/git/worktree.ts': 'export const worktree = 1;',
      'src/orders/dispatch/claim.ts': `import { worktree } from '../git/worktree.js'; export const claim = worktree;`,
      'src/orders/lead.ts': `import { claim } from './dispatch/claim.js'; export const lead = claim;`,
    };
    expect(await findViolations(files)).toEqual([
      'src/orders/lead.ts → src/orders/dispatch/claim.ts: orders/dispatch must be imported through its index.ts',
    ]);
  });

  it('refuses imports that go up, in every form', async () => {
    const files = {
      'src/events/index.ts': 'export type A = 1; export const a = 1;',
      'src/json/value.ts': `import { a } from '../events/index.js'; export const b = a;`,
      'src/json/type.ts': `import type { A } from '../events/index.js'; export type B = A;`,
      'src/json/again.ts': `export { a } from '../events/index.js';`,
      'src/json/lazy.ts': `export const load = () => import('../events/index.js');`,
    };
    expect((await findViolations(files)).toSorted()).toEqual(
      ['again', 'lazy', 'type', 'value'].map(
        (name) => `src/json/${name}.ts → src/events/index.ts: json must not import events`,
      ),
    );
  });

  it('refuses files that import each other in a cycle, even for types only', async () => {
    const files = {
      'src/json/a.ts': `import { b } from './b.js'; export const a = b;`,
      'src/json/b.ts': `import { c } from './c.js'; export const b = c; export type B = 1;`,
      'src/json/c.ts': `import type { B } from './b.js'; export const c: B = 1;`,
      'src/json/d.ts': `import { a } from './a.js'; import './d.js'; export const d = a;`,
    };
    expect(await findViolations(files)).toEqual([
      'src/json/b.ts → src/json/c.ts → src/json/b.ts: import cycle',
      'src/json/d.ts → src/json/d.ts: import cycle',
    ]);
  });

  it('allows only types where the table of rooms does', async () => {
    const files = {
      'src/runs/index.ts': 'export type A = 1; export const a = 1;',
      'src/server/tracing/type.ts': `import type { A } from '../../runs/index.js'; export type B = A;`,
      'src/server/tracing/value.ts': `import { a, type A } from '../../runs/index.js'; export const b: A = a;`,
    };
    expect(await findViolations(files)).toEqual([
      'src/server/tracing/value.ts → src/runs/index.ts: server/tracing may import only types of runs',
    ]);
  });

  it('declares imports, packages and browser safety for each subfolder with a door', async () => {
    const files = {
      ...lower,
      'src/json/schema/index.ts': `import { a } from '../index.js'; export const b = a;`,
      'src/json/schema/inner.ts': 'export const c = 1;',
      'src/json/up.ts': `import { b } from './schema/index.js'; export const d = b;`,
      'src/json/adapters/react.ts': `import 'node:fs'; import 'left'; import { c } from '../schema/inner.js'; export const e = c;`,
      'src/base/files/index.ts': `import 'node:fs';`,
    };
    expect((await findViolations(files)).toSorted()).toEqual([
      'src/json/adapters/react.ts → left: json/adapters must not use it',
      'src/json/adapters/react.ts → node:fs: json/adapters must load in a browser',
      'src/json/adapters/react.ts → src/json/schema/inner.ts: json/schema must be imported through its index.ts',
      'src/json/up.ts → src/json/schema/index.ts: json must not import json/schema',
    ]);
  });

  it('refuses a room whose index re-exports a subfolder with a door', async () => {
    const files = {
      'src/store/records/index.ts': 'export const a = 1;',
      'src/store/open.ts': `import { a } from './records/index.js'; export const b = a;`,
      'src/store/index.ts': `export { a } from './records/index.js';`,
    };
    expect(await findViolations(files)).toEqual([
      'src/store/index.ts → src/store/records/index.ts: store/records has its own door, which the index of store must not re-export',
    ]);
  });

  it('refuses packages and Node.js modules in browser-safe rooms', async () => {
    const files = {
      'node_modules/left/package.json': '{"name":"left","main":"index.js"}',
      'node_modules/left/index.js': '',
      'src/json/index.ts': `import 'node:fs'; import 'left';`,
    };
    expect(await findViolations(files)).toEqual([
      'src/json/index.ts → left: json must not use it',
      'src/json/index.ts → node:fs: json must load in a browser',
    ]);
  });

  it('applies the same rules to the console', async () => {
    const files = {
      ...lower,
      'src/events/index.ts': 'export type A = 1; export const a = 1;',
      'web/good.tsx': `import { a } from '../src/json/index.js'; import type { A } from '../src/events/index.js'; export const b: A = a;`,
      'web/value.tsx': `import { a } from '../src/events/index.js'; export const b = <p>{a}</p>;`,
    };
    expect(await findViolations(files)).toEqual([
      'web/value.tsx → src/events/index.ts: web may import only types of events',
    ]);
  });

  it('follows imports with a bundler query', async () => {
    const files = {
      ...lower,
      'src/server/index.ts': 'export const a = 1;',
      'web/fine.ts': `import url from '../src/json/index.js?worker&url'; export const b = url;`,
      'web/planted.ts': `import url from '../src/server/index.js?url'; export const b = url;`,
    };
    expect(await findViolations(files)).toEqual(['web/planted.ts → src/server/index.ts: web must not import server']);
  });

  it('finds types that are imported inline', async () => {
    const files = {
      'src/events/index.ts': 'export type A = 1;',
      'src/json/inline.ts': `export type B = import('../events/index.js').A;`,
    };
    expect(await findViolations(files)).toEqual([
      'src/json/inline.ts → src/events/index.ts: json must not import events',
    ]);
  });

  it('refuses a folder that is not a room, an unresolved import, and an empty graph', async () => {
    const lost = { ...lower, 'src/helpers/index.ts': '', 'src/json/lost.ts': `import './gone.js';` };
    expect(await findViolations(lost)).toEqual([
      'src/helpers/index.ts: unknown room',
      'src/json/lost.ts → ./gone.js: cannot be resolved',
    ]);
    expect(await runGate({ 'src/json/lost.ts': `import './gone.js';` })).toEqual({
      exitCode: 1,
      violations: 'src/json/lost.ts → ./gone.js: cannot be resolved',
    });
    expect(await runGate({ 'src/json/a.test.ts': '' })).toEqual({ exitCode: 1, violations: '' });
  });
});

describe('the weight of the code', () => {
  const weighFiles = async (files: Readonly<Record<string, string>>) => {
    const root = await makeFolder(files);
    return weigh(root, await readImportGraph(root));
  };

  it('counts lines without tests, and the files that only one file imports', async () => {
    const files = {
      ...lower,
      'src/json/parse.ts': `import { a } from './index.js';\nexport const b = a;\n`,
      'src/json/parse.test.ts': `import { b } from './parse.js';\nconsole.log(b);\n`,
      'web/main.tsx': `import '../src/json/parse.js';\nimport '../src/json/index.js';\n`,
    };
    expect(await weighFiles(files)).toEqual({ src: 2, web: 2, files: 3, withOneImporter: 1, longestFile: 2 });
  });

  it('refuses a file that is too long', async () => {
    const { exitCode, violations } = await runGate({ 'src/json/index.ts': 'export {};\n'.repeat(401) });
    expect({ exitCode, violations }).toEqual({ exitCode: 1, violations: 'longestFile: 401, limit 400' });
  });

  it('names everything that weighs more than its limit', () => {
    const limits = { src: 10, web: 10, files: 2, withOneImporter: 30, longestFile: 5 };
    expect(findOverweight({ ...limits, src: 11, files: 3 }, limits)).toEqual([
      'src: 11, limit 10',
      'files: 3, limit 2',
    ]);
    expect(findOverweight(limits, limits)).toEqual([]);
  });
});
