import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { openS3Server } from '../../../runs/archive/fixtures/open-s3-server.js';
import { readSmallFile } from '../../../base/files/index.js';
import { openSite } from '../../../store/contract/fixtures/open-site.js';
import { NOW } from '../../../store/contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../../../store/contract/fixtures/run-samples.js';
import { createArchiveJob } from '../retention/start-retention.js';
import { createPacking } from './start-packing.js';

const RUN = 'one';

/** Sets up a host that executes a run, with an archive. */
async function openMachine(address = 's3://runs/a?copy_every_s=30', lastCopyMs?: number) {
  const s3 = await openS3Server();
  const data = await makeFolder({});
  const store = await openSite('memory:');
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} };
  let now = Date.now();
  const start = async () => {
    const archive = await s3.open({ address, retry: { maxAttempts: 1, firstPauseMs: 1 } });
    return createPacking({ store, data, archive, settings: { afterMs: 0 }, clock: () => now, logger });
  };
  let packing = await start();
  await store.createRun({ id: RUN, spec: sampleSpec(), state: 'running', workerId: 'w', leaseMs: 1, now: NOW });
  const audit = join(data, 'runs', RUN, '.audit');
  await mkdir(audit, { recursive: true });
  return {
    data,
    store,
    s3,
    warnings,
    print: async (text: string) => appendFile(join(audit, 'stdout.1.log'), text),
    end: async () => store.endRun({ id: RUN, workerId: 'w', result: createRunResult(), now }),
    /** Advances the clock, and packs, copies and uploads what is due. */
    async pass(ms: number) {
      now += ms;
      await packing.job.work(new AbortController().signal);
    },
    stop: async () => packing.finish(lastCopyMs),
    /** Another process takes over. */
    async restart() {
      await packing.finish();
      packing = await start();
      await packing.job.work(new AbortController().signal);
    },
    /** Reads like a server on another host. */
    async readElsewhere() {
      const folder = await (await s3.open({ address })).openRun(RUN);
      return folder === undefined
        ? undefined
        : readSmallFile('stdout', 1e6, async () => folder.openAttempt('stdout', 1));
    },
    listObjects: async () =>
      (await readdir(s3.directory, { recursive: true }))
        .flatMap((path) => /([^/]+)\._S3rver_object$/u.exec(path)?.[1] ?? [])
        .toSorted(),
  };
}

describe('a run that is still running', () => {
  it('is copied every half minute, and packed and uploaded after its end', async () => {
    const machine = await openMachine();
    await machine.print('one\n');
    await machine.pass(0);
    expect(await machine.readElsewhere()).toBeUndefined();
    await machine.pass(30_000);
    expect(await machine.readElsewhere()).toBe('one\n');
    await machine.print('two\n');
    await machine.pass(29_000);
    expect(await machine.readElsewhere()).toBe('one\n');
    await machine.pass(1000);
    expect(await machine.readElsewhere()).toBe('one\ntwo\n');
    await machine.end();
    await machine.pass(1000);
    expect(await machine.listObjects()).toEqual([`${RUN}.zip`]);
    expect(await machine.readElsewhere()).toBe('one\ntwo\n');
    expect(machine.warnings).toEqual([]);
  });

  it('stays readable after its disk is gone, until retention removes it', async () => {
    const machine = await openMachine();
    await machine.print('one\n');
    await machine.pass(0);
    await machine.pass(30_000);
    await rm(machine.data, { recursive: true });
    await machine.end();
    await machine.pass(60_000);
    expect(await machine.readElsewhere()).toBe('one\n');
    await machine.store.purgeRuns({ endedBefore: Date.now() + 1e6, runs: 10, rows: 100, now: Date.now() });
    const archive = await machine.s3.open({ address: 's3://runs/a' });
    await createArchiveJob({ store: machine.store, archive, data: await makeFolder({}) }).work(
      new AbortController().signal,
    );
    expect(await machine.listObjects()).toEqual([]);
  });

  it('is copied further by the next process on its host, which skips the copied parts', async () => {
    const machine = await openMachine();
    await machine.print('one\n');
    await machine.pass(0);
    await machine.pass(30_000);
    await machine.restart();
    machine.s3.requests.length = 0;
    await machine.pass(30_000);
    expect(machine.s3.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
    await machine.print('two\n');
    await machine.pass(30_000);
    expect(await machine.readElsewhere()).toBe('one\ntwo\n');
  });

  it('is copied when its process shuts down, even if it has just ended or was never copied', async () => {
    const machine = await openMachine();
    await machine.print('one\n');
    await machine.pass(0);
    await machine.pass(30_000);
    await machine.print('two\n');
    await machine.stop();
    expect(await machine.readElsewhere()).toBe('one\ntwo\n');
    const short = await openMachine();
    await short.print('one\n');
    await short.end();
    await short.stop();
    expect(await short.readElsewhere()).toBe('one\n');
    await short.restart();
    await short.pass(1000);
    expect(await short.listObjects()).toEqual([`${RUN}.zip`]);
    expect([...machine.warnings, ...short.warnings]).toEqual([]);
  });

  it('is copied only when its process shuts down by default', async () => {
    const machine = await openMachine('s3://runs/a');
    await machine.print('one\n');
    await machine.pass(0);
    await machine.pass(100_000);
    expect(machine.s3.requests).toEqual([]);
    await machine.stop();
    expect(await machine.readElsewhere()).toBe('one\n');
  });

  it.each([
    ['refuses', { status: 403, code: 'AccessDenied' }],
    ['does not answer', 'silence'],
  ] as const)('does not prevent its process from exiting if the archive %s', async (_, fault) => {
    const machine = await openMachine('s3://runs/a?copy_every_s=30', 200);
    await machine.print('one\n');
    machine.s3.fault = () => fault;
    await machine.stop();
    expect(machine.warnings).toEqual(['cannot copy all recorded bytes to the archive before the process exits']);
  });

  it('waits while the archive is unusable, and is copied later', async () => {
    const machine = await openMachine();
    await machine.print('one\n');
    await machine.pass(0);
    machine.s3.fault = () => 'unavailable';
    await machine.pass(30_000);
    await machine.pass(10_000);
    expect(machine.warnings).toEqual(['cannot upload to the archive, will retry']);
    machine.s3.fault = () => undefined;
    await machine.pass(60_000);
    expect(await machine.readElsewhere()).toBe('one\n');
  });

  it('is not copied if it ended before its first copy', async () => {
    const short = await openMachine();
    await short.pass(0);
    await short.print('one\n');
    await short.end();
    await short.pass(30_000);
    expect(short.s3.requests.some(({ method, url }) => method === 'PUT' && url.includes('growing'))).toBe(false);
    expect(await short.listObjects()).toEqual([`${RUN}.zip`]);
  });

  it('is copied even after its end if its folder is too large to be packed', async () => {
    const machine = await openMachine();
    await machine.print('one\n');
    await machine.pass(0);
    await machine.end();
    const folder = join(machine.data, 'runs', RUN, 'many');
    await mkdir(folder);
    for (let name = 0; name < 10_001; name += 1) await writeFile(join(folder, String(name)), '');
    await machine.pass(30_000);
    expect(await machine.readElsewhere()).toBe('one\n');
  });
});
