import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isPresent } from '../src/base/files/index.js';
import { setup } from './install-bubblewrap.js';
import { makeFolder } from './temporary-folder.js';

/** Simulates a host whose only executables are a shell and an `apt-get` that records its calls. */
async function createHost(script: string, { uid = 0, hasBwrap = false } = {}) {
  const folder = await makeFolder({ calls: '', 'bin/x': '' });
  const [calls, bin] = [join(folder, 'calls'), join(folder, 'bin')];
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(bin, name), 0o755);
  };
  await write('apt-get', `echo "$@" >> ${calls}\n${script.replaceAll('BIN', bin)}`);
  if (hasBwrap) await write('bwrap', '');
  vi.stubEnv('PATH', bin);
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(uid);
  const printed: string[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    getuid.mockRestore();
    stderr.mockRestore();
  });
  await setup();
  return {
    calls: (await readFile(calls, 'utf8')).split('\n').filter(Boolean),
    printed: printed.join(''),
    hasBwrap: await isPresent(join(bin, 'bwrap')),
  };
}

const INSTALL = '[ "$2" = update ] || echo "#!/bin/sh" > BIN/bwrap';

describe.runIf(process.platform === 'linux')('the installation of bubblewrap', () => {
  it('updates the list of packages, then installs it without further packages', async () => {
    expect(await createHost(INSTALL)).toEqual({
      calls: ['--quiet update', '--quiet install --yes --no-install-recommends bubblewrap'],
      printed: 'installing bubblewrap with apt-get\n',
      hasBwrap: true,
    });
  });

  it.each([
    ['it is installed', { hasBwrap: true }],
    ['this user may not install packages', { uid: 1000 }],
  ])('does nothing if %s', async (_, host) => {
    expect(await createHost(INSTALL, host)).toMatchObject({ calls: [], printed: '' });
  });

  it('reports why it fails, and does not prevent the tests from running', async () => {
    const { calls, printed } = await createHost('echo "E: no network" >&2; exit 100');
    expect(calls).toEqual(['--quiet update']);
    expect(printed).toContain('E: no network');
  });
});
