import type { Command } from 'commander';
import { openLocalToken, rotateLocalToken } from '../../server/config/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../failure.js';

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
