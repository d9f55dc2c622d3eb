import { resolve } from 'node:path';
import type { Command } from 'commander';
import {
  examineConfig,
  findConfigFile,
  recordTrust,
  revokeTrust,
  openLocalToken,
  rotateLocalToken,
  createArchive,
} from '../../server/config/index.js';
import type { Config, ConfigFlags } from '../../server/config/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, MisuseError } from '../failure.js';
import type { ExitCode } from '../failure.js';
import { printJson, wantsJson } from '../print.js';
import { isSluiceError, omitUndefined } from '../../base/index.js';
import { loadCommandConfig } from '../command-config.js';
import { DATA_OPTION } from '../command-context.js';
import { probeSandbox } from '../../runs/sandbox/index.js';
import type { SandboxSupport } from '../../runs/sandbox/index.js';
import { formatLine, makeVisible } from '../terminal-text.js';

interface TrustFlags {
  readonly revoke?: boolean;
}

export function addTrustCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('trust')
    .description('trust the current content of the configuration in this folder')
    .argument('[file]', 'configuration file (default: sluice.config.mjs or .json here)')
    .option('--revoke', 'stop trusting the configuration')
    .addHelpText(
      'after',
      '\nA configuration that runs code is used only if you trust it, and must be trusted again after every change. A file passed with' +
        '\n--config or SLUICE_CONFIG needs no trust. Files that a .mjs configuration imports are not covered: review them as well.',
    )
    .action(async (file: string | undefined, flags: TrustFlags) => end(await runTrust(file, flags, io)));
}

async function runTrust(path: string | undefined, { revoke }: TrustFlags, io: CommandIo): Promise<ExitCode> {
  const file = path === undefined ? await findConfigFile(process.cwd()) : resolve(path);
  if (file === null)
    throw new MisuseError("No sluice.config.mjs or sluice.config.json found in this folder. Pass the file's path.");
  if (revoke === true) {
    await revokeTrust(file, process.env);
    await printJson({ file, trusted: false }, io);
    return EXIT.success;
  }
  const content = await examineConfig(file);
  await recordTrust(content, process.env);
  await printJson({ ...content, trusted: true }, io);
  return EXIT.success;
}

export function addTokenCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('token')
    .description('print your token for local servers that have no tokens configured')
    .option('--rotate', 'replace the token; running servers accept the new token within seconds')
    .action(async ({ rotate }: { readonly rotate?: boolean }) => {
      const { value } = await (rotate === true ? rotateLocalToken : openLocalToken)(process.env);
      await io.stdout.write(`${value}\n`);
      end(EXIT.success);
    });
}

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
