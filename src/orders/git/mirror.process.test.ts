import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { readRepos } from '../repos/repos.js';
import { catchCode } from '../../store/contract/fixtures/open-site.js';
import { git, installSsh, makeRepository, serveRepositories } from './fixtures/git-server.js';
import { fetchMirror, pushCommit } from './mirror.js';

const TOKEN = 'correct-horse-battery';
const BASIC = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString('base64')}`;
const ONCE = { pauses: [] };

function read(settings: unknown, env: Record<string, string> = {}) {
  const [repo] = readRepos([settings], env);
  if (repo === undefined) throw new Error('there is no repository');
  return repo;
}

describe('a mirror', () => {
  it('has the branches and tags of its repository, and points to the commit where work starts', async () => {
    const { url, clone, bare, first, commit } = await makeRepository();
    git(clone, 'tag', 'v1');
    git(clone, 'push', '--quiet', bare, 'v1', 'HEAD:refs/heads/topic');
    const data = await makeFolder({});
    const folder = await fetchMirror(data, read(url));
    expect(git(folder, 'rev-parse', 'HEAD', 'refs/tags/v1', 'refs/remotes/origin/topic')).toBe(
      `${first}\n${first}\n${first}`,
    );

    await writeFile(join(clone, 'more.txt'), 'more');
    const second = commit('More');
    git(clone, 'push', '--quiet', '--delete', bare, 'topic');
    expect(await fetchMirror(data, read(url))).toBe(folder);
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(second);
    expect(git(folder, 'for-each-ref', '--format=%(refname)')).toBe('refs/remotes/origin/main\nrefs/tags/v1');
    expect(await readdir(join(data, 'mirrors'))).toHaveLength(2);
  });

  it('starts from the configured branch', async () => {
    const { url, clone, bare, first } = await makeRepository();
    git(clone, 'commit', '--quiet', '--allow-empty', '-m', 'Next');
    git(clone, 'push', '--quiet', bare, 'HEAD:next');
    const data = await makeFolder({});
    const folder = await fetchMirror(data, read({ url, branch: 'next' }));
    expect(git(folder, 'rev-parse', 'HEAD^')).toBe(first);
    expect(await catchCode(fetchMirror(data, read({ url, branch: 'gone' }), ONCE))).toBe('REPO_UNAVAILABLE');
  });

  it('is fetched by one process at a time', async () => {
    const { url, first } = await makeRepository();
    const data = await makeFolder({});
    const folders = await Promise.all([1, 2, 3].map(async () => fetchMirror(data, read(url))));
    expect(new Set(folders).size).toBe(1);
    expect(git(folders[0] ?? '', 'rev-parse', 'HEAD')).toBe(first);
  });

  it('is fetched over HTTP with a token that is exposed to nothing else', async () => {
    const { root, first } = await makeRepository();
    const server = await serveRepositories(root, { authorization: BASIC });
    const data = await makeFolder({});
    const url = `${server.url}/shop.git`;
    const folder = await fetchMirror(data, read({ url, token_env: 'SHOP_TOKEN' }, { SHOP_TOKEN: TOKEN }));
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(first);
    expect(await readFile(join(folder, 'config'), 'utf8')).not.toContain('url');
    // Only new objects are fetched again.
    const before = server.requests.length;
    await fetchMirror(data, read({ url, token_env: 'SHOP_TOKEN' }, { SHOP_TOKEN: TOKEN }));
    expect(server.requests.slice(before).every((line) => line.endsWith(BASIC))).toBe(true);

    const refused = fetchMirror(data, read({ url, token_env: 'SHOP_TOKEN' }, { SHOP_TOKEN: 'wrong-secret' }), ONCE);
    expect(await catchCode(refused)).toBe('REPO_UNAVAILABLE');
    await expect(refused).rejects.not.toThrow('wrong-secret');
    await expect(refused).rejects.toThrow(url);
  });

  it("is fetched and pushed over ssh, without prompts and without the server's secrets", async () => {
    vi.stubEnv('SLUICE_TOKENS', 'correct-horse-battery:decide');
    const { bare, clone, commit } = await makeRepository();
    const ssh = await installSsh();
    const data = await makeFolder({});
    const repo = read(ssh.createUrl(bare));
    const folder = await fetchMirror(data, repo);
    await writeFile(join(clone, 'more.txt'), 'more');
    const second = commit('More');
    await fetchMirror(data, repo);
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(second);
    await pushCommit(data, repo, { commit: second, branch: 'sluice/one' });
    expect(git(bare, 'rev-parse', 'sluice/one')).toBe(second);
    const calls = await ssh.readCalls();
    expect(calls).toMatch(/^-oBatchMode=yes\n-oStrictHostKeyChecking=yes\n/);
    expect(calls).toContain('\n-p\n2222\ngit@git.example.org\n');
    expect(calls).not.toContain(TOKEN);
    const missing = fetchMirror(data, read(ssh.createUrl('/nowhere/at/all.git')), ONCE);
    expect(await catchCode(missing)).toBe('REPO_UNAVAILABLE');
  });

  it.each([
    ['its whole hash', 40],
    ['the start of its hash', 12],
  ])('pushes the commit, and not a branch that an agent named after %s', async (_, length) => {
    const { url, bare, clone, first, commit } = await makeRepository();
    const data = await makeFolder({});
    await writeFile(join(clone, 'more.txt'), 'more');
    const second = commit('More');
    const folder = await fetchMirror(data, read(url));
    git(folder, 'update-ref', `refs/heads/${second.slice(0, length)}`, first);
    git(folder, 'update-ref', `refs/tags/${second.slice(0, length)}`, first);
    await pushCommit(data, read(url), { commit: second, branch: 'sluice/one' });
    expect(git(bare, 'rev-parse', 'refs/heads/sluice/one')).toBe(second);
  });

  it('pushes only to a branch that does not exist, or has the commit already', async () => {
    const { url, bare, clone, first, commit } = await makeRepository();
    const data = await makeFolder({});
    await writeFile(join(clone, 'more.txt'), 'more');
    const second = commit('More');
    await fetchMirror(data, read(url));
    git(bare, 'update-ref', 'refs/heads/sluice/one', first);
    const pushed = pushCommit(data, read(url), { commit: second, branch: 'sluice/one' }, ONCE);
    expect(await catchCode(pushed)).toBe('REPO_PUSH_FAILED');
    expect(git(bare, 'rev-parse', 'refs/heads/sluice/one')).toBe(first);
    for (let times = 0; times < 2; times += 1)
      await pushCommit(data, read(url), { commit: second, branch: 'sluice/two' }, ONCE);
    expect(git(bare, 'rev-parse', 'refs/heads/sluice/two')).toBe(second);
  });

  it('has the object format of its repository', async () => {
    const { url, bare, clone, first, commit } = await makeRepository({ 'README.md': 'x' }, 'sha256');
    expect(first).toHaveLength(64);
    const data = await makeFolder({});
    const folder = await fetchMirror(data, read(url));
    expect(git(folder, 'rev-parse', '--show-object-format', 'HEAD')).toBe(`sha256\n${first}`);
    await writeFile(join(clone, 'more.txt'), 'more');
    const second = commit('More');
    await fetchMirror(data, read(url));
    await pushCommit(data, read(url), { commit: second, branch: 'sluice/one' });
    expect(git(bare, 'rev-parse', 'sluice/one')).toBe(second);
  });

  it('is left unchanged if its repository has changed its object format', async () => {
    const [one, other] = [await makeRepository(), await makeRepository({ 'README.md': 'x' }, 'sha256')];
    const data = await makeFolder({});
    const folder = await fetchMirror(data, read(one.url));
    await rm(one.bare, { recursive: true });
    await rename(other.bare, one.bare);
    await expect(fetchMirror(data, read(one.url), ONCE)).rejects.toThrow(`its mirror "${folder}" uses sha1`);
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(one.first);
  });

  it('fails with a code, after a few attempts, if its URL cannot be fetched', async () => {
    const { root } = await makeRepository();
    const server = await serveRepositories(root);
    await server.stop();
    const data = await makeFolder({});
    const dead = fetchMirror(data, read(`${server.url}/shop.git`), { pauses: [1, 1] });
    expect(await catchCode(dead)).toBe('REPO_UNAVAILABLE');
    expect(await catchCode(fetchMirror(data, read('file:///nowhere/at/all.git'), ONCE))).toBe('REPO_UNAVAILABLE');
    const empty = await makeFolder({});
    git(empty, 'init', '--quiet', '--bare', '.');
    await expect(fetchMirror(data, read(`file://${empty}`), ONCE)).rejects.toThrow('it has no commits');
  });

  it('that cannot be fetched is an error that names the cause and what to do about it', async () => {
    const { url } = await makeRepository();
    const data = await makeFolder({});
    const missing = fetchMirror(data, read('file:///nowhere/at/all.git'), ONCE);
    await expect(missing).rejects.toThrow(/\. Check the URL, the network and the token\.$/);
    const gone = fetchMirror(data, read({ url, branch: 'gone' }), ONCE);
    await expect(gone).rejects.toThrow(
      `Cannot fetch "${url}": it has no branch "gone". Correct "branch" in the setting "repos".`,
    );
    const folder = await fetchMirror(data, read(url));
    await writeFile(join(folder, 'HEAD.lock'), '');
    await expect(fetchMirror(data, read(url), ONCE)).rejects.toThrow(
      /HEAD\.lock.*\. Check the permissions and the free space of the data folder\.$/s,
    );
  });

  it.each([
    ['fatal: write error: No space left on device', 'Check the permissions and the free space of the data folder.'],
    ["fatal: Unable to create '/x/packed-refs.lock': Permission denied", 'Check the permissions and the free space'],
    ['git@git.example.org: Permission denied (publickey).', 'Check the URL, the network and the token.'],
    ['remote: fatal: write error: No space left on device', 'Check the URL, the network and the token.'],
    ['', 'git exited with code 128. Check the URL, the network and the token.'],
  ])('reports the git failure %j with matching advice', async (stderr, advice) => {
    const { url } = await makeRepository();
    const data = await makeFolder({});
    const repo = read(url);
    await fetchMirror(data, repo);
    const programs = await makeFolder({ 'stderr.txt': stderr });
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const failingGit = `case " $* " in *" fetch "*) cat ${join(programs, 'stderr.txt')} >&2; exit 128;; esac`;
    await writeFile(join(programs, 'git'), `#!/bin/sh\n${failingGit}\nexec ${real} "$@"\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${programs}:${process.env['PATH'] ?? ''}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(fetchMirror(data, repo, ONCE)).rejects.toThrow(advice);
  });

  it('that would become too large is rejected, and leaves nothing behind', async () => {
    const largeContent = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('');
    const { url } = await makeRepository({ 'large.txt': largeContent });
    const data = await makeFolder({});
    expect(await catchCode(fetchMirror(data, read({ url, max_bytes: 1000 })))).toBe('REPO_TOO_LARGE');
    expect((await fetchMirror(data, read(url))).endsWith('.git')).toBe(true);
  });

  it('follows nothing that an agent has written into it', async () => {
    const [one, other] = [await makeRepository(), await makeRepository({ 'evil.txt': 'evil' })];
    const data = await makeFolder({});
    const repo = read(one.url);
    const folder = await fetchMirror(data, repo);
    const trace = join(data, 'executed');
    const maliciousScript = join(data, 'evil.sh');
    await writeFile(maliciousScript, `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o755 });
    await mkdir(join(folder, 'hooks'), { recursive: true });
    await writeFile(join(folder, 'hooks', 'reference-transaction'), `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o755 });
    git(folder, 'config', `url.${other.url}.insteadOf`, one.url);
    git(folder, 'config', 'remote.origin.url', other.url);
    git(folder, 'config', 'core.fsmonitor', maliciousScript);
    git(folder, 'config', 'uploadpack.packObjectsHook', maliciousScript);
    git(folder, 'config', 'core.sshCommand', maliciousScript);
    git(folder, 'config', 'credential.helper', maliciousScript);
    await writeFile(join(one.clone, 'more.txt'), 'more');
    const second = one.commit('More');
    await fetchMirror(data, repo);
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(second);
    await pushCommit(data, repo, { commit: second, branch: 'sluice/x' });
    expect(git(one.bare, 'rev-parse', 'sluice/x')).toBe(second);
    expect(git(other.bare, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(await readdir(data)).not.toContain('executed');
  });

  it('rejects objects that could attack a client that checks them out', async () => {
    const { url, bare, clone } = await makeRepository();
    // A folder named .git; git's own commands refuse to create such a tree, so it is written as an object.
    const innerTree = Buffer.from(git(clone, 'rev-parse', 'HEAD^{tree}'), 'hex');
    const input = Buffer.concat([Buffer.from('40000 .git\0'), innerTree]);
    const flags = ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'];
    const tree = execFileSync('git', ['-C', clone, ...flags], { input, encoding: 'utf8' }).trim();
    const maliciousCommit = git(clone, 'commit-tree', '-m', 'Evil', tree);
    git(clone, 'push', '--quiet', bare, `${maliciousCommit}:refs/heads/main`, '--force');
    const refused = fetchMirror(await makeFolder({}), read(url), ONCE);
    expect(await catchCode(refused)).toBe('REPO_UNAVAILABLE');
    await expect(refused).rejects.toThrow(/\.git/);
  });
});

describe('a push', () => {
  it('adds a branch, is harmless when repeated, and replaces nothing', async () => {
    const { url, bare, clone, first, commit } = await makeRepository();
    const data = await makeFolder({});
    const repo = read(url);
    await writeFile(join(clone, 'more.txt'), 'more');
    const second = commit('More');
    await fetchMirror(data, repo);
    await pushCommit(data, repo, { commit: second, branch: 'sluice/one' });
    await pushCommit(data, repo, { commit: second, branch: 'sluice/one' });
    expect(git(bare, 'rev-parse', 'sluice/one')).toBe(second);
    const olderPush = pushCommit(data, repo, { commit: first, branch: 'sluice/one' }, ONCE);
    expect(await catchCode(olderPush)).toBe('REPO_PUSH_FAILED');
    expect(git(bare, 'rev-parse', 'sluice/one')).toBe(second);
  });
});

describe('readRepos', () => {
  it.each([
    ['https://ada:secret@git.example.org/shop.git', 'omit user and password'],
    ['ext::sh -c touch% /tmp/x', 'use https, http, ssh or file'],
    ['git://git.example.org/shop.git', 'use https, http, ssh or file'],
    ['git@git.example.org:shop.git', 'use a URL such as'],
    ['https://git.example.org/shop.git?x=1', 'omit the query and the fragment'],
    ['ssh://-oProxyCommand=x/shop.git', 'invalid'],
    [{ url: 'https://git.example.org/shop.git', branch: '--upload-pack=x' }, 'branch'],
    [{ url: 'https://git.example.org/shop.git', pull: true }, 'pull'],
  ])('refuses %j', (settings, why) => {
    expect(() => readRepos([settings], {})).toThrow(why);
    expect(() => readRepos([settings], {})).not.toThrow('secret');
  });
});
