import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { findUnusableFolder } from '../../../test/unusable-folder.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { backUpStore } from '../open-store.js';
import type { BackupProgress } from './back-up-file.js';
import { catchCode, openSite } from '../contract/fixtures/open-site.js';
import { sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';

async function makeStore() {
  const folder = await makeFolder({});
  const url = `sqlite:${join(folder, 'sluice.db')}`;
  return { folder, url, target: join(folder, 'backups', 'copy.db'), store: await openSite(url) };
}

describe('a database copy', () => {
  it('made during writes contains everything acknowledged before, and can be opened', async () => {
    const { store, url, target } = await makeStore();
    await store.submitOrder(sampleSubmission());
    let acknowledged = 0;
    const stopping = new AbortController();
    const writing = (async () => {
      for (let seq = 1; !stopping.signal.aborted; seq += 1) {
        await store.append('r', [sampleFcmp(seq)]);
        acknowledged = seq;
      }
    })();
    await expect.poll(() => acknowledged).toBeGreaterThan(3);
    const before = acknowledged;
    const { file, bytes } = await backUpStore(url, target);
    stopping.abort();
    await writing;

    expect(file).toBe(target);
    expect((await stat(target)).size).toBe(bytes);
    expect((await stat(target)).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600);
    const copy = await openSite(`sqlite:${target}`);
    expect(await copy.findIssue('local#1')).toMatchObject({ last_run_number: 1 });
    const events = await copy.read({ runId: 'r', protocol: 'fcmp', limit: 10_000 });
    expect(events.length).toBeGreaterThanOrEqual(before);
    expect(events.map(({ event }) => event.seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('reports its progress', async () => {
    const { store, url, target } = await makeStore();
    const text = 'x'.repeat(100_000);
    for (let seq = 1; seq <= 50; seq += 1) await store.append('r', [sampleFcmp(seq, text)]);
    const reports: BackupProgress[] = [];
    const { bytes } = await backUpStore(url, target, { onProgress: (progress) => void reports.push(progress) });
    const totals = new Set(reports.map(({ total }) => total));
    expect(totals.size).toBe(1);
    const [total = 0] = totals;
    // Pages are fuller in the copy.
    expect(total).toBeGreaterThan(bytes / 2);
    expect(reports.at(-1)?.bytes).toBe(Math.min(bytes, total));
    expect(reports.map((report) => report.bytes)).toEqual(
      reports.map((report) => report.bytes).toSorted((a, b) => a - b),
    );
  });

  it('never replaces a file', async () => {
    const { folder, url } = await makeStore();
    const target = join(folder, 'letter.txt');
    await writeFile(target, 'dear');
    expect(await catchCode(backUpStore(url, target))).toBe('TARGET_EXISTS');
    expect(await readFile(target, 'utf8')).toBe('dear');
  });

  it('is rejected for a file that is not a Sluice database, and leaves nothing behind', async () => {
    const { folder, target } = await makeStore();
    const other = join(folder, 'other.db');
    const database = new DatabaseSync(other);
    database.exec('CREATE TABLE mine (x TEXT)');
    database.close();
    await writeFile(join(folder, 'letter.txt'), 'A letter to my grandmother. '.repeat(100));
    expect(await catchCode(backUpStore(`sqlite:${other}`, target))).toBe('INVALID_STORE_URL');
    expect(await catchCode(backUpStore(`sqlite:${join(folder, 'letter.txt')}`, target))).toBe('STORE_DAMAGED');
    expect(await catchCode(backUpStore(`sqlite:${join(folder, 'gone.db')}`, target))).toBe('STORE_UNAVAILABLE');
    expect(await catchCode(backUpStore('postgres://db/x', target))).toBe('COPY_UNSUPPORTED');
    expect(await readdir(join(folder, 'backups')).catch(() => [])).toEqual([]);
  });

  it('that cannot be written is reported', async () => {
    const { folder, url } = await makeStore();
    await writeFile(join(folder, 'file'), '');
    for (const target of [join(folder, 'file', 'copy.db'), join(await findUnusableFolder(), 'copy.db')]) {
      const copying = backUpStore(url, target);
      await expect(copying).rejects.toThrow('Check the target folder');
      expect(await catchCode(copying)).toBe('BACKUP_FAILED');
    }
  });
});
