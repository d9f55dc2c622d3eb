import { text } from 'node:stream/consumers';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { isPresent } from './is-present.js';
import { removeFolder } from './remove-folder.js';

const SCRIPT = new URL('./fixtures/remove-unprivileged.js', import.meta.url);

it('removes a folder with its files, and ignores a missing one', async () => {
  const folder = join(await makeFolder({}), 'folder');
  await mkdir(join(folder, 'inner'), { recursive: true });
  await writeFile(join(folder, 'inner', 'file.txt'), 'x');
  await removeFolder(folder);
  expect(await isPresent(folder)).toBe(false);
  await removeFolder(folder);
});

it.skipIf(process.platform === 'win32').each(['plain', 'read-only'])(
  'removes a %s folder without following links',
  async (kind) => {
    const program = (await bundleProgram(SCRIPT)).start([kind]);
    expect(JSON.parse(await text(program.stdout))).toEqual({
      isRemoved: true,
      isLinkFollowed: false,
      isRootRemoved: true,
    });
  },
);
