import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openS3Server } from '../../runs/archive/fixtures/open-s3-server.js';
import { openForReading } from '../../base/files/index.js';
import { packRunFolder, getPackedRunPath, translateRunFolder } from '../../runs/run-folder/index.js';
import { openStore } from '../../store/index.js';
import { sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

const RUN = '01KA3ARCHIVED';

async function sluice(...argv: string[]) {
  const memory = createMemoryIo({});
  const exitCode = await run(argv, memory);
  return { exitCode, ...memory.printed };
}

/** A configuration with an archive that contains one run, which this host does not have. */
async function createSetup() {
  const s3 = await openS3Server();
  const data = await makeFolder({});
  const folder = join(data, 'runs', RUN);
  await mkdir(join(folder, '.audit'), { recursive: true });
  await writeFile(join(folder, '.audit', 'stdout.1.log'), '{"type":"thread.started","thread_id":"t"}\n');
  await writeFile(join(folder, '.audit', 'meta.1.json'), '{"engine":"codex"}');
  const store = await openStore(`sqlite:${join(data, 'store.db')}`);
  await store.createRun({ id: RUN, spec: sampleSpec(), state: 'queued', now: 0 });
  for await (const emitted of translateRunFolder(folder)) await store.append(RUN, [emitted]);
  await store.close();
  await packRunFolder(data, RUN);
  const file = await openForReading(getPackedRunPath(data, RUN));
  if (file === undefined) throw new Error('nothing was packed');
  await (await s3.open({ address: 's3://runs/team' })).upload(RUN, file);
  await file.close();
  await rm(join(data, 'packed'), { recursive: true });
  const config = join(await makeFolder({}), 'sluice.config.json');
  const archive = `s3://runs/team?endpoint=${s3.endpoint}`;
  await writeFile(config, JSON.stringify({ data, archive, database: `sqlite:${join(data, 'store.db')}` }));
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER-secret-value');
  onTestFinished(() => void vi.unstubAllEnvs());
  return { s3, config };
}

describe('a run in the archive', () => {
  it('is exported, translated and replayed by its id, compared with the events in the database', async () => {
    const { config } = await createSetup();
    const target = join(await makeFolder({}), RUN);
    expect(await sluice('export', RUN, target, '--config', config)).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(target, '.audit', 'stdout.1.log'), 'utf8')).toContain('thread.started');
    const translated = await sluice('translate', RUN, '--config', config);
    expect(translated).toMatchObject({ exitCode: 0, stdout: (await sluice('translate', target)).stdout });
    expect(await sluice('replay', RUN, '--config', config)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"same"'),
    });
    expect(await sluice('replay', '01KA3MISSING', '--config', config)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('RUN_FOLDER_NOT_FOUND'),
    });
  });
});

describe('sluice doctor', () => {
  it('checks the archive and never prints its credentials', async () => {
    const { config, s3 } = await createSetup();
    expect((await sluice('doctor', '--config', config)).stderr).toContain('archive: s3://runs/team works');
    s3.fault = () => ({ status: 403, code: 'SignatureDoesNotMatch' });
    const refused = await sluice('doctor', '--config', config);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ARCHIVE_REFUSED') });
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', '');
    const missing = await sluice('doctor', '--config', config);
    expect(missing.stderr).toContain('INVALID_CONFIG');
    for (const { stdout, stderr } of [refused, missing]) expect(stdout + stderr).not.toContain('S3RVER-secret-value');
  });
});
