import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createMemoryResultCache } from '../cache/memory-result-cache.js';
import type { RunSpec } from '../../records/run-spec.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site, Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

/** Processes are started, on a machine that may have other things to do. */
vi.setConfig({ testTimeout: 60_000 });

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
  const first = await runToEnd(makeSpec(site, more), site);
  await between?.(site);
  const second = await runToEnd(makeSpec(site, more), site);
  return { site, first, second, starts: (await site.calls()).length };
}

describe('a result that was kept', () => {
  it('is told as a run of its own, naming where it came from', async () => {
    const { first, second, starts } = await runTwice([{ print: 'So: {"line":3,}\n' }]);
    expect(starts).toBe(1);
    const { process: _, ...kept } = first.result;
    expect(second.result).toEqual({ ...kept, cached_from: first.run.id });
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

  it('without a contract is the agent’s last words', async () => {
    const site = await makeSite([{ print: 'All\nis fine.\n' }]);
    const { contract: _, ...spec } = makeSpec(site);
    const first = await runToEnd(spec, site);
    const second = await runToEnd(spec, site);
    expect(second.result).toMatchObject({ status: 'success', text: 'All\nis fine.', cached_from: first.run.id });
    expect(await site.calls()).toHaveLength(1);
  });

  it('is kept anew where only that is asked for', async () => {
    const site = await makeSite([{ print: '{"line":1}\n' }], [{ print: '{"line":2}\n' }]);
    await runToEnd(makeSpec(site), site);
    const { result } = await runToEnd(makeSpec(site, { cache: 'refresh' }), site);
    expect(result.value).toEqual({ line: 2 });
    expect((await runToEnd(makeSpec(site), site)).result.value).toEqual({ line: 2 });
  });

  it('counts only for the same input files', async () => {
    const change = async (site: Site) => writeFile(join(site.workdir, 'a.txt'), 'changed');
    const { starts } = await runTwice([{ print: '{"line":3}\n' }], { input_files: ['a.txt'] }, change);
    expect(starts).toBe(2);
  });

  it('counts only if it passes the schema as it is now', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const accept = z.object({ line: z.number().refine(() => true) });
    const refuse = z.object({ line: z.number().refine((line) => line > 3) });
    await runToEnd(makeSpec(site, { contract: { schema: accept } }), site);
    const { result } = await runToEnd(makeSpec(site, { contract: { schema: refuse } }), site);
    expect(result).toMatchObject({ status: 'failed' });
    expect(await site.calls()).toHaveLength(2);
  });

  it('and then damaged is a miss', async () => {
    const damage = async ({ data }: Site): Promise<void> => {
      const [name = ''] = await readdir(join(data, 'cache'));
      await writeFile(join(data, 'cache', name), 'damaged');
    };
    const { starts, second } = await runTwice([{ print: '{"line":3}\n' }], {}, damage);
    expect(starts).toBe(2);
    expect(second.result).not.toHaveProperty('cached_from');
  });

  it('may be kept elsewhere', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const ports = { ...site, cache: createMemoryResultCache() };
    await runToEnd(makeSpec(site), ports);
    expect((await runToEnd(makeSpec(site), ports)).result).toHaveProperty('cached_from');
    expect(await readdir(site.data)).not.toContain('cache');
  });

  it('is not needed for a cache that fails', async () => {
    const site = await makeSite([{ print: '{"line":3}\n' }]);
    const broken = async () => Promise.reject(new Error('no'));
    const { result } = await runToEnd(makeSpec(site), { ...site, cache: { find: broken, keep: broken } });
    expect(result.status).toBe('success');
  });
});

describe('a result that is not kept', () => {
  it.each<[string, readonly Step[], Partial<RunSpec>]>([
    ['a failure', [{ print: '{"line":"x"}\n' }], {}],
    ['a comment', [{ print: 'hm\n' }], { contract: { schema: LINE, profile: 'tagged' } }],
    [
      'half a value',
      [{ print: '<json>{"line":3,"more":"ab' }],
      { contract: { schema: LINE, profile: 'tagged', allow_partial: true } },
    ],
    ['of a run that changed files', [{ file: 'new.txt' }, { print: '{"line":3}\n' }], {}],
    ['of a process that failed', [{ print: '{"line":3}\n' }, { exit: 1 }], {}],
    ['of a run that did not ask for it', [{ print: '{"line":3}\n' }], { cache: false }],
  ])('is %s', async (_, steps, more) => {
    const { starts, second } = await runTwice(steps, more);
    expect(starts).toBe(2);
    expect(second.result).not.toHaveProperty('cached_from');
  });
});
