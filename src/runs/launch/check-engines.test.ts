import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkEngines, renderDoctor } from './check-engines.js';
import type { EngineReport, ExamineOptions } from './check-engines.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Creates an executable in a new folder and returns the folder. */
function install(place: string, program: string, lines: string): string {
  const file = join(folder, place, program);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!${process.execPath}\n${lines}\n`);
  chmodSync(file, 0o755);
  return dirname(file);
}

async function findReport(engine: string, path: string, options: Partial<ExamineOptions> = {}): Promise<EngineReport> {
  const reports = await checkEngines({ env: { PATH: path }, cwd: folder, ...options });
  const report = reports.find((each) => each.engine === engine);
  if (report === undefined) throw new Error(`no report of ${engine}`);
  return report;
}

describe('checkEngines', () => {
  it('reports every engine except `command`, and how to install missing engines', async () => {
    const reports = await checkEngines({ env: { PATH: folder }, cwd: folder });
    expect(reports.map(({ engine, status }) => `${engine} ${status}`)).toEqual([
      'codex missing',
      'gemini missing',
      'iflow missing',
      'opencode missing',
      'claude missing',
      'qwen missing',
      'copilot missing',
      'gemini-acp missing',
      'qwen-acp missing',
      'opencode-acp missing',
      'copilot-acp missing',
      'kimi-acp missing',
      'claude-acp missing',
      'codex-acp missing',
    ]);
    expect(reports[0]?.next).toBe('npm install --global @openai/codex@0.166.0');
  });

  it('finds a CLI in PATH and its version', async () => {
    const path = install('proven', 'codex', 'console.log("codex-cli 0.166.0")');
    expect(await findReport('codex', path)).toEqual({
      engine: 'codex',
      program: 'codex',
      path: join(path, 'codex'),
      version: '0.166.0',
      tested: '>=0.166.0 <0.167.0',
      status: 'ready',
    });
  });

  it('runs a CLI named by the configuration', async () => {
    const path = install('named', 'my-claude', 'console.log("2.1.325 (Claude Code)")');
    const programs = { claude: join(path, 'my-claude') };
    expect(await findReport('claude', '', { programs })).toMatchObject({ status: 'ready', program: programs.claude });
  });

  it('runs a CLI configured with arguments', async () => {
    const path = install('words', 'my-codex.mjs', 'console.log("codex-cli 0.166.0")');
    const programs = { codex: [process.execPath, join(path, 'my-codex.mjs')] };
    expect(await findReport('codex', '', { programs })).toMatchObject({ status: 'ready', version: '0.166.0' });
  });

  it('reports an untested version', async () => {
    const path = install('newer', 'codex', 'console.log("codex-cli 0.999.0")');
    const { status, next } = await findReport('codex', path);
    expect(status).toBe('unproven_version');
    expect(next).toContain('tested with >=0.166.0 <0.167.0');
  });

  it('has tested no version of iflow', async () => {
    const path = install('iflow', 'iflow', 'console.log("0.5.19")');
    expect(await findReport('iflow', path)).toMatchObject({ status: 'unproven_version', version: '0.5.19' });
  });

  it.each([
    ['fails', 'console.log("0.166.0"); process.exit(3)', 'it exited with code 3'],
    ['prints no version', 'console.log("hello")', 'it does not print its version'],
  ])('reports a CLI as broken that %s', async (name, lines, reason) => {
    const path = install(name.replaceAll(' ', '-'), 'codex', lines);
    const { status, next } = await findReport('codex', path);
    expect(status).toBe('broken');
    expect(next).toBe(`${reason}; run \`codex --version\` yourself, or install it again`);
  });

  it('does not call a CLI broken that does not exit in time', async () => {
    const path = install('hangs', 'codex', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)');
    const report = await findReport('codex', path, { timeoutMs: 300 });
    expect(report).toMatchObject({
      status: 'slow',
      next: 'it did not exit within 0.3 s; try again when the host is idle',
    });
    expect(renderDoctor([report])).toContain('too slow to say');
  });

  it('reads only the start of very long output', async () => {
    const path = install('flood', 'codex', 'process.stdout.write(" ".repeat(5_000_000) + "0.166.0")');
    expect(await findReport('codex', path)).toMatchObject({ status: 'broken' });
  });
});

describe('renderDoctor', () => {
  it('writes a line per engine, and the next step below it', () => {
    const text = renderDoctor([
      { engine: 'codex', program: 'codex', path: '/bin/codex', version: '0.166.0', status: 'ready' },
      { engine: 'opencode', program: 'opencode', status: 'missing', next: 'install it' },
    ]);
    expect(text).toBe(
      ['codex     ready             0.166.0  /bin/codex', 'opencode  missing', '          → install it', ''].join('\n'),
    );
  });
});
