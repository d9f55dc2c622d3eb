import { link, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanEnd, goodResult, goodText, makeRequest, startLead } from './fixtures/start-lead.js';

const SECRET = 'sk-live-0123456789abcdef';
const environment = { SERVICE_API_KEY: SECRET, PATH: '/bin' };

async function startSecretLead() {
  const site = await startLead({ environment, secrets: { patterns: ['hunter[0-9]+'] } });
  const submitted = await site.lead.submit(makeRequest());
  const getPath = (name: string) => join(site.data, 'runs', submitted.run, name);
  return { ...site, submitted, getPath };
}

describe('a secret that an agent writes into its result', () => {
  it.each(['work_result.json', 'work_result.txt'])('of %s reaches neither comment nor store nor file', async (name) => {
    const { lead, store, report, comments, submitted, getPath } = await startSecretLead();
    const summary = `Used ${SECRET} and hunter22.`;
    const result =
      name === 'work_result.json'
        ? goodResult(submitted, { Summary: summary })
        : `${goodText(submitted)}\n${summary}\n`;
    await report(submitted, name, result);
    const { reading, decision } = await lead.settle(cleanEnd(submitted));
    expect(decision.action).toBe('advance');
    expect(JSON.stringify(reading)).toContain(`Used ${'*'.repeat(SECRET.length)} and ${'*'.repeat(8)}.`);
    await lead.deliver();
    const written = [
      await comments(),
      await readFile(getPath(name), 'utf8'),
      JSON.stringify(await store.findOrder(submitted.order.issue_ref, submitted.order.run_id)),
      JSON.stringify(await store.listOutbox({})),
      JSON.stringify(await store.listExecutions({})),
    ].join('\n');
    expect(written).toContain('Used ***');
    expect(written).not.toContain(SECRET);
    expect(written).not.toContain('hunter22');
  });

  it('does not make an old file look new', async () => {
    const { lead, report, submitted, getPath } = await startSecretLead();
    await report(submitted, 'work_result.json', goodResult(submitted, { Summary: SECRET }));
    await utimes(getPath('work_result.json'), 1000, 1000);
    await lead.settle(cleanEnd(submitted));
    expect((await stat(getPath('work_result.json'))).mtimeMs).toBe(1_000_000);
  });

  it('is not masked through a link or in a hard-linked file', async () => {
    const { lead, data, report, submitted, getPath } = await startSecretLead();
    await writeFile(join(data, 'mine.env'), SECRET);
    await report(submitted, 'note', '');
    await symlink(join(data, 'mine.env'), getPath('work_result.json'));
    await link(join(data, 'mine.env'), getPath('work_result.txt'));
    await lead.settle(cleanEnd(submitted));
    expect(await readFile(join(data, 'mine.env'), 'utf8')).toBe(SECRET);
  });

  it('reaches no comment through a file with a second hard link, which does not count as evidence', async () => {
    const { lead, comments, report, submitted, getPath } = await startSecretLead();
    await report(submitted, 'work_result.json', goodResult(submitted, { Summary: `Used ${SECRET}.` }));
    await link(getPath('work_result.json'), getPath('second-name'));
    const { decision } = await lead.settle(cleanEnd(submitted));
    await lead.deliver();
    expect(decision.action).toBe('needs-human');
    expect(await readFile(getPath('work_result.json'), 'utf8')).toContain(SECRET);
    expect(await comments()).toContain('it is a hard link');
    expect(await comments()).not.toContain(SECRET);
  });

  it('is found in another encoding too', async () => {
    const { lead, report, submitted, getPath } = await startSecretLead();
    const text = `${goodText(submitted)}\nUsed ${SECRET}.\n`;
    await report(submitted, 'note', '');
    await writeFile(getPath('work_result.txt'), Buffer.from(`\u{FEFF}${text}`, 'utf16le'));
    const { reading } = await lead.settle(cleanEnd(submitted));
    expect(reading.result?.summary).toContain(`Used ${'*'.repeat(SECRET.length)}.`);
  });

  it('rejects an invalid pattern before anything starts', async () => {
    await expect(startLead({ secrets: { patterns: ['('] } })).rejects.toMatchObject({ code: 'INVALID_SECRET_PATTERN' });
  });

  it('in an answer that does not count reaches neither comment nor inbox', async () => {
    const { lead, outbox, inbox, submitted } = await startSecretLead();
    const answer = { text: `The key is ${SECRET}.`, problem: 'the agent answered without tags' };
    await lead.settle({ ...cleanEnd(submitted), answer });
    expect((await outbox())[0]?.body).toContain(`> The key is ${'*'.repeat(SECRET.length)}.`);
    expect(JSON.stringify([await outbox(), await inbox()])).not.toContain(SECRET);
  });
});
