import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryResultCache } from '../cache/result-caches.js';
import type { RunSpec } from '../../store/records/run-spec.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site, Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const LINE = { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] };

function makeSpec(site: Site, more: Partial<RunSpec> = {}): RunSpec {
  return {
    engine: 'command',
    command: site.agent,
    workdir: site.workdir,
    contract: { schema: LINE },
    cache: true,
    input_files: [],
    ...more,
  };
}

async function runTwice(steps: readonly Step[], more: Partial<RunSpec> = {}, between?: (site: Site) => Promise<void>) {
  const site = await makeSite(steps);
  await writeFile(join(site.workdir, 'a.txt'), 'as it was');
  const first = await runToEnd(makeSpec(site, more), site);
  await between?.(site);
  const second = await runToEnd(makeSpec(site, more), site);
  return { site, first, second, starts: (await site.calls()).length };
}

describe('a cached result', () => {
  it('is emitted as a run that names the original run', async () => {
    const { first, second, starts } = await runTwice([{ print: 'So: {"line":3,}\n' }]);
    expect(starts).toBe(1);
    // It captured only the cached answer, as a message.
    const { process: _, ...rest } = first.result;
    const expectedResult = { ...rest, captured: second.result.captured };
    expect(second.result).toEqual({ ...expectedResult, cached_from: first.run.id });
    expect(second.result).toMatchObject({ value: { line: 3 }, repair_level: 'deterministic_generic' });
    expect(second.types).toEqual([
      'assistant.message.delta',
      'assistant.message.final',
      'conversation.started',
      'conversation.completed',
    ]);
    expect(second.fcmp[1]?.data).toMatchObject({ text: '{"line":3}', structured_payload: { line: 3 } });
    expect(second.fcmp.every(({ meta }) => meta.cached_from === first.run.id)).toBe(true);
    expect(await second.meta(1)).toMatchObject({
      run_id: second.run.id,
      cached_from: first.run.id,
      verdict: 'validated',
    });
  });

  it('without a contract has the agent’s last message', async () => {
    const site = await makeSite([{ print: 'All\nis fine.\n' }]);
    const { contract: _, ...spec } = makeSpec(site);
    const first = await runToEnd(spec, site);
    const second = await runToEnd(spec, site);
    expect(second.result).toMatchObject({ status: 'success', text: 'All\nis fine.', cached_from: first.run.id });
    expect(await site.calls()).toHaveLength(1);
  });

  it('is replaced by a run that requests a refresh', async () => {
    const site = await makeSite([{ print: '{"line":1}\n' }], [{ print: '{"line":2}\n' }]);
    await runToEnd(makeSpec(site), site);
    const { result } = await runToEnd(makeSpec(site, { cache: 'refresh' }), site);
    expect(result.value).toEqual({ line: 2 });
    expect((await runToEnd(makeSpec(site), site)).result.value).toEqual({ line: 2 });
  });

  it('is used only for the same input files', async () => {
    const change = async (site: Site) => writeFile(join(site.workdir, 'a.txt'), 'changed');
    const { starts } = await runTwice([{ print: '{"line":3}\n' }], { input_files: ['a.txt'] }, change);
    expect(starts).toBe(2);
  });

  it('is used only if it passes the current schema', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const accept = z.object({ line: z.number().refine(() => true) });
    const refuse = z.object({ line: z.number().refine((line) => line > 3) });
    await runToEnd(makeSpec(site, { contract: { schema: accept } }), site);
    const { result } = await runToEnd(makeSpec(site, { contract: { schema: refuse } }), site);
    expect(result).toMatchObject({ status: 'failed' });
    expect(await site.calls()).toHaveLength(2);
  });

  it('that was damaged is a miss', async () => {
    const damage = async ({ data }: Site): Promise<void> => {
      const [name = ''] = await readdir(join(data, 'cache'));
      await writeFile(join(data, 'cache', name), 'damaged');
    };
    const { starts, second } = await runTwice([{ print: '{"line":3}\n' }], {}, damage);
    expect(starts).toBe(2);
    expect(second.result).not.toHaveProperty('cached_from');
  });

  it('can be stored elsewhere', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const ports = { ...site, cache: createMemoryResultCache() };
    await runToEnd(makeSpec(site), ports);
    expect((await runToEnd(makeSpec(site), ports)).result).toHaveProperty('cached_from');
    expect(await readdir(site.data)).not.toContain('cache');
  });

  it('is not required: a broken cache does not fail the run', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const broken = async () => Promise.reject(new Error('no'));
    const { result } = await runToEnd(makeSpec(site), { ...site, cache: { find: broken, cacheResult: broken } });
    expect(result.status).toBe('success');
  });
});

describe('a cached result with files', () => {
  const STEPS: readonly Step[] = [{ file: 'new.txt', text: 'made\n' }, { print: '{"line":3}\n' }];

  it('restores them', async () => {
    const { site, first, second, starts } = await runTwice(STEPS, {}, async ({ workdir }) =>
      rm(join(workdir, 'new.txt')),
    );
    expect(starts).toBe(1);
    expect(second.result).toMatchObject({
      cached_from: first.run.id,
      artifacts: { created: ['new.txt'] },
      warnings: [],
    });
    expect(second.types).toContain('artifact.created');
    expect(await readFile(join(site.workdir, 'new.txt'), 'utf8')).toBe('made\n');
  });

  it('restores an input file as modified by the run', async () => {
    const steps: readonly Step[] = [{ file: 'a.txt', text: 'changed\n' }, { print: '{"line":3}\n' }];
    const { site, starts } = await runTwice(steps, { input_files: ['./a.txt'] }, async ({ workdir }) =>
      writeFile(join(workdir, 'a.txt'), 'as it was'),
    );
    expect(starts).toBe(1);
    expect(await readFile(join(site.workdir, 'a.txt'), 'utf8')).toBe('changed\n');
  });

  it('is used if they still exist', async () => {
    expect((await runTwice(STEPS)).starts).toBe(1);
  });

  it.each<[string, (site: Site) => Promise<void>]>([
    [
      'a different file has the name of one of them',
      async ({ workdir }) => writeFile(join(workdir, 'new.txt'), 'mine\n'),
    ],
    [
      'the stored content is missing',
      async ({ workdir, data }) => {
        await rm(join(workdir, 'new.txt'));
        await rm(join(data, 'cache', 'files'), { recursive: true });
      },
    ],
    [
      'the stored content was damaged',
      async ({ workdir, data }) => {
        await rm(join(workdir, 'new.txt'));
        const [name = ''] = await readdir(join(data, 'cache', 'files'));
        await writeFile(join(data, 'cache', 'files', name), 'fake\n');
      },
    ],
  ])('is not used if %s', async (_name, between) => {
    const { starts, second } = await runTwice(STEPS, {}, between);
    expect(starts).toBe(2);
    expect(second.result).not.toHaveProperty('cached_from');
  });

  it.each<[string, readonly Step[], Partial<RunSpec>, string]>([
    ['deleted a file', [{ remove: 'a.txt' }], {}, 'the run deleted a.txt'],
    ['modified a file that is not an input', [{ file: 'a.txt' }], {}, 'a.txt, which is not one of its input_files'],
    ['made a link', [{ link: 'a.txt', file: 'l.txt' }], {}, 'is a symbolic link'],
    ['wrote a secret', [{ file: 'key.txt', text: 'sk-0123456789' }], { env: ['PLAY_*'] }, 'key.txt contains a secret'],
    ['wrote too much', [{ file: 'big.bin', size: 64 * 1024 * 1024 + 1 }], {}, 'more than 67108864 bytes'],
  ])('is not created if the run %s; the result has a warning', async (_name, steps, more, reason) => {
    const site = await makeSite([...steps, { print: '{"line":3}\n' }]);
    await writeFile(join(site.workdir, 'a.txt'), 'as it was');
    const environment = { ...process.env, PLAY_TOKEN: 'sk-0123456789' };
    const { result } = await runToEnd(makeSpec(site, more), { ...site, environment });
    expect(result.status).toBe('success');
    expect(result.warnings).toEqual([{ code: 'NOT_CACHED', message: expect.stringContaining(reason) as string }]);
  });
});

describe('a result is not cached', () => {
  it.each<[string, readonly Step[], Partial<RunSpec>]>([
    ['ended with a failure', [{ print: '{"line":"x"}\n' }], {}],
    ['ended with a comment', [{ print: 'hm\n' }], { contract: { schema: LINE, profile: 'tagged' } }],
    [
      'ended with a partial value',
      [{ print: '<json>{"line":3,"more":"ab' }],
      { contract: { schema: LINE, profile: 'tagged', allow_partial: true } },
    ],
    ['modified a file', [{ file: 'a.txt' }, { print: '{"line":3}\n' }], {}],
    ['ended with an exit code other than 0', [{ print: '{"line":3}\n' }, { exit: 1 }], {}],
    ['did not request caching', [{ print: '{"line":3}\n' }], { cache: false }],
  ])('if the run %s', async (_, steps, more) => {
    const { starts, second } = await runTwice(steps, more);
    expect(starts).toBe(2);
    expect(second.result).not.toHaveProperty('cached_from');
  });

  it('if the run failed without a contract', async () => {
    const site = await makeSite([{ print: 'no\n' }, { exit: 1 }]);
    const { contract: _, ...spec } = makeSpec(site);
    await runToEnd(spec, site);
    expect((await runToEnd(spec, site)).result).not.toHaveProperty('cached_from');
  });
});
