import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { runGit } from './run-git.js';
import { makeGitDir } from './repository.js';

it.each(['sha1', 'sha256'])('creates a bare repository in the object format %s that git can use', async (format) => {
  const gitDir = await makeFolder({});
  makeGitDir(gitDir, { format });
  const ask = ['rev-parse', '--is-bare-repository', '--show-object-format', '--is-shallow-repository'];
  expect(await runGit(gitDir, ask, { gitDir })).toMatchObject({ code: 0, stdout: `true\n${format}\nfalse\n` });
  const written = await runGit(gitDir, ['hash-object', '-w', '--stdin'], { gitDir, input: 'text' });
  const read = await runGit(gitDir, ['cat-file', 'blob', written.stdout.trim()], { gitDir });
  expect(read).toMatchObject({ code: 0, stdout: 'text' });
});

it('stores where the history of a shallow clone ends', async () => {
  const gitDir = await makeFolder({});
  makeGitDir(gitDir, { format: 'sha1', shallow: `${'a'.repeat(40)}\n` });
  const ask = ['rev-parse', '--is-shallow-repository'];
  expect(await runGit(gitDir, ask, { gitDir })).toMatchObject({ code: 0, stdout: 'true\n' });
});

it('rejects an unknown object format', async () => {
  const folder = await makeFolder({});
  expect(() => makeGitDir(folder, { format: 'md5' })).toThrow('unknown object format md5');
});
