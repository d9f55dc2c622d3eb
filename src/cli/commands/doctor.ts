import { isSluiceError, omitUndefined } from '../../base/index.js';
import { createArchive } from '../../server/config/index.js';
import type { Config, ConfigFlags } from '../../server/config/index.js';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { loadCommandConfig } from '../command-config.js';
import { EXIT, type ExitCode } from '../failure.js';
import { DATA_OPTION } from '../command-context.js';
import { probeSandbox } from '../../runs/sandbox/index.js';
import type { SandboxSupport } from '../../runs/sandbox/index.js';
import { wantsJson, printJson } from '../print.js';
import { formatLine, makeVisible } from '../terminal-text.js';

interface DoctorFlags extends Omit<ConfigFlags, 'database'> {
  readonly json?: boolean;
}

export function addDoctorCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('doctor')
    .description('check the agents, the data folder, the sandbox and the archive')
    .option('--config <file>', 'configuration file (default: sluice.config.mjs or .json here)')
    .option('--data <dir>', DATA_OPTION)
    .option('--json', 'print JSON, even at a terminal')
    .addHelpText(
      'after',
      '\nPrints the version of each agent, and the paths in use.\nExit codes: 0 at least one agent is ready, and the archive, if configured, works; 1 otherwise.',
    )
    .action(async (flags: DoctorFlags) => end(await runDoctor(flags, io)));
}

function describeSandbox(support: SandboxSupport): string {
  if (!support.works) return `not available: ${support.reason}`;
  const network = support.canIsolateNetwork ? '' : ', but cannot restrict the network';
  return `bubblewrap ${support.version} works${network}`;
}

/** Writes, reads and deletes a small object in the configured archive. */
async function checkArchive(config: Config): Promise<{ readonly works: boolean; readonly text: string }> {
  try {
    const archive = await createArchive(config, process.env);
    await archive?.check();
    return { works: true, text: archive === undefined ? 'not configured' : `${archive.location} works` };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return { works: false, text: `${error.code}: ${error.message}` };
  }
}

async function runDoctor(flags: DoctorFlags, io: CommandIo): Promise<ExitCode> {
  const { checkEngines, renderDoctor } = await import('../../runs/index.js');
  const config = await loadCommandConfig(flags, io);
  const { programs, agents, data, warnings } = config;
  const reports = await checkEngines({
    env: process.env,
    cwd: process.cwd(),
    ...omitUndefined({ programs, agents }),
  });
  const sandbox = describeSandbox(await probeSandbox());
  const archive = await checkArchive(config);
  if (wantsJson(flags, io)) {
    await printJson(reports, io);
    await io.stderr.write(formatLine(`data folder: ${data}`));
    await io.stderr.write(formatLine(`sandbox: ${sandbox}`));
    await io.stderr.write(formatLine(`archive: ${archive.text}`));
  } else
    await io.stdout.write(
      makeVisible(`${renderDoctor(reports)}\nData folder: ${data}\nSandbox: ${sandbox}\nArchive: ${archive.text}\n`),
    );
  for (const warning of warnings) await io.stderr.write(formatLine(warning));
  const isReady = reports.some(({ status }) => status === 'ready' || status === 'unproven_version');
  return isReady && archive.works ? EXIT.success : EXIT.failed;
}
