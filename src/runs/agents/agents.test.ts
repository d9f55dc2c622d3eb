import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compileSecrets, listLaunchers } from '../index.js';
import { createPresetLaunchers, listAgents, PRESETS } from './agents.js';
import { renderRecord } from './try-agent.js';

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-agents-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  return folder;
}

/** Creates an npm package with an executable, as `npm install --global` does, and returns its folder of executables. */
function installPackage(folder: string, name: string, version: string): string {
  const home = join(folder, 'lib/node_modules', name);
  mkdirSync(home, { recursive: true });
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, version }));
  writeFileSync(join(home, 'cli.js'), '#!/bin/sh\nexit 7\n');
  chmodSync(join(home, 'cli.js'), 0o755);
  symlinkSync(join(home, 'cli.js'), join(folder, 'bin', name));
  return join(folder, 'bin');
}

async function findAgent(name: string, folder: string, agents = {}) {
  const reports = await listAgents({ env: { PATH: folder }, cwd: folder, agents });
  return reports.find((report) => report.name === name);
}

describe('presets', () => {
  it('have names that no built-in engine has', () => {
    expect(Object.keys(PRESETS).filter((name) => Object.hasOwn(listLaunchers(), name))).toEqual([]);
  });

  it('are not among the engines that a server starts', () => {
    expect(Object.keys(listLaunchers())).not.toContain('pi');
    expect(Object.keys(listLaunchers({}, createPresetLaunchers()))).toContain('pi');
  });

  it('are replaced by a configured agent of the same name', async () => {
    const agents = { pi: { acp: ['my-pi'] } };
    expect(createPresetLaunchers(agents).map(({ engine }) => engine)).not.toContain('pi');
    expect(await findAgent('pi', await makeFolder(), agents)).toMatchObject({ source: 'configured', program: 'my-pi' });
  });
});

describe('listAgents', () => {
  it('reports how to install a missing agent, its modes and the tested versions', async () => {
    expect(await findAgent('pi', await makeFolder())).toEqual({
      name: 'pi',
      source: 'preset',
      program: 'pi-acp',
      status: 'missing',
      installed: false,
      tested: '>=0.0.34 <0.1.0',
      modes: ['acp'],
      format: 'acp',
      install: PRESETS['pi']?.install,
      note: PRESETS['pi']?.note,
    });
    expect(await findAgent('codex', await makeFolder())).toMatchObject({ modes: ['one-way', 'two-way'] });
  });

  it.each([
    ['0.0.34', 'ready'],
    ['0.1.0', 'unproven_version'],
  ])('reads version %s from the package without starting the agent: %s', async (version, status) => {
    const path = installPackage(await makeFolder(), 'pi-acp', version);
    expect(await findAgent('pi', path)).toMatchObject({ installed: true, version, status });
  });

  it('reports an untested agent as such', async () => {
    const path = installPackage(await makeFolder(), 'auggie', '0.36.0');
    const report = await findAgent('auggie', path);
    expect(report).toMatchObject({ status: 'unproven_version', version: '0.36.0' });
    expect(report).not.toHaveProperty('tested');
  });
});

describe('the file for a bug report', () => {
  it('contains no secret and no home folder', () => {
    const secrets = compileSecrets({ values: ['sk-12345678'] });
    const home = process.env['HOME'] ?? '';
    const text = renderRecord({ streams: { 'stdout.1.log': `{"key":"sk-12345678","cwd":"${home}/x"}` } }, secrets);
    expect(JSON.parse(text)).toEqual({ streams: { 'stdout.1.log': '{"key":"***********","cwd":"~/x"}' } });
  });
});
