import { readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import type { TrialStep } from '../../runs/agents/index.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

const AGENT = fileURLToPath(new URL('../../runs/scenarios/fixtures/acp-agent.mjs', import.meta.url));
const WRITE = { toolCallId: 'c2', title: 'Write', kind: 'edit', rawInput: { file_path: 'denied.txt' } };
const READ = { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Read', kind: 'read', status: 'completed' };
const HELLO = [{ say: 'hello' }];
const REST = [
  [{ update: READ }, { say: 'marmalade' }],
  [{ say: '{"letters": 5}' }],
  [{ ask: WRITE }, { say: 'It was denied.' }],
  [{ say: '1' }, { hang: true }],
];

let project: string;
beforeEach(async () => {
  project = await realpath(await makeFolder({ 'sluice.config.json': '{"sandbox":{"use":"off"},"roots":["."]}' }));
  vi.spyOn(process, 'cwd').mockReturnValue(project);
  onTestFinished(() => void vi.restoreAllMocks());
});

async function sluice(...args: readonly string[]) {
  const io = createMemoryIo({});
  const exitCode = await run([...args, '--config', 'sluice.config.json', '--data', join(project, 'data')], io);
  return { exitCode, ...io.printed };
}

/** Writes an agent that plays one list of steps per scenario, and returns its command. */
async function writeAgent(prompts: readonly (readonly object[])[]): Promise<readonly [string, ...string[]]> {
  const script = join(project, 'script.json');
  await writeFile(script, JSON.stringify({ prompts }));
  return [process.execPath, AGENT, script];
}

async function configure(agents: object): Promise<void> {
  await writeFile(join(project, 'sluice.config.json'), JSON.stringify({ sandbox: { use: 'off' }, agents }));
}

describe('sluice agents', () => {
  it('lists presets and configured agents as JSON', async () => {
    await configure({ mine: { acp: ['./mine'] } });
    const { exitCode, stdout } = await sluice('agents');
    expect(exitCode).toBe(0);
    const reports = JSON.parse(stdout) as { readonly name: string }[];
    expect(reports.find(({ name }) => name === 'mine')).toMatchObject({ source: 'configured', installed: false });
    expect(reports.find(({ name }) => name === 'goose')).toMatchObject({ source: 'preset', modes: ['acp'] });
  });
});

describe('sluice agents try', () => {
  it('drives an agent through five scenarios and reports what worked', async () => {
    await configure({ mine: { acp: await writeAgent([HELLO, ...REST]) } });
    const { exitCode, stdout } = await sluice('agents', 'try', 'mine');
    expect(JSON.parse(stdout)).toMatchObject([
      { scenario: 'hello', outcome: 'worked' },
      { scenario: 'tool', outcome: 'worked' },
      { scenario: 'schema', outcome: 'worked' },
      { scenario: 'permission', outcome: 'worked', detail: 'it asked, and accepted the denial' },
      { scenario: 'cancel', outcome: 'worked' },
    ]);
    expect(exitCode).toBe(0);
  });

  it('rejects an unknown agent', async () => {
    expect(await sluice('agents', 'try', 'nothing')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Unknown agent "nothing"'),
    });
  });
});

describe('sluice agents add', () => {
  it('adds the entry that was proved, and keeps the other settings', async () => {
    const [program, ...args] = await writeAgent([HELLO, ...REST]);
    const words = ['agents', 'add', 'mine', '--env', 'MINE_*', '--config', 'sluice.config.json'];
    const io = createMemoryIo({});
    expect(await run([...words, '--data', join(project, 'data'), '--', program, ...args], io)).toBe(0);
    expect(JSON.parse(await readFile(join(project, 'sluice.config.json'), 'utf8'))).toEqual({
      sandbox: { use: 'off' },
      roots: ['.'],
      agents: { mine: { acp: [program, ...args], env: ['MINE_*'] } },
    });
    expect((await sluice('agents', 'add', 'mine')).stderr).toContain('needs no entry');
  });

  it('changes nothing if a scenario failed', async () => {
    const before = await readFile(join(project, 'sluice.config.json'), 'utf8');
    const command = await writeAgent([[{ say: 'no' }], ...REST]);
    const io = createMemoryIo({});
    const words = ['agents', 'add', 'mine', '--config', 'sluice.config.json', '--data', join(project, 'data')];
    expect(await run([...words, '--', ...command], io)).toBe(1);
    const { added, steps } = JSON.parse(io.printed.stdout) as { added: boolean; steps: readonly TrialStep[] };
    expect(added).toBe(false);
    expect(steps[0]).toMatchObject({ scenario: 'hello', outcome: 'failed' });
    expect(await readFile(join(project, 'sluice.config.json'), 'utf8')).toBe(before);
  });
});

describe('sluice doctor --record', () => {
  it('writes what Sluice does not know to a file, with the recorded streams', async () => {
    const odd = { update: { sessionUpdate: 'mood_changed', mood: 'calm' } };
    await configure({ mine: { acp: await writeAgent([[odd, ...HELLO], ...REST]) } });
    const file = join(project, 'record.json');
    const { exitCode, stdout } = await sluice('doctor', '--record', 'mine', '--output', file);
    expect(JSON.parse(stdout)).toEqual({ file, unknown: [expect.stringContaining('mood_changed')], replayed: true });
    expect(exitCode).toBe(1);
    const report = JSON.parse(await readFile(file, 'utf8')) as { readonly scenarios: readonly object[] };
    expect(report).toMatchObject({ agent: { name: 'mine' } });
    expect(report.scenarios).toHaveLength(5);
    expect(report.scenarios[0]).toMatchObject({
      scenario: 'hello',
      replay: 'same',
      streams: { 'stdout.1.log': expect.stringContaining('mood_changed') },
    });
    expect((await sluice('doctor', '--record', 'mine', '--output', file)).stderr).toContain('already exists');
  });
});
