import { describe, expect, it } from 'vitest';
import { PROJECT, run } from '../../scripts/run-tool.js';
import { hasProgram } from './install-deploy-tools.js';

const SECRETS = ['POSTGRES_PASSWORD', 'SLUICE_TOKEN', 'SLUICE_WORKER_TOKEN'];

/** Reads compose.yaml as Compose does, with these variables only. */
async function readCompose(names: readonly string[]) {
  const variables = names.map((name) => `${name}=${name.toLowerCase()}-0123456789`);
  const path = `PATH=${process.env['PATH'] ?? ''}`;
  return run('env', ['-i', path, ...variables, 'docker-compose', '--file', 'compose.yaml', 'config'], PROJECT);
}

describe.runIf(await hasProgram('docker-compose'))('compose.yaml', () => {
  it('is accepted by Compose, and gives the password of the database only to the database and the server', async () => {
    const { exitCode, stdout, stderr } = await readCompose(SECRETS);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const services = stdout.split(/^ {2}(?=\w+:$)/m);
    const holders = (text: string) => services.filter((part) => part.includes(text)).map((part) => part.split(':')[0]);
    expect(holders('postgres_password-')).toEqual(['database', 'server']);
    expect(holders('sluice_worker_token-')).toEqual(['server', 'worker']);
    expect(holders('"value":"sluice_token-')).toEqual(['server']);
  });

  it.each(SECRETS)('is refused without %s', async (missing) => {
    const { exitCode, stderr } = await readCompose(SECRETS.filter((name) => name !== missing));
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(`Set ${missing}`);
  });
});
