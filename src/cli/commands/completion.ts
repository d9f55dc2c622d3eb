import { Argument, type Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { renderBash } from '../completion/bash-script.js';
import { readProgramShape, type ProgramShape } from '../completion/command-tree.js';
import { renderFish } from '../completion/fish-script.js';
import { renderZsh } from '../completion/zsh-script.js';
import { EXIT, type ExitCode } from '../failure.js';

const SHELLS = { bash: renderBash, zsh: renderZsh, fish: renderFish } satisfies Record<
  string,
  (program: ProgramShape) => string
>;

export function addCompletionCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell to create the script for').choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS) => {
      await io.stdout.write(SHELLS[shell](readProgramShape(program)));
      end(EXIT.success);
    });
}
