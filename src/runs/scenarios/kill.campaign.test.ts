import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bundleProgram, type BundledProgram } from '../../../test/bundle-program.js';
import { replayRunFolder, translateRunFolder } from '../run-folder/index.js';
import { codex } from '../../events/contract/translate-lines.contract.js';
import type { Emitted } from '../../events/index.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site, Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const PROGRAM = new URL('./fixtures/run-forever.js', import.meta.url);

/** `npm run torture` uses more. */
const KILLS = Number(process.env['RUN_KILLS'] ?? 4);

const say = (record: object): Step => ({ print: `${JSON.stringify(record)}\n` });

/** Prints in small chunks, writes a file, and leaves children behind that keep its output open. */
const createSteps = (last: string): readonly Step[] => [
  { child: true },
  say(codex.thread('t-1')),
  ...Array.from({ length: 12 }, (_, index) => [
    say(codex.message(`word ${index}`, `item_${index}`)),
    { sleep: 4 },
  ]).flat(),
  { file: 'made.txt' },
  { child: true, detached: true },
  say(codex.message(last, 'item_last')),
  say(codex.completed()),
];

test(
  `a Sluice that is killed leaves folders with every published event, and no processes (${KILLS} times)`,
  { timeout: 60_000 + KILLS * 15_000 },
  async () => {
    const site = await makeSite(
      createSteps('Which?'),
      createSteps('{"__SKILL_DONE__": true, '),
      createSteps('{"a":1,"__SKILL_DONE__": true}'),
    );
    const program = await bundleProgram(PROGRAM);
    let count = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const published = await runAndKill(program, site, 300 + Math.random() * 1500);
      for (const [run, events] of published) {
        count += events.length;
        await expectPrefix(join(site.data, 'runs', run), events);
      }
      for (const run of await readdir(join(site.data, 'runs')).catch(() => [])) {
        await expectReadable(join(site.data, 'runs', run));
      }
    }
    expect(count).toBeGreaterThan(0);
    const pids = (await site.calls()).map(({ pid }) => pid);
    expect(pids.length).toBeGreaterThan(0);
    // Starts again, in a process that has not scanned for orphaned processes yet.
    await runAndKill(program, site, 0, 'first event');
    await site.script([{ print: 'last\n' }]);
    const { result } = await runToEnd({ engine: 'command', command: site.agent, workdir: site.workdir }, site);
    expect(result.status).toBe('success');
    expect(await marked(site)).toEqual([]);
  },
);

/** Runs the script, kills it, and returns the events it had published, by run. */
async function runAndKill(
  program: BundledProgram,
  site: Site,
  ms: number,
  until?: 'first event',
): Promise<Map<string, Emitted[]>> {
  const child = program.start([site.data, site.workdir, ...site.agent]);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(child.stdout, 'data');
  if (until === undefined) await sleep(ms);
  child.kill('SIGKILL');
  await once(child, 'close');
  const published = new Map<string, Emitted[]>();
  for (const line of text.split('\n').slice(0, -1)) {
    const { run, emitted } = JSON.parse(line) as { run: string; emitted: Emitted };
    published.set(run, [...(published.get(run) ?? []), emitted]);
  }
  return published;
}

/** Asserts that the published events are a prefix of the events rebuilt from the bytes. */
async function expectPrefix(dir: string, published: readonly Emitted[]): Promise<void> {
  const rebuilt: string[] = [];
  for await (const emitted of translateRunFolder(dir)) rebuilt.push(JSON.stringify(emitted));
  expect(rebuilt.slice(0, published.length)).toEqual(published.map((emitted) => JSON.stringify(emitted)));
}

/** Asserts that the folder can be read, whatever it contains; only missing log entries may differ. */
async function expectReadable(dir: string): Promise<void> {
  const files: string[] = await readdir(join(dir, '.audit')).catch(() => []);
  if (!files.includes('meta.1.json')) return;
  const replayed = await replayRunFolder(dir);
  expect(replayed).not.toMatchObject({ status: 'different', difference: { stored: expect.anything() as unknown } });
}

/** Processes with the marker of one of this site's runs. */
async function marked(site: Site): Promise<string[]> {
  const processes: string[] = [];
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const environment = await readFile(join('/proc', pid, 'environ'), 'utf8').catch(() => '');
    if (environment.includes(`SLUICE_RUN_DIR=${site.data}`)) processes.push(pid);
  }
  return processes;
}
