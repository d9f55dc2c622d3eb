import { Command, CommanderError } from 'commander';
import { addExamples } from './command-examples.js';
import type { CommandIo } from './command-io.js';
import { addBackupCommand } from './commands/backup.js';
import { addCompletionCommand } from './commands/completion.js';
import { addDemoCommand } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addExecutionsCommand } from './commands/executions.js';
import { addExportCommand } from './commands/export.js';
import { addInboxCommand } from './commands/inbox.js';
import { addOrderCommand } from './commands/order.js';
import { addOutboxCommand } from './commands/outbox.js';
import { addParseCommand } from './commands/parse.js';
import { addRepairCommand } from './commands/repair.js';
import { addReplayCommand } from './commands/replay.js';
import { addResolveCommand } from './commands/resolve.js';
import { addRunCommand } from './commands/run.js';
import { addServeCommand } from './commands/serve.js';
import { addTranslateCommand } from './commands/translate.js';
import { addWorkerCommand } from './commands/worker.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { tellFailure } from './tell-failure.js';
import { tellLine } from './tell-line.js';
import { VERSION } from './version.js';

/** In the order in which help lists them: reading, running, delegating. */
const COMMANDS = [
  addParseCommand,
  addRepairCommand,
  addRunCommand,
  addTranslateCommand,
  addReplayCommand,
  addDoctorCommand,
  addOrderCommand,
  addInboxCommand,
  addResolveCommand,
  addOutboxCommand,
  addExecutionsCommand,
  addServeCommand,
  addWorkerCommand,
  addBackupCommand,
  addExportCommand,
  addDemoCommand,
  addCompletionCommand,
];

/**
 * Runs one command and answers with its exit code. Data goes to stdout, talk to stderr.
 *
 * @example
 * await run(['parse', 'answer.txt', '--schema', 'issue.schema.json'], io) // 0, 1 or 2
 */
export async function run(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.success;
  let talk = '';
  let help = '';
  const program = new Command('sluice')
    .description('Raw agent output in, validated results out.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => (help += text),
      writeErr: (text) => (talk += text),
      outputError: (text, write) => write(tellLine(text.replace(/^error: /, '').trimEnd())),
    })
    .showSuggestionAfterError()
    .showHelpAfterError('(sluice --help lists what there is)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 the answer is no, 2 called wrongly or refused, 70 a mistake of Sluice, 130 interrupted.',
    );
  const end = (code: ExitCode): void => {
    exitCode = code;
  };
  const breakOff = (error: unknown): ExitCode => {
    const failure = tellFailure(error);
    talk += failure.text;
    return failure.exitCode;
  };
  for (const add of COMMANDS) add(program, io, end);
  for (const command of program.commands) command.showHelpAfterError(`(see sluice ${command.name()} --help)`);
  addExamples(program);

  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? EXIT.success : EXIT.misuse;
    else exitCode = breakOff(error);
  }
  if (help !== '') await io.stdout.write(help).catch((error: unknown) => (exitCode = breakOff(error)));
  if (talk !== '') await io.stderr.write(talk);
  return exitCode;
}
