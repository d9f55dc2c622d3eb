import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codex } from '../../events/contract/translate-lines.contract.js';
import { createJsonLogger } from '../../base/logger.js';
import type { RunSpec } from '../../store/records/run-spec.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';
import type { EndedRun } from './run.contract.js';

const KEY = 'sk-live-0123456789abcdef';
const PATTERN = 'ghp_[A-Za-z0-9]{10}';
const TOKEN = 'ghp_ABCDEFGHIJ';

/** Everything a run has stored: all files in its data folder, its events, its result. */
async function readStoredData(site: Site, { events, result }: EndedRun): Promise<string> {
  const files = await readdir(site.data, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map(async (file) => readFile(join(file.parentPath, file.name), 'latin1')),
  );
  return [...contents, JSON.stringify(events), JSON.stringify(result)].join('\n');
}

function makeSpec(site: Site, more: Partial<RunSpec> = {}): RunSpec {
  return { engine: 'command', command: site.agent, workdir: site.workdir, env: ['PLAY_*'], ...more };
}

const makePorts = (site: Site) => ({
  ...site,
  environment: { ...process.env, PLAY_API_KEY: KEY, PLAY_WORD: 'harmless' },
  secrets: { patterns: [PATTERN] },
});

describe('a secret', () => {
  it('reaches the agent, but nothing that is stored', async () => {
    const site = await makeSite([
      { environment: 'PLAY_API_KEY' },
      { print: `key=${KEY.slice(0, 7)}` },
      { sleep: 80 },
      { print: `${KEY.slice(7)} and ${TOKEN.slice(0, 6)}` },
      { sleep: 80 },
      { print: `${TOKEN.slice(6)}\n` },
      { print: JSON.stringify({ nested: JSON.stringify({ key: KEY }) }), on: 'stderr' },
      { environment: 'PLAY_WORD' },
    ]);
    const lines: string[] = [];
    const logger = createJsonLogger((line) => lines.push(line));
    const ended = await runToEnd(makeSpec(site, { prompt: `use ${KEY} and ${TOKEN}` }), { ...makePorts(site), logger });
    const [call] = await site.calls();
    expect(call?.env['PLAY_API_KEY']).toBe(KEY);
    expect(call?.input).toBe(`use ${KEY} and ${TOKEN}`);
    const storedData = await readStoredData(site, ended);
    expect(storedData).not.toContain(KEY);
    expect(storedData).not.toContain(TOKEN);
    expect(lines.join('')).not.toContain(KEY);
    expect(await ended.file('stdout.1.log')).toBe(
      `${'*'.repeat(KEY.length)}\nkey=${'*'.repeat(KEY.length)} and ${'*'.repeat(TOKEN.length)}\nharmless\n`,
    );
    expect(await ended.file('stdin.1.log')).toBe(`use ${'*'.repeat(KEY.length)} and ${'*'.repeat(TOKEN.length)}`);
  });

  it('among the arguments or in a reply is not stored either', async () => {
    const say = (...records: readonly object[]) => ({
      print: records.map((one) => `${JSON.stringify(one)}\n`).join(''),
    });
    const site = await makeSite(
      [say(codex.thread('t-1'), codex.message('Your key?'), codex.completed())],
      [say(codex.thread('t-1'), codex.message('{"__SKILL_DONE__": true}'), codex.completed())],
    );
    const spec: RunSpec = { ...makeSpec(site), engine: 'codex', prompt: 'x', mode: 'interactive' };
    const { command: _, ...rest } = spec;
    const ports = { ...makePorts(site), programs: { codex: [...site.agent, `--key=${KEY}`] } };
    const ended = await runToEnd(rest, ports, { replies: [`it is ${KEY}`] });
    expect(ended.result.attempts).toBe(2);
    expect((await site.calls())[1]?.input).toContain(KEY);
    expect(await readStoredData(site, ended)).not.toContain(KEY);
  });

  it('in a reply that cannot be passed on is not stored', async () => {
    const print = [codex.message('Your key?'), codex.completed()].map((one) => `${JSON.stringify(one)}\n`).join('');
    const site = await makeSite([{ print }]);
    const spec: RunSpec = { engine: 'codex', prompt: 'x', workdir: site.workdir, env: ['PLAY_*'], mode: 'interactive' };
    const ports = { ...makePorts(site), programs: { codex: site.agent } };
    const ended = await runToEnd(spec, ports, { replies: [`it is ${KEY}`] });
    expect(ended.result).toMatchObject({ error: { code: 'SESSION_LOST' } });
    expect(await readStoredData(site, ended)).not.toContain(KEY);
  });

  it('inside a value is masked in the value too', async () => {
    const site = await makeSite([{ print: `{"key":"${KEY}"}\n` }]);
    const { result } = await runToEnd(makeSpec(site, { contract: {} }), makePorts(site));
    expect(result.value).toEqual({ key: '*'.repeat(KEY.length) });
  });

  it('in the name of a missing executable is masked', async () => {
    const site = await makeSite([]);
    const ended = await runToEnd(makeSpec(site, { command: [`/nowhere/${KEY}`] }), makePorts(site));
    expect(ended.result.error?.message).toContain('/nowhere/***');
    expect(await readStoredData(site, ended)).not.toContain(KEY);
  });
});

it('an invalid pattern fails the run', async () => {
  const site = await makeSite([]);
  const { result } = await runToEnd(makeSpec(site), { ...site, secrets: { patterns: ['('] } });
  expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_NOT_STARTED' } });
});
