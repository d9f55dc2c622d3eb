import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { jsonrepair } from 'jsonrepair';
import { parse } from 'sluice/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { PROJECT, run } from '../scripts/run-tool.js';
import { compilePrograms } from './compile-programs.js';

/** The statement that prints the example's result. */
const PRINT = `
if (!result.ok) throw new Error(result.status);
console.log(JSON.stringify([result.value, result.repairs.map(({ kind }) => kind), result.repairLevel]));
`;

describe('README.md', () => {
  it('shows an example that compiles and does what its comments describe', async () => {
    const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
    const example = /^```ts\n([^]*?)^```$/m.exec(readme)?.[1] ?? '';
    const { compiled, getFile, remove } = await compilePrograms(new Map([['example.ts', example + PRINT]]));
    onTestFinished(remove);

    expect(compiled).toMatchObject({ exitCode: 0, stdout: '' });
    const { stdout, stderr } = await run(process.execPath, [getFile('example')], PROJECT);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([
      { file: 'a.ts', line: 3 },
      ['extracted', 'unquoted_key', 'extra_comma'],
      'deterministic_generic',
    ]);
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
    const named = [...`${readme}${contributing}`.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name ?? '');
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});
