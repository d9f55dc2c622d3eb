import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT, runTool } from '../scripts/run-tool.js';
import { makeFolder } from './temporary-folder.js';

/** The project's compiler options for planted files; without `types`, which would be resolved relative to them. */
const TSCONFIG = JSON.stringify({
  extends: join(PROJECT, 'tsconfig.json'),
  compilerOptions: { types: [] },
  include: ['.'],
});

describe('npm run typecheck', () => {
  it.each([
    ['an index that may be out of range', 'export const first = (list: string[]): string => list[0];'],
    ['an enum', 'export enum Colour { red }'],
    ['undefined for an optional property', 'export const options: { a?: number } = { a: undefined };'],
  ])('refuses %s', async (_, text) => {
    const folder = await makeFolder({ 'tsconfig.json': TSCONFIG, 'planted.ts': text });
    const { exitCode, stdout } = await runTool('tsc', ['-p', folder], PROJECT);
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain('planted.ts(1,');
  });
});

describe('npm run lint', () => {
  it('refuses what the project rules forbid', async () => {
    const planted = {
      'no-explicit-any': 'export const a: any = 1;',
      'no-non-null-assertion': 'export const b = (list: string[]): string => list[0]!;',
      'no-default-export': 'export default 1;',
      'no-floating-promises': 'export function c(): void { Promise.resolve(); }',
      'switch-exhaustiveness-check': `export function d(x: 'a' | 'b'): void { switch (x) { case 'a': break; } }`,
      'no-console': `console.log('x');`,
      'no-warning-comments': '// TODO: later',
      'filename-case': 'export const e = 1;',
    };
    const files = Object.entries(planted).map(([rule, text]): [string, string] => [`src/${fileFor(rule)}`, text]);
    const folder = await makeFolder({ 'tsconfig.json': TSCONFIG, ...Object.fromEntries(files) });
    const args = ['--config', join(PROJECT, '.oxlintrc.json'), '--format', 'unix', folder];
    const { exitCode, stdout } = await runTool('oxlint', args, folder);
    expect(exitCode).toBe(1);
    for (const rule of Object.keys(planted)) expect(stdout).toMatch(new RegExp(`${fileFor(rule)}:.*\\(${rule}\\)`));
  });
});

function fileFor(rule: string): string {
  return rule === 'filename-case' ? 'camelCase.ts' : `${rule}.ts`;
}

describe('npm run format:check', () => {
  it('refuses a file that is formatted differently', async () => {
    const folder = await makeFolder({ 'planted.ts': 'export const a = "double quotes"' });
    const args = ['--check', '--config', join(PROJECT, '.oxfmtrc.json'), folder];
    const { exitCode, stdout } = await runTool('oxfmt', args, folder);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('planted.ts');
  });
});

describe('npm run knip', () => {
  it('refuses files, exports and dependencies that nothing uses', async () => {
    const folder = await makeFolder({
      'package.json': JSON.stringify({ name: 'planted', type: 'module', dependencies: { idle: '1.0.0' } }),
      'tsconfig.json': TSCONFIG,
      'src/entries/json.ts': `export { a } from '../json/used.js';`,
      'src/json/used.ts': 'export const a = 1; export const unusedExport = 2;',
      'src/json/unused-file.ts': 'export const b = 1;',
    });
    const { exitCode, stdout } = await runTool(
      'knip',
      ['--config', join(PROJECT, 'knip.json'), '--no-config-hints'],
      folder,
    );
    expect(exitCode).toBe(1);
    for (const planted of ['unusedExport', 'unused-file.ts', 'idle']) expect(stdout).toContain(planted);
  });
});
