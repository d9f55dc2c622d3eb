import { Command, CommanderError } from 'commander';
import { addExamples } from './command-examples.js';
import type { CommandIo } from './command-io.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { tellFailure } from './tell-failure.js';
import { tellLine } from './tell-line.js';
import { VERSION } from './version.js';

/** Adds a command to the program. */
type AddCommand = (program: Command, io: CommandIo, end: (code: ExitCode) => void) => void;

/** In the order in which help lists them: reading, running, delegating. Loading all takes longer than most answers take. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  parse: async () => (await import('./commands/parse.js')).addParseCommand,
  repair: async () => (await import('./commands/repair.js')).addRepairCommand,
  run: async () => (await import('./commands/run.js')).addRunCommand,
  translate: async () => (await import('./commands/translate.js')).addTranslateCommand,
  replay: async () => (await import('./commands/replay.js')).addReplayCommand,
  doctor: async () => (await import('./commands/doctor.js')).addDoctorCommand,
  order: async () => (await import('./commands/order.js')).addOrderCommand,
  inbox: async () => (await import('./commands/inbox.js')).addInboxCommand,
  resolve: async () => (await import('./commands/resolve.js')).addResolveCommand,
  outbox: async () => (await import('./commands/outbox.js')).addOutboxCommand,
  executions: async () => (await import('./commands/executions.js')).addExecutionsCommand,
  serve: async () => (await import('./commands/serve.js')).addServeCommand,
  worker: async () => (await import('./commands/worker.js')).addWorkerCommand,
  backup: async () => (await import('./commands/backup.js')).addBackupCommand,
  export: async () => (await import('./commands/export.js')).addExportCommand,
  demo: async () => (await import('./commands/demo.js')).addDemoCommand,
  completion: async () => (await import('./commands/completion.js')).addCompletionCommand,
};

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
  const words = spellHelp(argv);
  for (const add of await loadCommands(words[0])) add(program, io, end);
  for (const command of program.commands) command.showHelpAfterError(`(see sluice ${command.name()} --help)`);
  addExamples(program);

  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? EXIT.success : EXIT.misuse;
    else exitCode = breakOff(error);
  }
  if (help !== '') await io.stdout.write(help).catch((error: unknown) => (exitCode = breakOff(error)));
  if (talk !== '') await io.stderr.write(talk);
  return exitCode;
}

/** Help on a command is that command with `--help`; on none there is, the bare word: it is refused with the nearest. */
function spellHelp(argv: readonly string[]): readonly string[] {
  const [name, flag] = argv[0] === 'help' ? [argv[1], '--help'] : argv;
  if (name === undefined || (flag !== '--help' && flag !== '-h')) return argv;
  return Object.hasOwn(COMMANDS, name) ? [name, flag] : [name];
}

/** The command that is called; all of them where help, a suggestion or a completion may speak of the others. */
async function loadCommands(name = ''): Promise<AddCommand[]> {
  const only = Object.hasOwn(COMMANDS, name) && name !== 'completion' ? COMMANDS[name] : undefined;
  return only === undefined ? Promise.all(Object.values(COMMANDS).map(async (load) => load())) : [await only()];
}
