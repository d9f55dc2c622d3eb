import { Command, CommanderError } from 'commander';
import { addExamples } from './command-examples.js';
import type { CommandIo } from './command-io.js';
import { EXIT, type ExitCode, describeFailure } from './failure.js';
import { formatLine } from './terminal-text.js';
import { VERSION } from '../base/files/index.js';

/** Adds a command to the program. */
type AddCommand = (program: Command, io: CommandIo, end: (code: ExitCode) => void) => void;

/**
 * All commands, in the order they appear in the help. Imported on demand: loading all of them takes longer than most
 * commands run.
 */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  parse: async () => (await import('./commands/parse.js')).addParseCommand,
  repair: async () => (await import('./commands/parse.js')).addRepairCommand,
  run: async () => (await import('./commands/run.js')).addRunCommand,
  acp: async () => (await import('./commands/protocols.js')).addAcpCommand,
  mcp: async () => (await import('./commands/protocols.js')).addMcpCommand,
  translate: async () => (await import('./commands/run-folders.js')).addTranslateCommand,
  replay: async () => (await import('./commands/run-folders.js')).addReplayCommand,
  token: async () => (await import('./commands/trust.js')).addTokenCommand,
  trust: async () => (await import('./commands/trust.js')).addTrustCommand,
  doctor: async () => (await import('./commands/doctor.js')).addDoctorCommand,
  order: async () => (await import('./commands/order.js')).addOrderCommand,
  inbox: async () => (await import('./commands/lists.js')).addInboxCommand,
  diff: async () => (await import('./commands/decisions.js')).addDiffCommand,
  reply: async () => (await import('./commands/decisions.js')).addReplyCommand,
  resolve: async () => (await import('./commands/decisions.js')).addResolveCommand,
  outbox: async () => (await import('./commands/lists.js')).addOutboxCommand,
  executions: async () => (await import('./commands/lists.js')).addExecutionsCommand,
  serve: async () => (await import('./commands/serve.js')).addServeCommand,
  worker: async () => (await import('./commands/serve.js')).addWorkerCommand,
  workers: async () => (await import('./commands/lists.js')).addWorkersCommand,
  budgets: async () => (await import('./commands/lists.js')).addBudgetsCommand,
  backup: async () => (await import('./commands/copies.js')).addBackupCommand,
  migrate: async () => (await import('./commands/copies.js')).addMigrateCommand,
  export: async () => (await import('./commands/copies.js')).addExportCommand,
  suite: async () => (await import('./commands/suite.js')).addSuiteCommand,
  demo: async () => (await import('./commands/order.js')).addDemoCommand,
  completion: async () => (await import('./commands/completion.js')).addCompletionCommand,
};

/**
 * Runs one command and returns its exit code. Data goes to stdout, messages to stderr.
 *
 * @example
 * await run(['parse', 'answer.txt', '--schema', 'issue.schema.json'], io) // 0, 1 or 2
 */
export async function run(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.success;
  let messages = '';
  let help = '';
  const program = new Command('sluice')
    .description('Turn raw agent output into validated results.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => (help += text),
      writeErr: (text) => (messages += text),
      outputError: (text, write) => write(formatUsageError(text)),
    })
    .showSuggestionAfterError()
    .showHelpAfterError('(see sluice --help for the list of commands)')
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 negative result, 2 usage error or system error, 70 internal error, 130 interrupted.',
    );
  const end = (code: ExitCode): void => {
    exitCode = code;
  };
  const printFailure = (error: unknown): ExitCode => {
    const failure = describeFailure(error);
    messages += failure.text;
    return failure.exitCode;
  };
  const args = rewriteHelp(argv);
  for (const add of await loadCommands(args[0])) add(program, io, end);
  for (const command of program.commands) command.showHelpAfterError(`(see sluice ${command.name()} --help)`);
  addExamples(program);

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? EXIT.success : EXIT.misuse;
    else exitCode = printFailure(error);
  }
  if (help !== '') await io.stdout.write(help).catch((error: unknown) => (exitCode = printFailure(error)));
  if (messages !== '') await io.stderr.write(messages);
  return exitCode;
}

/** Formats a message of Commander like our own: without its prefix, starting with a capital letter. */
function formatUsageError(text: string): string {
  const message = text.replace(/^error: /, '').trimEnd();
  const newName = RENAMED_OPTIONS.get(/^unknown option '(--[a-z-]+)/u.exec(message)?.[1] ?? '');
  const hint = newName === undefined ? '' : `. It was renamed to ${newName}.`;
  return formatLine(`${message.charAt(0).toUpperCase()}${message.slice(1)}${hint}`);
}

/** Options that were renamed, with their new names. */
const RENAMED_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--reads', '--format'],
  ['--takes', '--kinds'],
]);

/**
 * Turns `help NAME` into `NAME --help`; an unknown name is kept without `--help`, so the error suggests a similar name.
 */
function rewriteHelp(argv: readonly string[]): readonly string[] {
  const [name, flag] = argv[0] === 'help' ? [argv[1], '--help'] : argv;
  if (name === undefined || (flag !== '--help' && flag !== '-h')) return argv;
  return Object.hasOwn(COMMANDS, name) ? [name, flag] : [name];
}

/** Loads the command being called, or all commands if help, a suggestion or completion needs them. */
async function loadCommands(name = ''): Promise<AddCommand[]> {
  const loadCommand = Object.hasOwn(COMMANDS, name) && name !== 'completion' ? COMMANDS[name] : undefined;
  return loadCommand === undefined
    ? Promise.all(Object.values(COMMANDS).map(async (load) => load()))
    : [await loadCommand()];
}
