import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { order, result } from '../fixtures/order.js';
import { readWorkResult } from './read-work-result.js';
import { RESULT_BYTES } from './result-file.js';

const json = JSON.stringify(result);
const text = `IssueRef: ${order.issue_ref}\nRunId: ${order.run_id}\nStatus: fail\nPR: #8\nTests: n/a\n\nFrom the text.\n`;
const orderWithoutRepository = { ...order, repo_dir: '/nowhere/at/all' };

/** Reads a run folder with these files. */
async function readFolder(files: Readonly<Record<string, string>>, options: object = {}) {
  const dir = await makeFolder(files);
  return readWorkResult({ dir, stdout: '', stderr: '', order: orderWithoutRepository, ...options });
}

const listCodes = (problems: readonly { readonly code: string }[] = []) => problems.map(({ code }) => code);

describe('readWorkResult', () => {
  test('reads work_result.json first and reports it as the source', async () => {
    expect(await readFolder({ 'work_result.json': json })).toMatchObject({
      source: 'json',
      path: 'work_result.json',
      result,
      problems: [],
    });
  });

  test('reads work_result.txt if work_result.json is missing', async () => {
    expect(await readFolder({ 'work_result.txt': text })).toEqual({
      source: 'text',
      path: 'work_result.txt',
      result: {
        issue_ref: order.issue_ref,
        run_id: order.run_id,
        status: 'fail',
        changes: { pr: '#8' },
        tests: 'n/a',
        summary: 'From the text.',
      },
      problems: [],
    });
  });

  test('reads work_result.txt also if the agent printed something', async () => {
    expect(await readFolder({ 'work_result.txt': text }, { stdout: 'Status: ok', stderr: 'x' })).toMatchObject({
      source: 'text',
      result: { status: 'fail' },
      problems: [],
    });
  });

  test.each(['stdout', 'stderr'])('a complete result printed on %s yields anchors only', async (stream) => {
    const reading = await readFolder({}, { [stream]: text });
    expect(reading).toMatchObject({ source: 'streams', path: stream, anchors: { status: 'fail' } });
    expect(reading.result).toBeUndefined();
  });

  test('reads JSON if both files exist, with a notice', async () => {
    const reading = await readFolder({ 'work_result.json': json, 'work_result.txt': text });
    expect(reading).toMatchObject({ source: 'json', result: { status: 'ok' }, problems: [] });
    expect(listCodes(reading.notices)).toContain('RESULT_SHADOWED');
  });

  test.each([
    ['broken', json.slice(0, -5), 'RESULT_NOT_JSON'],
    ['empty', '', 'RESULT_NOT_JSON'],
    ['too long', `${json}${' '.repeat(RESULT_BYTES)}`, 'RESULT_TOO_LARGE'],
  ])('JSON that is %s never falls through to text', async (_, broken, code) => {
    const reading = await readFolder({ 'work_result.json': broken, 'work_result.txt': text });
    expect(reading).toMatchObject({ source: 'json', problems: [{ code }] });
    expect(reading.result).toBeUndefined();
  });

  test('output without a result file yields anchors', async () => {
    const stdout = text;
    expect(await readFolder({}, { stdout })).toMatchObject({
      source: 'streams',
      anchors: { issue_ref: order.issue_ref, run_id: order.run_id, status: 'fail' },
      problems: [{ code: 'ONLY_ANCHORS' }],
    });
    expect((await readFolder({}, { stdout: json })).result).toBeUndefined();
  });

  test('finds nothing in an empty or missing folder', async () => {
    expect(await readFolder({})).toMatchObject({ source: 'none', problems: [{ code: 'RESULT_MISSING' }] });
    const missing = await readWorkResult({ dir: '/nowhere/at/all', order: orderWithoutRepository });
    expect(missing).toMatchObject({ source: 'none', problems: [{ code: 'RESULT_MISSING' }] });
  });

  describe('a file from before the run', () => {
    const startedAt = new Date('2020-03-01T10:00:00.000Z');

    async function readDated(dates: Readonly<Record<string, string>>, started: Date | number | string = startedAt) {
      const dir = await makeFolder({ 'work_result.json': json, 'work_result.txt': text });
      for (const [name, date] of Object.entries(dates)) await utimes(join(dir, name), new Date(date), new Date(date));
      return readWorkResult({ dir, order: orderWithoutRepository, startedAt: started });
    }

    test.each([startedAt, startedAt.getTime(), startedAt.toISOString()])(
      'counts as absent (started at %s)',
      async (start) => {
        const reading = await readDated({ 'work_result.json': '2020-03-01T09:59:59Z' }, start);
        expect(reading).toMatchObject({ source: 'text', result: { status: 'fail' } });
        expect(listCodes(reading.notices)).toEqual(['RESULT_OUTDATED']);
      },
    );

    test('leaves no result if all files are old', async () => {
      const oldDate = '2020-02-28T10:00:00Z';
      const reading = await readDated({ 'work_result.json': oldDate, 'work_result.txt': oldDate });
      expect(reading).toMatchObject({ source: 'none', problems: [{ code: 'RESULT_MISSING' }] });
      expect(listCodes(reading.notices)).toEqual(['RESULT_OUTDATED', 'RESULT_OUTDATED']);
    });

    test('is distinguished from a file written by the run', async () => {
      const reading = await readDated({ 'work_result.json': '2020-03-01T10:00:00Z' });
      expect(reading).toMatchObject({ source: 'json', result: { status: 'ok' } });
    });
  });

  describe('a file that is not a finished regular file', () => {
    test('a file still being written is unreadable', async () => {
      const dir = await makeFolder({ 'work_result.json': json });
      const writing = setInterval(() => void appendFile(join(dir, 'work_result.json'), ' '), 5);
      onTestFinished(() => clearInterval(writing));
      const reading = await readWorkResult({ dir, order: orderWithoutRepository });
      clearInterval(writing);
      expect(reading).toMatchObject({ source: 'json', problems: [{ code: 'RESULT_CHANGING' }] });
      expect(reading.result).toBeUndefined();
    });

    test('a link is not followed', async () => {
      const dir = await makeFolder({ 'elsewhere.json': json, 'work_result.txt': text });
      await symlink(join(dir, 'elsewhere.json'), join(dir, 'work_result.json'));
      const reading = await readWorkResult({ dir, order: orderWithoutRepository });
      expect(reading).toMatchObject({ source: 'json', problems: [{ code: 'RESULT_UNSAFE_FILE' }] });
      expect(reading.result).toBeUndefined();
    });

    test('a pipe does not block', async () => {
      const dir = await makeFolder({});
      execFileSync('mkfifo', [join(dir, 'work_result.json')]);
      expect(await readWorkResult({ dir, order: orderWithoutRepository })).toMatchObject({
        source: 'json',
        problems: [{ code: 'RESULT_UNSAFE_FILE' }],
      });
    });

    test('a folder is rejected', async () => {
      const dir = await makeFolder({});
      await mkdir(join(dir, 'work_result.txt'));
      expect(await readWorkResult({ dir, order: orderWithoutRepository })).toMatchObject({
        source: 'text',
        problems: [{ code: 'RESULT_UNSAFE_FILE' }],
      });
    });

    test('a file that cannot be opened is unreadable', async () => {
      const dir = await makeFolder({ 'not-a-folder': '' });
      expect(await readWorkResult({ dir: join(dir, 'not-a-folder'), order: orderWithoutRepository })).toMatchObject({
        source: 'json',
        problems: [{ code: 'RESULT_UNREADABLE' }],
      });
    });

    test('binary data is unreadable', async () => {
      const dir = await makeFolder({});
      await writeFile(join(dir, 'work_result.json'), Buffer.from([0x7b, 0xff, 0x7d]));
      expect(await readWorkResult({ dir, order: orderWithoutRepository })).toMatchObject({
        problems: [{ code: 'RESULT_NOT_UTF8' }],
      });
    });
  });

  describe('a claimed commit', () => {
    const git = (dir: string, ...args: string[]) =>
      execFileSync('git', ['-C', dir, '-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
        encoding: 'utf8',
      });

    async function claim(commit: string, status = 'ok') {
      const repository = await makeFolder({ 'a.txt': 'a' });
      git(repository, 'init', '--quiet');
      git(repository, 'add', '.');
      git(repository, 'commit', '--quiet', '-m', 'first');
      const real = git(repository, 'rev-parse', 'HEAD').trim();
      const claimed = { ...result, status, changes: { commit: commit === 'the real one' ? real : commit } };
      const dir = await makeFolder({ 'work_result.json': JSON.stringify(claimed) });
      return readWorkResult({ dir, order: { repo_dir: repository } });
    }

    test('is looked up in the repository', async () => {
      expect(await claim('the real one')).toMatchObject({ problems: [], result: { status: 'ok' } });
      expect(await claim('0123456789abcdef0123456789abcdef01234567')).toMatchObject({
        problems: [{ code: 'COMMIT_NOT_FOUND', path: 'changes.commit' }],
      });
    });

    test('is not checked if the agent is blocked', async () => {
      const reading = await claim('0123456789abcdef0123456789abcdef01234567', 'blocked');
      expect(reading.problems).toEqual([]);
      expect(listCodes(reading.notices)).toEqual(['COMMIT_NOT_FOUND']);
    });

    test('is accepted unchecked without a repository, with a notice', async () => {
      const reading = await readFolder({ 'work_result.json': json });
      expect(reading.problems).toEqual([]);
      expect(listCodes(reading.notices)).toEqual(['NOT_A_REPOSITORY']);
    });
  });
});
