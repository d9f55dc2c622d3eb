import { expect, it } from 'vitest';
import { createMemoryIo } from '../../src/cli/fixtures/memory-io.js';
import { run } from '../../src/cli/run.js';
import { openSite } from '../../src/store/contract/fixtures/open-site.js';
import { NOW } from '../../src/store/contract/fixtures/order-samples.js';
import { readAllPages } from '../../src/store/contract/fixtures/read-all-pages.js';
import { sampleSpec } from '../../src/store/contract/fixtures/run-samples.js';
import { openPlain } from '../../src/store/postgres/fixtures/open-plain.js';
import { makeFolder } from '../temporary-folder.js';
import { createDatabase } from './fresh-database.js';

/** Refuses extensions in a database, as hosted ones do that allow only some. */
const REFUSE_EXTENSIONS = `
  CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'extension not allowed' USING ERRCODE = 'insufficient_privilege'; END $$;
  CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION refuse()`;

/** Starts the server, which reports what it misses, and stops it. */
async function serveOnce(url: string): Promise<string> {
  const io = createMemoryIo({});
  const data = await makeFolder({});
  const served = run(['serve', '--no-demo', '--port', '0', '--data', data, '--database', url], io);
  await expect.poll(() => io.printed.stdout).toMatch(/^http:/);
  process.emit('SIGTERM');
  expect(await served).toBe(0);
  return io.printed.stderr;
}

it('a database without pg_trgm finds the same runs page by page; the server reports how to add the index', async () => {
  const url = await createDatabase();
  const database = await openPlain(url);
  await database.query(REFUSE_EXTENSIONS);
  const store = await openSite(url, { searchWindow: 3 });
  for (let index = 0; index < 8; index += 1) {
    const spec = sampleSpec({ prompt: index % 6 === 1 ? 'A needle' : 'hay' });
    await store.createRun({ id: `r${index}`, spec, state: 'queued', now: NOW + index });
  }
  expect(store.hasWordIndex).toBe(false);
  const pages = await readAllPages(async (page) => store.listRuns({ search: 'NEEDLE', ...page }));
  expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['r7'], [], ['r1']]);
  expect(await store.countRuns({ search: 'needle' })).toBe(2);

  const statements = /run in the database: (?<first>CREATE EXTENSION [^;]+); (?<second>CREATE INDEX .+?\))\. Then/.exec(
    await serveOnce(url),
  )?.groups;
  await database.query('DROP EVENT TRIGGER refuse');
  await database.query(statements?.['first'] ?? '');
  await database.query(statements?.['second'] ?? '');
  const indexed = await openSite(url, { searchWindow: 3 });
  expect(indexed.hasWordIndex).toBe(true);
  const found = await indexed.listRuns({ search: 'needle' });
  expect(found).toMatchObject({ items: [{ id: 'r7' }, { id: 'r1' }], next_cursor: null });
  expect(await serveOnce(url)).not.toContain('CREATE EXTENSION');
});
