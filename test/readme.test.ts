import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { jsonrepair } from 'jsonrepair';
import { parse } from 'sluice/json';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pack } from '../scripts/package/pack.js';
import { ENTRY_LIMITS } from '../scripts/package/size-limits.js';
import { PROJECT, run, runTool } from '../scripts/run-tool.js';
import { startRegistry, type Manifest } from './local-registry.js';
import { makeFolder } from './temporary-folder.js';

const SMALL_PACKAGE = join(PROJECT, 'dist', 'sluice-json');

/** The output of the first example. */
const FIRST_VALUE = `{ file: 'a.ts', line: 3 }`;

/** Returns the code blocks below a heading, by language. */
function findBlocks(readme: string, heading: string, language: string): string[] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const pattern = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm');
  return [...section.matchAll(pattern)].map(([, code]) => code ?? '');
}

const runInShell = async (script: string, folder: string) =>
  run('bash', ['-euc', `export npm_config_prefer_offline=true npm_config_audit=false\n${script}`], folder);

describe('README.md', () => {
  /** An empty project next to the packed packages, as the page describes. */
  async function packForProject(...sources: readonly string[]) {
    const folder = await makeFolder({ 'sluice/.keep': '', 'my-project/.keep': '' });
    const tarballs = [];
    for (const source of sources) {
      const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest;
      tarballs.push({ path: (await pack(source, join(folder, 'sluice'))).path, manifest });
    }
    return { project: join(folder, 'my-project'), tarballs };
  }

  it('shows first commands and a program that work when they are pasted into an empty folder', async () => {
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
    const { project } = await packForProject(PROJECT, SMALL_PACKAGE);
    const [install = ''] = findBlocks(readme, 'Parse an answer', 'sh');
    const [program = ''] = findBlocks(readme, 'Parse an answer', 'ts');
    expect(await runInShell(install, project)).toMatchObject({ exitCode: 0 });
    await writeFile(join(project, 'first.mjs'), program);
    const first = await runInShell('node first.mjs', project);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toContain(FIRST_VALUE);
    for (const kind of ['extracted', 'unquoted_key', 'extra_comma', 'deterministic_generic'])
      expect(first.stdout).toContain(kind);

    const [agents = ''] = findBlocks(readme, 'Run an agent', 'sh');
    // The exit code is that of `doctor`, which depends on the agents that are installed.
    const { stdout } = await runInShell(`set +e\n${agents}`, project);
    expect(stdout).toContain('"status":"success"');
    expect(stdout).toContain('"engine":"codex"');
    const [demo = ''] = findBlocks(readme, 'Delegate work, with proof', 'sh')[0]?.split('\n') ?? [];
    expect(await runInShell(demo, project)).toMatchObject({ exitCode: 0 });
  });

  it('shows a first program that works with the package from a registry, and that TypeScript accepts', async () => {
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
    const { project, tarballs } = await packForProject(SMALL_PACKAGE);
    const registry = await startRegistry(tarballs);
    const installed = await runInShell(`npm install --registry ${registry} sluice-json zod`, project);
    expect(installed).toMatchObject({ exitCode: 0 });
    const [program = ''] = findBlocks(readme, 'Parse an answer', 'ts');
    await writeFile(join(project, 'first.mts'), program);
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', '', 'first.mts'];
    expect(await runTool('tsc', options, project)).toMatchObject({ exitCode: 0, stdout: '' });
    expect((await runInShell('node first.mjs', project)).stdout).toContain(FIRST_VALUE);
  });

  it('compares four answers with the actual results of jsonrepair and zod', async () => {
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
    const Weather = z.object({ city: z.string(), temp: z.number() });
    const readings = (text: string): readonly [string, string] => {
      const result = parse(text, Weather);
      const sluice = result.ok ? inspect(result.value) : result.error.code;
      try {
        const checked = Weather.safeParse(JSON.parse(jsonrepair(text)));
        const problem = checked.error?.issues[0]?.message.replace('Invalid input: ', '') ?? '';
        return [checked.success ? inspect(checked.data) : problem, sluice];
      } catch (error) {
        return [String(error).replace(/^.*?(Unexpected character).*$/, '$1'), sluice];
      }
    };
    const rows = [...readme.matchAll(/^\| `([^|]+?)`[^|]*\| ([^|]+) \| `([^|]+)` \|$/gm)].slice(0, 4);
    const value = '{"city": "Oslo", "temp": 21}';
    const texts = rows.map(([, text = '']) =>
      text.startsWith('Sure!') ? `${text}\n\`\`\`json\n${value}\n\`\`\`\nHope it helps!` : text,
    );
    expect(texts).toHaveLength(4);
    for (const [index, [, , peer = '', own = '']] of rows.entries()) {
      const [compiled, read] = readings(texts[index] ?? '');
      expect([peer.replaceAll(/[*`]|^error: /g, ''), own]).toEqual([compiled, read]);
    }
  });

  it('names the limits of the size gate', async () => {
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
    const [entry, parseAlone] = ENTRY_LIMITS.filter((limit) => limit.entry === 'json');
    const size = (bytes = 0) => `at most ${bytes / 1000} kB`;
    expect(readme).toContain(
      `\`sluice/json\` is ${size(entry?.bytes)} and \`parse\` alone ${size(parseAlone?.bytes)}.`,
    );
  });

  it('has the same limits as the page of sluice-json', async () => {
    const page = await readFile(join(PROJECT, 'scripts/build/small-package.md'), 'utf8');
    const [entry, parseAlone, schema] = ENTRY_LIMITS;
    expect(page).toContain(`| \`parse\` alone | ${(parseAlone?.bytes ?? 0) / 1000} kB |`);
    expect(page).toContain(`| \`sluice-json\` | ${(entry?.bytes ?? 0) / 1000} kB |`);
    expect(page).toContain(`| \`sluice-json/json-schema\` | ${(schema?.bytes ?? 0) / 1000} kB |`);
  });

  it('shows a command that translates a recording in this repository', async () => {
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
    const line = /^node (dist\/cli\/main\.js translate [^#]*?) +#/m.exec(readme)?.[1] ?? '';
    const { exitCode, stdout, stderr } = await run(process.execPath, line.split(' '), PROJECT);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const events = stdout.trimEnd().split('\n');
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ type: 'conversation.completed' });
  });

  it('names the two commands that a new user needs, and scripts that exist', async () => {
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
    const { scripts } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as { scripts: object };
    expect(readme).toContain('\nnpm ci && npm start ');
    expect(readme).toContain('\nnpm ci && npm test ');
    const contributing = await readFile(join(PROJECT, 'CONTRIBUTING.md'), 'utf8');
    const named = [...`${readme}${contributing}`.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(
      ([, name]) => name ?? '',
    );
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});
