import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runScript } from './bundle-program.js';
import { makeFolder } from './temporary-folder.js';

async function runTestCommand(files: Readonly<Record<string, string>>, ...filters: string[]) {
  const folder = await makeFolder(files);
  const { exitCode, stdout } = await runScript('scripts/test.ts', ['--root', folder, '--globals', ...filters]);
  const lines = stdout.trimEnd().split('\n');
  const repeated = lines.filter((line) => line.startsWith('repeated'));
  return { exitCode, lastLine: lines.at(-1), ...(repeated.length === 0 ? {} : { repeated }) };
}

describe('npm test', () => {
  it('ends with the totals and succeeds when all tests pass', async () => {
    const passing = 'test("a", () => {}); describe("b", () => test("c", () => {}));';
    expect(await runTestCommand({ 'a.test.js': passing })).toEqual({ exitCode: 0, lastLine: '2 passed, 0 failed' });
  });

  it('fails with the correct counts when a test fails', async () => {
    const mixed = 'test("a", () => {}); test("b", () => { throw new Error("planted"); }); test.skip("c", () => {});';
    expect(await runTestCommand({ 'a.test.js': mixed })).toEqual({
      exitCode: 1,
      lastLine: '1 passed, 1 failed, 1 skipped',
    });
  });

  it('never repeats a failed test, even if asked to', async () => {
    const unstable = 'let tries = 0; test("passes when repeated", () => expect(tries++).toBe(1));';
    const failure = { exitCode: 1, lastLine: '0 passed, 1 failed' };
    expect(await runTestCommand({ 'a.test.js': unstable })).toEqual(failure);
    expect(await runTestCommand({ 'a.test.js': unstable }, '--retry=1')).toEqual(failure);
  });

  it('counts a test that asks to be repeated as failed, and lists it', async () => {
    const unstable = 'let tries = 0; test("passes when repeated", { retry: 1 }, () => expect(tries++).toBe(1));';
    expect(await runTestCommand({ 'a.test.js': unstable })).toEqual({
      exitCode: 1,
      lastLine: '0 passed, 1 failed',
      repeated: ['repeated, so it counts as failed: a.test.js: passes when repeated'],
    });
  });

  it('counts a file that cannot be loaded and an error outside all tests as failures', async () => {
    const files = {
      'a.test.js': 'throw new Error("planted")',
      'b.test.js': 'test("b", () => { Promise.reject(new Error("planted")); });',
    };
    expect(await runTestCommand(files)).toEqual({ exitCode: 1, lastLine: '1 passed, 2 failed' });
  });

  it('neither writes a missing snapshot nor runs only a focused test', async () => {
    const files = {
      'a.test.js': 'test("a", () => expect(1).toMatchSnapshot());',
      'b.test.js': 'test.only("b", () => {});',
    };
    expect(await runTestCommand(files)).toEqual({ exitCode: 1, lastLine: '0 passed, 2 failed' });
  });

  it('counts a setup that fails', async () => {
    const files = {
      'a.test.js': 'test("a", () => {})',
      'set-up.js': 'export function setup() { throw new Error("planted"); }',
      'vitest.config.js': 'export default { test: { globalSetup: ["set-up.js"] } };',
    };
    expect(await runTestCommand(files)).toEqual({ exitCode: 1, lastLine: '0 passed, 1 failed' });
  });

  it("hides the developer's settings and home from the tests", async () => {
    const developerSettings = {
      SLUICE_DATABASE: 'postgres://db/in-use',
      GIT_DIR: '/theirs',
      HOME: await makeFolder({ '.npmrc': '' }),
    };
    for (const [name, value] of Object.entries(developerSettings)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const looking = `
      import { readdirSync } from 'node:fs';
      import { homedir } from 'node:os';
      test("a", () => expect(process.env).not.toMatchObject({ SLUICE_DATABASE: expect.any(String) }));
      test("b", () => expect(process.env).not.toMatchObject({ GIT_DIR: expect.any(String) }));
      test("c", () => expect(readdirSync(homedir())).toEqual([]));`;
    expect(await runTestCommand({ 'a.test.js': looking })).toEqual({ exitCode: 0, lastLine: '3 passed, 0 failed' });
  });

  it('treats a folder name as only that folder', async () => {
    const test = 'test("a", () => {});';
    const files = { 'src/json/a.test.js': test, 'src/json-more/b.test.js': test, 'src/c.test.js': test };
    expect(await runTestCommand(files, 'src/json', 'c.test')).toEqual({ exitCode: 0, lastLine: '2 passed, 0 failed' });
  });

  it('succeeds if no test can be run here, and lists them', async () => {
    const result = await runTestCommand({ 'a.test.js': 'test.skip("a", () => {});' });
    expect(result).toEqual({ exitCode: 0, lastLine: '0 passed, 0 failed, 1 skipped' });
  });

  it('does not count a run without tests as a success', async () => {
    expect(await runTestCommand({ 'a.js': '' })).toEqual({ exitCode: 1, lastLine: '0 passed, 1 failed' });
  });
});
