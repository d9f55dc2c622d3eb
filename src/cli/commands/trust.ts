import { resolve } from 'node:path';
import type { Command } from 'commander';
import {
  examineConfig,
  findConfigFile,
  recordTrust,
  revokeTrust,
  openLocalToken,
  rotateLocalToken,
} from '../../server/config/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, MisuseError } from '../failure.js';
import type { ExitCode } from '../failure.js';
import { printJson } from '../print.js';

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
