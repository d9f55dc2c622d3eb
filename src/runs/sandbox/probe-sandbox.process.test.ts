import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { probeSandbox } from './probe-sandbox.js';

/** An executable that hangs while its folder contains the file `busy`, and then prints a version that is too old. */
const SCRIPT = '#!/bin/sh\n[ -e "$(dirname "$0")/busy" ] && exec sleep 60\necho "bubblewrap 0.1.0"\n';

async function makeExecutable() {
  const folder = await mkdtemp(join(tmpdir(), 'probe-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const program = join(folder, 'bwrap');
  await writeFile(program, SCRIPT);
  await chmod(program, 0o755);
  await writeFile(join(folder, 'busy'), '');
  return { program, wake: async () => rm(join(folder, 'busy')) };
}

it('probeSandbox repeats a probe that timed out, and caches any other result', async () => {
  const { program, wake } = await makeExecutable();
  const limits = { probeMs: 200, retryMs: 100 };
  expect(await probeSandbox(program, limits)).toEqual({
    works: false,
    reason: `${program} does not print its version: it did not respond within 0.2 s`,
  });
  await wake();
  const readReason = async () => {
    const support = await probeSandbox(program, { ...limits, probeMs: 30_000 });
    return support.works ? 'works' : support.reason;
  };
  await expect.poll(readReason).toContain('0.1.0 is too old');
  await rm(program);
  expect(await readReason()).toContain('0.1.0 is too old');
});
