import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listPids } from '../process/process-group.js';
import { bundleProgram } from '../../../test/bundle-program.js';
import { startRun, type Run } from '../start-run.js';
import { canSandbox, makeSandboxSite } from './fixtures/make-sandbox-site.js';
import { makeSite } from './fixtures/make-site.js';

/** The runs that start while their folder is being replaced. */
const ROUNDS = process.env['CAMPAIGN'] === undefined ? 10 : 100;

/** Whether a process with this word in its command is running on the host. */
function isRunning(word: string): boolean {
  return listPids().some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
    } catch {
      return false;
    }
  });
}

/** Waits until a run has printed something. */
async function waitForOutput({ events }: Pick<Run, 'events'>): Promise<void> {
  for await (const { protocol, event } of events)
    if (protocol === 'fcmp' && event.type === 'assistant.message.delta') break;
}

describe.runIf(canSandbox)('files: a sandboxed process', () => {
  it('writes to its working folder, its run folder and a private home, and nowhere else', async () => {
    const { shell, root, home, workdir } = await makeSandboxSite();
    const text = await shell(`
      echo one > made.txt; echo two > "$SLUICE_RUN_DIR/result.json"; echo three > ~/private.txt && cat ~/private.txt
      for file in "$ROOT/outside.txt" "$ROOT/new.txt" /etc/x /usr/x /x /dev/x /opt/x /proc/x /var/x /run/x /sys/x; do
        (echo bad > "$file") 2>/dev/null && echo "wrote $file"
      done; true`);
    // The folders around the working folder are in a private /tmp.
    expect(text.replaceAll(/^wrote \/tmp\/.*$/gm, '').trim()).toBe('three');
    expect(readFileSync(join(workdir, 'made.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(root, 'outside.txt'), 'utf8')).toBe('the outside');
    expect(existsSync(join(root, 'new.txt'))).toBe(false);
    expect(existsSync(join(home, 'private.txt'))).toBe(false);
  });

  it('finds neither the user’s keys, nor other users, nor sockets, nor files next to the working folder', async () => {
    const { shell } = await makeSandboxSite();
    const text = await shell(`
      cat ~/.ssh/id; ls -A ~ | grep -v '^\\.' ; cat "$ROOT/outside.txt"; ls /home /mnt /media /srv ~root/.ssh
      ls -A /run; find / -type s 2>/dev/null | head; cat /etc/shadow`);
    expect(text).not.toMatch(/private key|the outside|root:/);
    expect(
      text
        .split('\n')
        .filter((line) => line !== '' && !/No such file|cannot (?:access|open)|Permission denied/.test(line)),
    ).toEqual([]);
  });

  it('sees its own run folder without .audit, and nothing else of the data folder', async () => {
    const sandboxSite = await makeSandboxSite();
    await sandboxSite.run(['sh', '-c', 'echo first > "$SLUICE_RUN_DIR/result.json"']);
    const text = await sandboxSite.shell(`
      ls -A "$SLUICE_RUN_DIR" "$SLUICE_RUN_DIR/.audit"; ls "$SLUICE_RUN_DIR/.." | wc -l; ls -A "$ROOT/data"
      echo forged > "$SLUICE_RUN_DIR/.audit/stdout.1.log"; mv "$SLUICE_RUN_DIR/.audit" "$SLUICE_RUN_DIR/x"`);
    expect(text).toContain('.audit:\n1\nruns\n');
    expect(text).toContain('Read-only file system');
    expect(text).toContain('Device or resource busy');
  });

  it('does not see a data folder inside its working folder', async () => {
    const sandboxSite = await makeSandboxSite();
    const data = join(sandboxSite.workdir, '.sluice');
    await mkdir(data);
    await writeFile(join(data, 'token'), 'the token');
    const inside = await makeSandboxSite({ data });
    const text = await inside.shell(`ls -A .sluice; cat .sluice/token; echo x > .sluice/note`, {
      workdir: sandboxSite.workdir,
    });
    expect(text).not.toContain('the token');
    expect(text).toContain('Read-only file system');
  });

  it('does not follow links out of the working folder', async () => {
    const { shell, root, workdir } = await makeSandboxSite();
    await symlink(join(root, 'outside.txt'), join(workdir, 'link'));
    await symlink(root, join(workdir, 'folder'));
    expect(await shell('cat link folder/outside.txt; echo bad > link; ls folder')).not.toMatch(/^the outside/m);
    expect(readFileSync(join(root, 'outside.txt'), 'utf8')).toBe('the outside');
  });

  it('does not see the target of a .git file, a .git link or node_modules that an agent wrote', async () => {
    const { shell, home, workdir, root } = await makeSandboxSite();
    const keys = join(home, '.ssh');
    await writeFile(join(workdir, '.git'), `gitdir: ${keys}\n`);
    await symlink(keys, join(workdir, 'node_modules'));
    expect(await shell(`cat ${keys}/id node_modules/id`)).not.toContain('private key');
    const { shell: again, workdir: other } = await makeSandboxSite();
    await symlink(root, join(other, '.git'));
    expect(await again(`cat ${root}/outside.txt .git/outside.txt`)).not.toMatch(/^the outside/m);
  });

  it('cannot fill memory with its home, /tmp and /dev/shm', async () => {
    const { shell } = await makeSandboxSite();
    const text = await shell(`df --output=size,target -B1M ~ /tmp /dev/shm | tail -n +2
      head -c 300000000 /dev/zero > /dev/shm/full; rm -f /dev/shm/full`);
    const sizes = [...text.matchAll(/^ *(\d+) \//gm)].map(([, size]) => Number(size));
    expect(sizes).toEqual([1024, 1024, 256]);
    expect(text).toContain('No space left on device');
  });
});

describe.runIf(canSandbox)('git: a sandboxed process', () => {
  it('commits in a plain repository, but changes neither its configuration nor its hooks', async () => {
    const { shell, git, workdir } = await makeSandboxSite();
    git('init', '--quiet');
    const before = await readFile(join(workdir, '.git', 'config'), 'utf8');
    const text = await shell(`
      echo x > a.txt; git add a.txt; git -c user.name=x -c user.email=x@y.z commit --quiet --message=Work && echo committed
      git config core.fsmonitor ./evil; echo '#!/bin/sh' > .git/hooks/post-checkout; echo x >> .git/config
      mkdir evil; cp .git/config evil/; echo ../evil > .git/commondir; rm -f .git/commondir; echo ../evil > .git/commondir
      mv .git/hooks .git/old; mv .git/config .git/c; mv .git .git2; rm -rf .git; mkdir -p .git/hooks; true`);
    expect(text).toContain('committed');
    expect(await readFile(join(workdir, '.git', 'config'), 'utf8')).toBe(before);
    expect(existsSync(join(workdir, '.git', 'hooks', 'post-checkout'))).toBe(false);
    expect(existsSync(join(workdir, '.git2'))).toBe(false);
    // Git would read configuration and hooks from the folder that this file names.
    expect(existsSync(join(workdir, '.git', 'commondir'))).toBe(false);
  });

  it('creates no configuration that the repository lacks', async () => {
    const { shell, git, workdir } = await makeSandboxSite();
    git('init', '--quiet');
    git('config', 'extensions.worktreeConfig', 'true');
    const text = await shell(`
      git config --file .git/config.worktree core.fsmonitor ./evil; echo x > .git/config.worktree
      echo x > a.txt; git add a.txt; git -c user.name=x -c user.email=x@y.z commit --quiet --message=Work && echo committed`);
    expect(text).toContain('committed');
    expect(existsSync(join(workdir, '.git', 'config.worktree'))).toBe(false);
  });

  it.each(['hooks', 'config'])(
    'reads a repository where .git/%s is a link, and changes nothing in .git',
    async (name) => {
      const { shell, git, root, workdir } = await makeSandboxSite();
      git('init', '--quiet');
      await rename(join(workdir, '.git', name), join(root, name));
      await symlink(join(root, name), join(workdir, '.git', name));
      await shell(`rm -f .git/${name}; mkdir .git/${name}; echo x > .git/new`);
      expect(lstatSync(join(workdir, '.git', name)).isSymbolicLink()).toBe(true);
      expect(existsSync(join(workdir, '.git', 'new'))).toBe(false);
    },
  );

  it('does not change the .git file of a submodule', async () => {
    const { shell, workdir } = await makeSandboxSite();
    await writeFile(join(workdir, '.git'), 'gitdir: ../.git/modules/part\n');
    await shell('mkdir evil; echo "gitdir: evil" > .git; rm -f .git; mv evil .git');
    expect(readFileSync(join(workdir, '.git'), 'utf8')).toBe('gitdir: ../.git/modules/part\n');
  });

  it('changes neither the configuration nor the hooks of a repository listed in `sandbox.write`', async () => {
    const { git, workdir } = await makeSandboxSite();
    git('init', '--quiet');
    const before = await readFile(join(workdir, '.git', 'config'), 'utf8');
    const { shell } = await makeSandboxSite({ sandbox: { write: [workdir] } });
    await shell(
      `echo x > ${workdir}/new.txt; echo x >> ${workdir}/.git/config; echo x > ${workdir}/.git/hooks/post-checkout`,
    );
    expect(existsSync(join(workdir, 'new.txt'))).toBe(true);
    expect(await readFile(join(workdir, '.git', 'config'), 'utf8')).toBe(before);
    expect(existsSync(join(workdir, '.git', 'hooks', 'post-checkout'))).toBe(false);
    expect(existsSync(join(workdir, '.git', 'commondir'))).toBe(false);
  });

  it('commits in repositories in subfolders, but changes neither their configuration nor their hooks', async () => {
    const { shell, git, workdir } = await makeSandboxSite();
    const repositories = ['one', 'deep/er/two'];
    for (const folder of repositories) git('init', '--quiet', folder);
    await mkdir(join(workdir, 'part'));
    await writeFile(join(workdir, 'part', '.git'), 'gitdir: ../.git/modules/part\n');
    const text = await shell(`
      for folder in ${repositories.join(' ')}; do
        (cd $folder; echo x > a.txt; git add a.txt; git -c user.name=x -c user.email=x@y.z commit --quiet --message=Work && echo committed)
        echo x >> $folder/.git/config; echo x > $folder/.git/hooks/post-checkout; echo ../evil > $folder/.git/commondir
        mv $folder/.git $folder/old; mv $folder moved; mkdir -p $folder/.git; echo x > $folder/.git/config
      done
      mv deep moved; mkdir -p deep/er/two/.git; echo x > deep/er/two/.git/config
      echo "gitdir: evil" > part/.git; rm -f part/.git; true`);
    expect(text.match(/^committed$/gm)).toHaveLength(2);
    for (const folder of repositories) {
      expect(readFileSync(join(workdir, folder, '.git', 'config'), 'utf8')).toContain('[core]');
      expect(readFileSync(join(workdir, folder, '.git', 'config'), 'utf8')).not.toContain('x\n');
      expect(existsSync(join(workdir, folder, '.git', 'hooks', 'post-checkout'))).toBe(false);
      expect(existsSync(join(workdir, folder, '.git', 'commondir'))).toBe(false);
    }
    expect(readFileSync(join(workdir, 'part', '.git'), 'utf8')).toBe('gitdir: ../.git/modules/part\n');
  });

  it.each(['same', 'other'])(
    'keeps a nested repository guarded when a run in that repository ends, with the %s data folder',
    async (data) => {
      const { run, git, workdir, ports, root } = await makeSandboxSite();
      git('init', '--quiet', 'part');
      const folder = join(workdir, 'part');
      const other = data === 'same' ? ports : { ...ports, data: join(root, 'other-data') };
      const inner = startRun(
        {
          engine: 'command',
          command: ['sh', '-c', 'echo ready; while [ ! -e end ]; do sleep 0.05; done'],
          workdir: folder,
          sandbox: 'required',
        },
        other,
      );
      await waitForOutput(inner);
      const outer = startRun(
        {
          engine: 'command',
          command: [
            'sh',
            '-c',
            'echo ready; while [ ! -e go ]; do sleep 0.05; done; echo ../evil > part/.git/commondir; true',
          ],
          workdir,
          sandbox: 'required',
        },
        ports,
      );
      await waitForOutput(outer);
      await writeFile(join(folder, 'end'), '');
      expect(await inner.result).toMatchObject({ status: 'success' });
      expect(readFileSync(join(folder, '.git', 'commondir'), 'utf8')).toBe('.\n');
      await writeFile(join(workdir, 'go'), '');
      expect(await outer.result).toMatchObject({ status: 'success', sandbox: { used: true } });
      expect(existsSync(join(folder, '.git', 'commondir'))).toBe(false);
      expect((await run(['git', 'status', '--short'], { workdir: folder })).status).toBe('success');
    },
  );

  it('starts nothing if its folder, or a file that it names, is replaced by a link while it starts', async () => {
    const { root, workdir, ports } = await makeSandboxSite();
    await mkdir(join(root, 'secrets'));
    await writeFile(join(root, 'secrets', 'key'), 'the key');
    const [folder, file] = [join(workdir, 'part'), join(workdir, 'file')];
    await mkdir(folder);
    await writeFile(join(folder, 'key'), 'part');
    await writeFile(file, 'file');
    await symlink(join(root, 'secrets'), `${folder}.link`);
    await symlink(join(root, 'secrets', 'key'), `${file}.link`);
    const swap = async (path: string): Promise<void> => {
      await rename(path, `${path}.kept`);
      await rename(`${path}.link`, path);
      await setImmediate();
      await rename(path, `${path}.link`);
      await rename(`${path}.kept`, path);
      await setImmediate();
    };
    const over = new AbortController();
    const swapping = (async () => {
      while (!over.signal.aborted) await Promise.all([folder, file].map(swap));
    })();
    const sandbox = { ...ports.sandbox, roots: [workdir] };
    const command = ['sh', '-c', 'cat key "$0"; echo planted > planted', file] as const;
    const spec = { engine: 'command', command, workdir: folder, sandbox: 'required' } as const;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { text = '' } = await startRun(spec, { ...ports, sandbox }).result;
      expect(text).not.toContain('the key');
    }
    over.abort();
    await swapping;
    expect(existsSync(join(root, 'secrets', 'planted'))).toBe(false);
  });

  it('with more nested repositories than can be guarded is refused if the sandbox is required, and warned about otherwise', async () => {
    const { run, workdir } = await makeSandboxSite();
    for (let number = 0; number < 65; number += 1)
      await mkdir(join(workdir, String(number), '.git'), { recursive: true });
    expect((await run(['true'])).error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('repositories'),
    });
    expect((await run(['true'], { sandbox: 'auto' })).warnings).toMatchObject([{ code: 'SANDBOX_INCOMPLETE' }]);
    expect(existsSync(join(workdir, '0', '.git', 'commondir'))).toBe(false);
  });

  it('leaves no placeholder when Sluice was killed, once the next run starts', async () => {
    const site = await makeSite([{ print: 'ready\n' }, { sleep: 60_000 }]);
    execFileSync('git', ['init', '--quiet', site.workdir]);
    const placeholder = join(site.workdir, '.git', 'commondir');
    const program = await bundleProgram(new URL('./fixtures/run-sandboxed.js', import.meta.url));
    const sluice = program.start([site.root]);
    await once(sluice.stdout, 'data');
    expect(existsSync(placeholder)).toBe(true);
    sluice.kill('SIGKILL');
    await once(sluice, 'exit');
    const spec = { engine: 'command', command: ['true'], workdir: site.root, sandbox: 'off' } as const;
    expect((await startRun(spec, { data: site.data }).result).status).toBe('success');
    expect(existsSync(placeholder)).toBe(false);
  });

  it('does not write to a repository in a folder that `sandbox.read` lists', async () => {
    const { git, workdir } = await makeSandboxSite();
    git('init', '--quiet', 'vendor/part');
    const { shell } = await makeSandboxSite({ sandbox: { write: [workdir], read: [join(workdir, 'vendor')] } });
    await shell(`cd ${workdir}; for path in new.txt vendor/new.txt vendor/part/new.txt vendor/part/.git/new; do
      echo x > $path; done; true`);
    expect(existsSync(join(workdir, 'new.txt'))).toBe(true);
    for (const path of ['new.txt', 'part/new.txt', 'part/.git/new'])
      expect(existsSync(join(workdir, 'vendor', path))).toBe(false);
  });

  it('does not write to a read-only repository that .git links to', async () => {
    const { git, workdir } = await makeSandboxSite();
    git('init', '--quiet', 'vendor/part');
    await symlink('vendor/part/.git', join(workdir, '.git'));
    const { shell } = await makeSandboxSite({ sandbox: { write: [workdir], read: [join(workdir, 'vendor')] } });
    await shell(`echo x > ${workdir}/vendor/part/.git/new; true`);
    expect(existsSync(join(workdir, 'vendor', 'part', '.git', 'new'))).toBe(false);
    expect(existsSync(join(workdir, 'vendor', 'part', '.git', 'commondir'))).toBe(false);
  });

  it('changes neither configuration nor hooks of a repository in the working folder that .git links to', async () => {
    const { shell, git, workdir } = await makeSandboxSite();
    git('init', '--quiet');
    await mkdir(join(workdir, 'store'));
    await rename(join(workdir, '.git'), join(workdir, 'store', 'real'));
    await symlink('store/real', join(workdir, '.git'));
    const before = readFileSync(join(workdir, '.git', 'config'), 'utf8');
    const text = await shell(`
      echo x > a.txt; git add a.txt; git -c user.name=x -c user.email=x@y.z commit --quiet --message=Work && echo committed
      echo x >> .git/config; echo x > .git/hooks/post-checkout; echo ../evil > .git/commondir; mv store moved; true`);
    expect(text).toContain('committed');
    expect(readFileSync(join(workdir, 'store', 'real', 'config'), 'utf8')).toBe(before);
    expect(existsSync(join(workdir, 'store', 'real', 'hooks', 'post-checkout'))).toBe(false);
    expect(existsSync(join(workdir, 'store', 'real', 'commondir'))).toBe(false);
  });

  it('reads the git directory of its worktree and changes nothing in it', async () => {
    const { shell, git, root, workdir } = await makeSandboxSite();
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message=Begin');
    const tree = join(root, 'tree');
    git('worktree', 'add', '--quiet', tree);
    const text = await shell(
      `git log --format=%s; git status --short && echo looked
      echo x > a.txt; git add a.txt; git commit --quiet --message=Work; git config core.hooksPath /tmp
      echo '#!/bin/sh' > ${workdir}/.git/hooks/post-checkout; echo "gitdir: /" > .git; true`,
      { workdir: tree },
    );
    expect(text).toMatch(/^Begin\nlooked\n/);
    expect(text.match(/Read-only file system/g)?.length).toBeGreaterThanOrEqual(3);
    expect(git('log', '--all', '--format=%s')).toBe('Begin\n');
    expect(lstatSync(join(tree, '.git')).isFile()).toBe(true);
  });

  it('reads the entire repository from a folder inside it, and writes only to that folder', async () => {
    const { shell, git, workdir } = await makeSandboxSite();
    git('init', '--quiet');
    await mkdir(join(workdir, 'part'));
    await writeFile(join(workdir, 'shared.txt'), 'shared');
    const text = await shell('cat ../shared.txt; git status --short; echo x > own.txt && echo bad > ../shared.txt', {
      workdir: join(workdir, 'part'),
    });
    expect(text).toMatch(/^shared/);
    expect(readFileSync(join(workdir, 'shared.txt'), 'utf8')).toBe('shared');
  });
});

describe.runIf(canSandbox)('processes: a sandboxed process', () => {
  it('leaves nothing running, however it hides', async () => {
    const { run } = await makeSandboxSite();
    const word = `sandboxSite-${process.pid}-${Date.now()}`;
    const hide = `env -i setsid sh -c 'exec -a ${word} sleep 600 || sleep 600' </dev/null >/dev/null 2>&1 &`;
    const script = `(${hide}) ; (setsid bash -c 'exec -a ${word} sleep 600' </dev/null >/dev/null 2>&1 &); sleep 0.3; echo started`;
    const result = await run(['sh', '-c', script]);
    expect(result).toMatchObject({ status: 'success', text: 'started' });
    expect(isRunning(word)).toBe(false);
  });

  it('sees and signals only its own processes', async () => {
    const { shell } = await makeSandboxSite();
    const text = await shell(
      `ls /proc | grep -c '^[0-9]'; kill -9 ${process.pid}; cat /proc/${process.pid}/environ; ls /proc/1/root/home; cat /proc/1/cmdline | head -c 20`,
    );
    expect(Number(text.split('\n')[0])).toBeLessThan(10);
    expect(text).toMatch(/No such process/i);
    expect(text).toContain('bwrap');
  });

  it('cannot access Sluice’s terminal, and its own terminal is new', async () => {
    const { shell, run } = await makeSandboxSite();
    expect(await shell('(exec 3<>/dev/tty) && echo opened; ls /dev/pts')).not.toContain('opened');
    const result = await run(
      ['sh', '-c', 'test -t 1 && echo terminal; (exec 3<>/dev/tty) 2>/dev/null && echo opened'],
      {
        terminal: true,
      },
    );
    expect(result.text).toContain('terminal');
    expect(result.text).not.toContain('opened');
  });

  it('has no capabilities and cannot gain any, even in its own user namespace', async () => {
    const { shell, root } = await makeSandboxSite();
    const text = await shell(`
      grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status
      mount -o remount,rw / && echo remounted; mount -t tmpfs x /etc && echo mounted; chroot / true && echo changed
      unshare --user --map-root-user --mount sh -c 'mount -o remount,rw,bind / ; umount -l /etc; umount /proc; echo bad > /etc/x && echo wrote; echo bad > /x && echo wrote; ls ${root}/home/.ssh && echo listed'`);
    expect(text).toMatch(/CapEff:\t0+\n/);
    expect(text).toMatch(/NoNewPrivs:\t1/);
    expect(text).not.toMatch(/^(?:remounted|mounted|changed|wrote|listed)$/m);
  });
});

describe.runIf(canSandbox)('the network: a sandboxed process', () => {
  const connect = (port: number): readonly [string, ...string[]] => [
    process.execPath,
    '-e',
    `const s = require('net').connect(${port}, '127.0.0.1', () => { console.log('connected'); s.end() }); s.on('error', (e) => console.log(e.code))`,
  ];

  async function listen(path?: string): Promise<number> {
    const server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((done) => {
      server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path }, done);
    });
    onTestFinished(() => void server.close());
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  it('reaches this host with `host`, which is the default', async () => {
    const { run } = await makeSandboxSite();
    expect(await run(connect(await listen()))).toMatchObject({ text: 'connected', sandbox: { network: 'host' } });
  });

  it('reaches nothing with `none`, not even a server on this host or an abstract socket', async () => {
    const { run } = await makeSandboxSite();
    const port = await listen();
    expect(await run(connect(port), { network: 'none' })).toMatchObject({
      text: 'ECONNREFUSED',
      sandbox: { network: 'none' },
    });
    const name = `\0sluice-${process.pid}`;
    await listen(name);
    const open = (network: 'host' | 'none') =>
      run(
        [
          process.execPath,
          '-e',
          `const s = require('net').connect('\\0sluice-${process.pid}', () => { console.log('connected'); s.end() }); s.on('error', (e) => console.log(e.code))`,
        ],
        { network },
      );
    expect((await open('none')).text).toBe('ECONNREFUSED');
    expect((await open('host')).text).toBe('connected');
  });
});
