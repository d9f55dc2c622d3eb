import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../scripts/run-tool.js';
import { findExecutable } from '../../src/base/files/index.js';

/** Debian's packages by the program that shows whether they are installed. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  unzip: ['unzip'],
  ...(process.arch === 'x64' ? {} : { 'qemu-x86_64-static': ['qemu-user-static'] }),
  promtool: ['prometheus'],
  kubectl: ['kubernetes-client'],
  etcd: ['etcd-server'],
  'docker-compose': ['docker-compose'],
  pg_dump: ['postgresql'],
  pgbouncer: ['pgbouncer'],
  patroni: ['patroni', 'python3-etcd'],
  haproxy: ['haproxy'],
};

const SEARCH = { path: process.env['PATH'] ?? '', cwd: process.cwd() };

/**
 * Installs the programs that check the files in `deploy`, if they are missing and this process has permission. If that is
 * not possible, the tests that need them are skipped, and the test command lists them.
 */
export async function setup(): Promise<void> {
  const apt = await findExecutable('apt-get', SEARCH);
  if (apt === undefined || process.getuid?.() !== 0) return;
  const missing = await listMissing();
  const packages = missing.flatMap((program) => PACKAGES[program] ?? []);
  if (packages.length === 0) return;
  process.stderr.write(`installing ${packages.join(', ')} with apt-get\n`);
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', ...packages]]) {
    const { exitCode, stderr } = await run('env', ['DEBIAN_FRONTEND=noninteractive', apt, '--quiet', ...args], '/');
    if (exitCode === 0) continue;
    process.stderr.write(stderr);
    return;
  }
}

/** Lists the programs that are missing. */
async function listMissing(): Promise<string[]> {
  const found = await Promise.all(
    Object.keys(PACKAGES).map(async (program) => [program, await hasProgram(program)] as const),
  );
  return found.filter(([, isPresent]) => !isPresent).map(([program]) => program);
}

/** Whether a program can be used. */
export async function hasProgram(program: string): Promise<boolean> {
  if (program === 'pg_dump') return findPostgres() !== undefined;
  return (await findExecutable(program, SEARCH)) !== undefined;
}

/** The folder with a PostgreSQL server and `pg_dump` of the same version: another version's cannot dump it. */
export function findPostgres(): string | undefined {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return undefined;
  return readdirSync(root)
    .map((version) => join(root, version, 'bin'))
    .find((folder) => ['initdb', 'postgres', 'pg_dump'].every((name) => existsSync(join(folder, name))));
}

/** When started as a script, installs them and reports those that are missing. */
if (process.argv[1]?.endsWith('install-deploy-tools.ts') === true) {
  await setup();
  const missing = await listMissing();
  process.stdout.write(
    missing.length === 0
      ? 'the tools for the files in deploy are installed\n'
      : `tests that need these programs are skipped: ${missing.join(', ')}\n`,
  );
  if (process.env['KUBEBUILDER_ASSETS'] === undefined)
    process.stdout.write('tests that need an API server are skipped: KUBEBUILDER_ASSETS names no folder\n');
}
